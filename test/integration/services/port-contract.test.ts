import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Backend } from '../../../src/controller/backend/backend.ts';
import type { Asker } from '../../../src/domain/asker.ts';
import type { GrantRule } from '../../../src/domain/grants.ts';
import type { GrantedKindName } from '../../../src/domain/kinds.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { refOf } from '../../../src/domain/secret-states.ts';
import type { AskedSource, SourceCredential, SourcesAnswer } from '../../../src/domain/source-reads.ts';
import { ClusterCalls, clusterRule } from '../../support/api/cluster-calls.ts';
import { type PortAdapter, portAdapters } from '../../support/api/adapters.ts';
import { type ConnectedPort, connectThrough } from '../../support/api/port-adapters.ts';
import { comparable, plain, type Played, pruned } from '../../support/api/port-notes.ts';
import { restoreRule } from '../../support/api/resource-restore-calls.ts';
import { snapshotRule } from '../../support/api/resource-snapshot-calls.ts';
import type { TestServices } from '../../support/api/services.ts';
import { stateReport } from '../../support/api/state-reports.ts';
import { ruleFor } from '../../support/api/token-resource.ts';
import { claimName } from '../../support/database/cluster-credentials.ts';
import { createWorldCalls, withServices, type WorldCalls } from '../../support/api/with-services.ts';

/**
 * The contract of the port: both adapters give the same result, or the same error with the same code, detail, fields, fault
 * and ids, for each method. The dependencies of reconciles rest on them. Each scene runs once with each adapter, in a world
 * and a cluster of its own; the ids of what it made are compared by the order in which they appear.
 */

let services: TestServices;
const ports = new Map<PortAdapter, ConnectedPort>();
/** The methods that were called. */
const called = new Set<string>();

withServices((given) => ({ services } = given));

beforeAll(async () => {
  for (const adapter of portAdapters) ports.set(adapter, await connectThrough(adapter, services));
});

afterAll(async () => {
  for (const port of ports.values()) await port[Symbol.asyncDispose]();
});

interface Scene extends WorldCalls {
  readonly cluster: string;
  /** Of its namespace kube-system. */
  readonly uid: string;
  readonly backend: Backend;
  readonly rules: ClusterCalls;
  readonly asker: <K extends GrantedKindName>(kind: K, grants?: readonly GrantRule[]) => Asker<K>;
  /** Notes what a call gives, and returns it; undefined for an error. */
  readonly note: <T>(call: Promise<T>) => Promise<T | undefined>;
}

async function play(adapter: PortAdapter, run: (scene: Scene) => Promise<void>): Promise<Played> {
  const cluster = `of-${randomUUID()}`;
  const uid = randomUUID();
  await claimName(services.database.pool, cluster, uid);
  const notes: unknown[] = [];
  const made = await createWorldCalls(services);
  const port = ports.get(adapter);
  if (port === undefined) throw new Error('the port is not connected');
  await run({
    ...made,
    cluster,
    uid,
    backend: recorded(
      port.connect(() => cluster),
      '',
    ),
    rules: new ClusterCalls(services, made.world),
    asker: (kind, grants = []) => ({
      kind,
      namespace: kind === 'SecretEnvironment' ? null : 'team-a',
      name: 'own',
      uid: randomUUID(),
      requestId: randomUUID(),
      grants,
      ownGrant: grants.length > 0 ? 'team-a-own' : undefined,
    }),
    note: async (call) => {
      try {
        const result = await call;
        notes.push({ result });
        return result;
      } catch (error) {
        notes.push({ error });
        return undefined;
      }
    },
  });
  return { notes: notes.map(plain), names: [cluster, made.world.organization.slug] };
}

/** Notes the name of each method that is called. */
function recorded<T extends object>(part: T, path: string): T {
  return new Proxy(part, {
    get: (target, name: string) => {
      const member = target[name as keyof T];
      if (typeof member === 'function') {
        return (...given: unknown[]): unknown => {
          called.add(path + name);
          return (member as unknown as (...all: unknown[]) => unknown).call(target, ...given);
        };
      }
      return typeof member === 'object' && member !== null ? recorded(member, `${path}${name}.`) : member;
    },
  });
}

