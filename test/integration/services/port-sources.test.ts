import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { SourcesBackend } from '../../../src/controller/backend/sources.ts';
import type { Asker } from '../../../src/domain/asker.ts';
import type { KeyRules } from '../../../src/domain/chosen-keys.ts';
import type { Plaintext } from '../../../src/domain/plaintext.ts';
import { type FoundState, refOf } from '../../../src/domain/secret-states.ts';
import type { AskedSource, ReadSource, SourceCredential } from '../../../src/domain/source-reads.ts';
import { ClusterCalls, clusterRule } from '../../support/api/cluster-calls.ts';
import { portAdapters } from '../../support/api/adapters.ts';
import { type ConnectedPort, connectThrough } from '../../support/api/port-adapters.ts';
import { claimName } from '../../support/database/cluster-credentials.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { codeOf } from '../../support/api/sync-reader.ts';
import { ruleFor } from '../../support/api/token-resource.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

/** The sources of SecretSyncs, through the port, with both adapters. */

describe.each(portAdapters)('%s', (adapter) => {
  let services: TestServices;
  let world: World;
  let calls: SecretCalls;
  let port: ConnectedPort;

  withWorlds((given) => ({ services, world, calls } = given));

  beforeEach(async () => {
    port = await connectThrough(adapter, services);
    await claimName(services.database.pool, 'test');
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await port[Symbol.asyncDispose]();
  });

  /** A SecretSync that is granted the world's environment, in one reconcile. */
  function newAsker(): Asker<'SecretSync'> {
    const grants = [ruleFor(world, { permission: 'read', kinds: ['SecretSync'] })];
    const identity = { kind: 'SecretSync', namespace: 'team-a', name: 'app', uid: randomUUID() } as const;
    return { ...identity, requestId: randomUUID(), grants, ownGrant: undefined };
  }

  const sourcesOf = (): SourcesBackend => port.connect(() => 'test').sources;

  /** Reads one value as a reconcile does. */
  async function readOne(
    backend: SourcesBackend,
    credential: SourceCredential,
    key: string,
  ): Promise<string | undefined> {
    const asker = newAsker();
    const identity = { name: undefined, slugs: world.slugs, credential };
    const asked: AskedSource = { ...identity, state: 'newest', recordedId: world.environment.id };
    const selection = { rules: [{ include: [key] }], templateNames: [], maxBytes: 1_000 };
    const { sources, refusal } = await backend.read({ asker, sources: [asked], maxKeys: 100, selection });
    if (refusal !== undefined) throw refusal.error;
    const { token, environmentId, state, values: answered } = only(sources);
    const source = { ...identity, asker, tokenId: token?.id ?? '', environmentId };
    const values: ReadonlyMap<string, Plaintext> =
      answered ?? (await backend.values({ source, state: refOf(state), keys: [key] }));
    return values.get(key)?.reveal();
  }

  /** What was found of the only source. */
  function only([source]: readonly ReadSource[]): ReadSource & { environmentId: string; state: FoundState } {
    const { environmentId, state } = source ?? {};
    if (source === undefined || environmentId === undefined || state === undefined || 'keys' in state)
      throw new Error('the state was not found');
    return { ...source, environmentId, state };
  }

  /** How many statements some work takes. */
  async function statementsOf(work: () => Promise<unknown>): Promise<number> {
    const query = jest.spyOn(services.database.pool, 'query');
    await work();
    return query.mock.calls.length;
  }

  describe.each(['a token', 'the keyless token of its namespace'])('a source with %s', (kind) => {
    const credential = async (): Promise<SourceCredential> =>
      kind === 'a token' ? { token: (await world.serviceToken({ permission: 'read' })).token } : 'keyless';
    // The authentication has a statement of its own.
    const admission = kind === 'a token' ? 2 : 1;
    // The token of the cluster.
    const transport = adapter === 'in process' ? 0 : 1;

    test('is read by one statement besides its admission and its audit, or by none if its state is kept', async () => {
      await calls.patch({ KEY: 'value', OTHER: 'x' });
      const [backend, presented] = [sourcesOf(), await credential()];
      const readKey = async (): Promise<unknown> => expect(await readOne(backend, presented, 'KEY')).toBe('value');
      // The first one creates the keyless token.
      await readKey();
      await services.usage.drain();
      expect(await statementsOf(readKey)).toBe(transport + admission + 1);
      await calls.put('OTHER', 'y');
      jest.restoreAllMocks();
      expect(await statementsOf(readKey)).toBe(transport + admission + 2);
    });

    test('is refused as soon as the organization does not allow its cluster', async () => {
      await calls.put('KEY', 'value');
      const [backend, presented] = [sourcesOf(), await credential()];
      const outcome = async (): Promise<unknown> => await readOne(backend, presented, 'KEY').catch(codeOf);
      // The first one makes the cluster known.
      expect(await readOne(backend, 'keyless', 'KEY')).toBe('value');
      const clusters = new ClusterCalls(services, world);
      await clusters.set([]);
      expect(await outcome()).toBe('cluster_not_allowed');
      await clusters.set([clusterRule(world)]);
      expect(await outcome()).toBe('value');
    });

    test('is audited with its cluster, when it may read and when it may not', async () => {
      await calls.put('KEY', 'value');
      const [backend, presented] = [sourcesOf(), await credential()];
      // The first one makes the cluster known.
      for (const one of ['keyless', presented] as const) await readOne(backend, one, 'KEY');
      await new ClusterCalls(services, world).set([]);
      await expect(readOne(backend, presented, 'KEY')).rejects.toMatchObject({ code: 'cluster_not_allowed' });
      const entries = await prismaOf(services.database).auditEntry.findMany({
        where: { action: 'secret.list', target: { path: ['organization'], equals: world.slugs.organization } },
        orderBy: { id: 'asc' },
      });
      expect(entries.map(({ outcome, cluster }) => [outcome, cluster])).toEqual([
        ['success', 'test'],
        ['success', 'test'],
        ['denied', 'test'],
      ]);
    });

    test('gets no value whose audit entry cannot be written', async () => {
      await calls.put('KEY', 'value');
      const [backend, presented] = [sourcesOf(), await credential()];
      await readOne(backend, presented, 'KEY');
      await services.database.pool.query('ALTER TABLE audit_entry RENAME TO audit_gone');
      try {
        await expect(readOne(backend, presented, 'KEY')).rejects.toThrow();
      } finally {
        await services.database.pool.query('ALTER TABLE audit_gone RENAME TO audit_entry');
      }
      expect(await readOne(backend, presented, 'KEY')).toBe('value');
    });
  });

  describe('an answer over the network', () => {
    if (adapter === 'in process') return;

    interface Asked {
      readonly rules?: KeyRules;
      readonly maxBytes?: number;
      readonly recordedId?: string;
    }

    /** The keys and the values in the answer for one keyless source, and how many keys and whether values are in the audit. */
    async function disclosed({ rules = {}, maxBytes = 1_000, recordedId = world.environment.id }: Asked): Promise<{
      readonly names: readonly string[];
      readonly values: Readonly<Record<string, string>>;
      readonly audited: readonly unknown[];
    }> {
      const source = { name: undefined, slugs: world.slugs, credential: 'keyless', state: 'newest' } as const;
      const selection = { rules: [rules], templateNames: [], maxBytes };
      const backend = sourcesOf();
      // The first one creates the keyless token.
      await backend.read({ asker: newAsker(), sources: [{ ...source, recordedId: undefined }], maxKeys: 0 });
      const asker = newAsker();
      const asked = { asker, sources: [{ ...source, recordedId }], maxKeys: 100, selection };
      const [found] = (await backend.read(asked)).sources;
      const entries = await prismaOf(services.database).auditEntry.findMany({ where: { requestId: asker.requestId } });
      const { state } = found ?? {};
      return {
        names: state && 'secrets' in state ? state.secrets.map(({ key }) => key) : [],
        values: Object.fromEntries([...(found?.values ?? [])].map(([key, value]) => [key, value.reveal()])),
        audited: entries.flatMap(({ target }) => {
          const { secrets, values = true } = target as { secrets: number; values?: boolean };
          return [secrets, values];
        }),
      };
    }

    beforeEach(async () => {
      await calls.patch({ KEY: 'value', OTHER: 'x' });
    });

    test('has the values that the Secret needs, and the audit says how many', async () => {
      const names = ['KEY', 'OTHER'];
      expect(await disclosed({})).toEqual({ names, values: { KEY: 'value', OTHER: 'x' }, audited: [2, true] });
      const rules = { hidden: ['KEY'] };
      expect(await disclosed({ rules })).toEqual({ names, values: { OTHER: 'x' }, audited: [1, true] });
    });

    test('has the names only if the values are more than the controller has memory for, and the audit says so', async () => {
      const names = ['KEY', 'OTHER'];
      expect(await disclosed({ maxBytes: 5 })).toEqual({ names, values: {}, audited: [2, false] });
      expect(await disclosed({ maxBytes: 6 })).toMatchObject({ audited: [2, true] });
    });

    test('has nothing of an environment in place of the recorded one', async () => {
      const recordedId = randomUUID();
      expect(await disclosed({ recordedId })).toEqual({ names: [], values: {}, audited: [] });
    });

    test('has the names only of an environment in place of the recorded one that a token reads', async () => {
      const { token } = await world.serviceToken({ permission: 'read' });
      const source = { name: undefined, slugs: world.slugs, credential: { token }, state: 'newest' } as const;
      const selection = { rules: [{}], templateNames: [], maxBytes: 1_000 };
      const read = async (recordedId: string): Promise<unknown> => {
        const asked = { asker: newAsker(), sources: [{ ...source, recordedId }], maxKeys: 100, selection };
        return (await sourcesOf().read(asked)).sources.map(({ values }) => values?.size);
      };
      expect([await read(world.environment.id), await read(randomUUID())]).toEqual([[2], [undefined]]);
    });

    test('discloses no value that another source replaces', async () => {
      const { token } = await world.serviceToken({ permission: 'read' });
      const source = (name: string): AskedSource => ({
        name,
        slugs: world.slugs,
        credential: { token },
        state: 'newest',
        recordedId: undefined,
      });
      const selection = { rules: [{}, { include: ['KEY'] }], templateNames: [], maxBytes: 1_000 };
      const asked = { asker: newAsker(), sources: [source('a'), source('b')], maxKeys: 100, selection };
      const { sources } = await sourcesOf().read(asked);
      expect(sources.map(({ values }) => [...(values?.keys() ?? [])])).toEqual([['OTHER'], ['KEY']]);
    });

    test('audits values with the revision that the database has, whatever the controller says', async () => {
      const asker = newAsker();
      const identity = { name: undefined, slugs: world.slugs, credential: 'keyless' } as const;
      const asked: AskedSource = { ...identity, state: 'newest', recordedId: undefined };
      const backend = sourcesOf();
      const { sources } = await backend.read({ asker, sources: [asked], maxKeys: 100 });
      const { token, state, environmentId } = only(sources);
      const { requestId } = newAsker();
      const source = { ...identity, asker: { ...asker, requestId }, tokenId: token?.id ?? '', environmentId };
      await backend.values({ source, state: { ...refOf(state), revision: 77, keyCount: 99 }, keys: [] });
      const entry = await prismaOf(services.database).auditEntry.findFirst({ where: { requestId } });
      expect(entry?.target).toMatchObject({ revision: state.revision, secrets: 2, values: false });
    });
  });
});
