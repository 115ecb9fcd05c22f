import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { SourcesBackend } from '../../../src/controller/backend/sources.ts';
import type { Asker } from '../../../src/domain/asker.ts';
import type { Plaintext } from '../../../src/domain/plaintext.ts';
import { refOf } from '../../../src/domain/secret-states.ts';
import type { AskedSource, SourceCredential } from '../../../src/domain/source-reads.ts';
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
    const { sources, refusal } = await backend.read({ asker, sources: [asked], maxKeys: 100 });
    if (refusal !== undefined) throw refusal.error;
    const { token, environmentId = '', state } = sources[0] ?? {};
    if (state === undefined || 'keys' in state) throw new Error('the state was not found');
    const source = { ...identity, asker, tokenId: token?.id ?? '', environmentId };
    const values: ReadonlyMap<string, Plaintext> = await backend.values({ source, state: refOf(state), keys: [key] });
    return values.get(key)?.reveal();
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
    // Two requests, each with a statement for the token of the cluster, and the second one is admitted again.
    const transport = adapter === 'in process' ? 0 : 2 + admission;

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
});