const scenes: Record<string, (scene: Scene) => Promise<void>> = {
  'service tokens': async ({ backend: { tokens }, world, asker, note, rules, cluster }) => {
    const own = asker('ServiceToken', [ruleFor(world)]);
    const place = { ...world.slugs, permission: 'read' } as const;
    const input = { name: 'team-a/own', serial: 1, expiresAt: new Date('2031-01-01T00:00:00Z') };
    await note(tokens.find(own));
    await note(tokens.mint(asker('ServiceToken'), place, input));
    await note(tokens.mint(own, { ...place, environment: 'No Slug' }, input));
    await note(tokens.mayMint(own, { ...place, environment: 'absent' }));
    await note(tokens.mayMint(own, place));
    await note(tokens.mint(asker('SecretSnapshot', [ruleFor(world)]), place, input));
    const minted = await note(tokens.mint(own, place, input));
    await note(tokens.activate(own, 1, new Plaintext('kf_svc_no')));
    await note(tokens.activate(own, 7, new Plaintext('kf_svc_no')));
    await note(tokens.activate(own, 1, minted?.token ?? new Plaintext('')));
    await note(tokens.serialOf(own, minted?.token ?? new Plaintext('')));
    await note(tokens.serialOf(own, new Plaintext('anything')));
    await note(tokens.mint(own, place, input));
    await note(tokens.placeOf(own, place));
    await note(tokens.federate(own, place, { ...input, serial: 2, serviceAccountNames: ['ci'] }));
    await note(tokens.update(own, { ...place, permission: 'read_write' }, [{ serial: 1, expiresAt: null }]));
    await note(tokens.find(own));
    await note(tokens.live({ namespaces: ['team-a'], after: null }));
    await note(tokens.suspend(own, 'grant_gone'));
    await note(tokens.suspend(own, 'grant_gone'));
    await note(tokens.resume(own, place));
    await note(tokens.resume(own, { ...place, permission: 'read_write' }));
    await note(tokens.revokeSerial(own, 1));
    await rules.set([], { cluster });
    await note(tokens.placeOf(own, place));
    await note(tokens.revoke(own));
    await note(tokens.mint(own, place, { ...input, serial: 2 }));
    await note(tokens.find(own));
  },

  snapshots: async ({ backend, world, asker, note, calls, snapshots }) => {
    const own = asker('SecretSnapshot', [snapshotRule(world)]);
    await calls.put('KEY', '1');
    await note(backend.snapshots.find(own));
    await note(backend.snapshots.take(asker('SecretSnapshot'), world.slugs, {}));
    await note(backend.snapshots.take(own, world.slugs, { name: ' ', description: 'a\u0001' }));
    await note(backend.snapshots.take(own, world.slugs, { name: 'own', description: 'before' }));
    await note(backend.snapshots.take(own, world.slugs, {}));
    await note(backend.snapshots.adopt(asker('SecretSnapshot', [snapshotRule(world)]), 'no id'));
    await note(backend.snapshots.adopt(asker('SecretSnapshot', [snapshotRule(world)]), randomUUID()));
    const { id } = await snapshots.create();
    await note(backend.snapshots.adopt(own, id));
    await note(backend.snapshots.adopt(asker('SecretSnapshot', [snapshotRule(world)]), id));
    await note(backend.snapshots.delete(own));
    await note(backend.snapshots.find(own));
    await note(backend.snapshots.take(own, world.slugs, {}));
  },

  restores: async ({ backend: { restores, fleet }, world, asker, note, calls, snapshots }) => {
    const options = { prune: true, skipUnchanged: false, includeDeleted: true, backup: true };
    await calls.patch({ KEY: '1', GONE: 'x' });
    const { id: snapshotId } = await snapshots.create();
    await calls.patch({ KEY: '2', NEW: 'y' });
    const own = asker('SnapshotRestore', [restoreRule(world)]);
    const source = { snapshotId, secretSnapshotUid: null };
    const hashes = { known: undefined, approved: undefined };
    await note(restores.find(own));
    await note(restores.admit(own, { ...source, snapshotId: randomUUID() }));
    await note(restores.admit(own, { ...source, secretSnapshotUid: 'no id' }));
    await note(restores.admit(asker('SnapshotRestore'), source));
    await note(restores.admit(own, source));
    await note(restores.plan(own, source, { ...options, keys: { include: ['['] } }, hashes));
    await note(restores.plan(own, source, { ...options, keys: { include: ['KEY'], exclude: [] } }, hashes));
    const plan = await note(restores.plan(own, source, options, hashes));
    await note(fleet.waitingRestores.reported(null));
    await note(fleet.waitingRestores.forget([own.uid]));
    await note(fleet.waitingRestores.reported(null));
    await note(restores.restore(own, source, options, 'a'.repeat(43)));
    await note(restores.restore(own, source, options, plan?.planHash ?? null));
    await note(restores.restore(own, source, options, plan?.planHash ?? null));
    await note(restores.find(own));
    const again = { ...asker('SnapshotRestore', [restoreRule(world)]), name: own.name };
    await note(restores.restore(again, source, options, null));
  },

  schedules: async ({ backend: { schedules }, world, asker, note }) => {
    const kinds = ['SnapshotSchedule', 'SecretSnapshot'] as const;
    const own = asker('SnapshotSchedule', [snapshotRule(world, { kinds })]);
    const child = { dueAt: new Date('2026-11-10T12:00:00.123Z'), uid: randomUUID(), name: 'own-202611101200' };
    await note(schedules.list(own));
    await note(schedules.admit(asker('SnapshotSchedule', [snapshotRule(world)]), world.slugs));
    await note(schedules.admit(own, { ...world.slugs, project: 'absent' }));
    await note(schedules.admit(own, world.slugs));
    await note(schedules.record(own, world.slugs, { made: [child], gone: [] }));
    await note(schedules.extend(own, world.slugs, { ...child, dueAt: new Date('2026-11-10T13:00:00Z') }));
    await note(schedules.list(own));
    await note(schedules.record(own, world.slugs, { made: [], gone: [child.uid] }));
    await note(schedules.list(own));
  },

  environments: async ({ backend: { environments }, world, asker, note }) => {
    const [own, next] = [asker('SecretEnvironment'), asker('SecretEnvironment')];
    const slugs = { ...world.slugs, environment: 'made' };
    await note(environments.find(own));
    await note(environments.ensure(own, { ...slugs, environment: 'No Slug' }));
    await note(environments.ensure(own, { ...slugs, displayName: 'a\u0001' }));
    await note(environments.ensure(own, { ...slugs, displayName: 'Made', namers: [own.uid] }));
    await note(environments.ensure(own, slugs));
    await note(environments.ensure(asker('ServiceToken'), slugs));
    await note(environments.appointOwners(own, { organization: slugs.organization, owners: ['a@example.test'] }));
    await note(environments.find(own));
    await note(environments.handOver(own, { ...slugs, successor: { name: 'next', uid: next.uid } }));
    await note(environments.handOver(own, { ...slugs, successor: { name: 'next', uid: next.uid } }));
    await note(environments.find(own));
    await note(environments.delete(next, slugs));
    await note(environments.find(next));
  },

  'reports of SecretSyncs': async ({ backend: { fleet }, world, note }) => {
    const { syncStates } = fleet;
    const report = stateReport({ environmentId: world.environment.id, syncedAt: new Date('2026-11-10T12:00:00Z') });
    await note(syncStates.report([{ ...report, reason: 'no reason' }]));
    await note(syncStates.report([{ ...report, wanted: { revision: -1, revisionId: 'x' } }]));
    await note(syncStates.report([report, report]));
    await note(syncStates.report([report, stateReport({ environmentId: randomUUID() })]));
    await note(syncStates.reported(null));
    await note(syncStates.reported(report.uid));
    await note(syncStates.forget([report.uid]));
    await note(syncStates.reported(null));
    await note(syncStates.seen());
  },

  'the cluster': async ({ backend, world, cluster, uid, note, rules }) => {
    const hello = { uid, isLeading: true, kinds: ['SecretSync'] };
    await note(backend.cluster.hello({ ...hello, kinds: ['no kind'] }));
    await note(backend.cluster.hello(hello));
    await note(backend.cluster.hello({ ...hello, uid: randomUUID() }));
    await note(backend.cluster.hello({ ...hello, isLeading: false, issuer: { iss: 'https://a.test', keys: [] } }));
    const { id: environmentId } = world.environment;
    const question = {
      environmentIds: [environmentId, randomUUID()],
      credentialIds: [world.owner.caller.principal.id],
      serviceTokenIds: [randomUUID()],
      keptIds: [randomUUID()],
      rulesOf: [world.organization.id],
    };
    await note(backend.changes.compare(question));
    await note(backend.changes.compare({}));
    await rules.set([clusterRule(world)], { cluster });
    await note(backend.changes.compare(question));
    await rules.disable(cluster);
    await note(backend.changes.compare(question));
    await note(backend.cluster.hello(hello));
  },
};

/** Reads one source of a SecretSync. */
function sourceReader({ backend, world, asker, note }: Scene) {
  const syncRule = ruleFor(world, { permission: 'read', kinds: ['SecretSync'] });
  return async (
    credential: SourceCredential,
    more: Partial<AskedSource> & { readonly maxKeys?: number; readonly grants?: readonly GrantRule[] } = {},
  ): Promise<{ readonly asker: Asker<'SecretSync'>; readonly answer: SourcesAnswer | undefined }> => {
    const { maxKeys = 100, grants = [syncRule], ...source } = more;
    const own = asker('SecretSync', grants);
    const asked = {
      name: undefined,
      slugs: world.slugs,
      credential,
      state: 'newest',
      recordedId: undefined,
      ...source,
    };
    const question = { asker: own, sources: [asked as AskedSource], maxKeys };
    return { asker: own, answer: await note(backend.sources.read(question)) };
  };
}

const sourceScenes: Record<string, (scene: Scene) => Promise<void>> = {
  'sources with tokens': async (scene) => {
    const { world, calls, rules, cluster } = scene;
    const read = sourceReader(scene);
    await calls.patch({ KEY: 'value', OTHER: 'x' });
    await calls.patch({ KEY: 'next', MORE: 'y' });
    const token = async (input: object = {}): Promise<SourceCredential & object> => ({
      token: (await world.serviceToken({ permission: 'read', ...input })).token,
    });
    await read(await token());
    await read(await token(), { name: 'app', state: { revision: 1, deletedSince: true } });
    await read(await token(), { state: { revision: 99 } });
    await read(await token(), { state: 'later' });
    await read(await token(), { maxKeys: 1 });
    await read(await token(), { slugs: { ...world.slugs, environment: 'absent' } });
    await read({ token: undefined });
    await read({ token: new Plaintext('no token') });
    await read({ token: world.owner.token });
    const revoked = await world.serviceToken();
    const access = await world.onOrganization(world.owner.caller, 'service_token.revoke');
    await scene.note(services.serviceTokens.revoke(access, revoked.id));
    await read({ token: revoked.token });
    await rules.set([], { cluster });
    await read(await token());
    await rules.disable(cluster);
    await read(await token());
  },

  'keyless sources': async (scene) => {
    const { world, calls, backend, note, rules, cluster } = scene;
    const read = sourceReader(scene);
    await calls.patch({ KEY: 'value', OTHER: 'x' });
    await read('keyless', { grants: [] });
    await read('keyless', { recordedId: randomUUID() });
    await read('keyless', { slugs: { ...world.slugs, project: 'No Slug' } });
    const { asker, answer } = await read('keyless', { recordedId: world.environment.id });
    const { token, environmentId = '', state } = answer?.sources[0] ?? {};
    if (state === undefined || 'keys' in state) throw new Error('nothing was read');
    const identity = { name: undefined, slugs: world.slugs, credential: 'keyless' } as const;
    const source = { ...identity, asker, tokenId: token?.id ?? '', environmentId };
    await note(backend.sources.values({ source, state: refOf(state), keys: ['KEY'] }));
    await note(backend.sources.values({ source, state: refOf(state), keys: [] }));
    await note(backend.sources.values({ source, state: refOf(state), keys: ['ABSENT'] }));
    await note(
      backend.sources.values({
        source: { ...source, environmentId: randomUUID() },
        state: refOf(state),
        keys: ['KEY'],
      }),
    );
    await note(backend.sources.find({ source, state: { revision: 1 }, maxKeys: 10 }));
    await note(backend.sources.find({ source, state: { revision: randomUUID() }, maxKeys: 10 }));
    await note(backend.sources.find({ source, state: { revision: 1 }, maxKeys: 1 }));
    await rules.set([], { cluster });
    await read('keyless');
    await rules.set([clusterRule(world)], { cluster });
    const access = await world.onOrganization(world.owner.caller, 'service_token.revoke');
    await note(services.serviceTokens.revoke(access, token?.id ?? ''));
    await read('keyless');
  },
};

describe('both adapters agree on', () => {
  test.each(Object.entries({ ...scenes, ...sourceScenes }))('%s', async (_name, scene) => {
    const [inProcess, overHttps] = [await play('in process', scene), await play('over HTTPS', scene)];
    const notes = pruned(inProcess.notes, overHttps.notes) as readonly unknown[];
    const expected = comparable({ ...inProcess, notes });
    expect(comparable(overHttps)).toEqual(expected);
    // Neither a bug in the scene, nor one that both have.
    expect(expected.filter((line) => line.includes('"bug"') || line.includes('"internal"'))).toEqual([]);
  });

  test('the fingerprints of a cluster', async () => {
    const prints = await Promise.all(
      portAdapters.map(async (adapter) => {
        const backend = ports.get(adapter)?.connect(() => 'printed');
        await backend?.cluster.hello({ uid: '7f4a4d6e-6a6f-4a6e-9a51-0d5c0c8e2f11', isLeading: false, kinds: [] });
        return backend?.fingerprint('ns/app', [['KEY', Buffer.from('value')]]).toString('hex');
      }),
    );
    expect(prints[1]).toBe(prints[0]);
  });

  test('each method of the port', () => {
    const backend = ports.get('in process')?.connect(() => 'all');
    expect(namesOf(backend).filter((name) => !called.has(name))).toEqual(['changes.subscribe', 'fingerprint']);
  });
});

/** The names of all methods of the interfaces of the port. */
function namesOf(backend: Backend | undefined): string[] {
  const https = ports.get('over HTTPS')?.connect(() => 'all');
  const walk = (part: object, path: string): string[] =>
    Object.entries(part).flatMap(([name, member]: [string, unknown]) => {
      if (typeof member === 'function') return [path + name];
      return typeof member === 'object' && member !== null ? walk(member, `${path}${name}.`) : [];
    });
  expect(backend).toBeDefined();
  return walk(https ?? {}, '').toSorted();
}
