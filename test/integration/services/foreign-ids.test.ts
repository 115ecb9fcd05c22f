import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { connectLocally } from '../../../src/compose/local-backend.ts';
import type { Backend } from '../../../src/controller/backend/backend.ts';
import type { Asker } from '../../../src/domain/asker.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import type { GrantRule } from '../../../src/domain/grants.ts';
import type { ResourceKindName } from '../../../src/domain/kinds.ts';
import { grantedKinds } from '../../../src/domain/kinds.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import type { StateRef } from '../../../src/domain/secret-states.ts';
import type { AdmittedSource, AskedSource, SourceIdentity } from '../../../src/domain/source-reads.ts';
import { ClusterCalls } from '../../support/api/cluster-calls.ts';
import { type PortAdapter, portAdapters } from '../../support/api/adapters.ts';
import { type ServedOverHttp, serveOverHttp } from '../../support/api/port-adapters.ts';
import { restoreRule } from '../../support/api/resource-restore-calls.ts';
import { snapshotRule } from '../../support/api/resource-snapshot-calls.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { stateReport } from '../../support/api/state-reports.ts';
import { ruleFor } from '../../support/api/token-resource.ts';
import { createWorldCalls, withWorlds } from '../../support/api/with-services.ts';
import { registerCluster } from '../../support/database/cluster-credentials.ts';
import { prismaOf } from '../../support/database/prisma.ts';

/**
 * A stolen cluster that knows the ids of another one learns and changes nothing by them: each method of the port answers
 * an id of another cluster as one that does not exist. Over HTTPS, the ServiceAccount token of a remote cluster was stolen,
 * to which the organization of the victim allows everything.
 */

let services: TestServices;
let world: World;
let calls: SecretCalls;
let backend: Backend;
let foreign: ForeignIds;
let served: ServedOverHttp | undefined;
/** The name of the cluster that the requests come through. */
let thief: string;

withWorlds((given) => ({ services, world, calls } = given));

const remoteThief = 'remote-thief';

afterAll(async () => await served?.[Symbol.asyncDispose]());

/** A server that takes the stolen token. */
async function serve(): Promise<ServedOverHttp> {
  const registered = await registerCluster(services.database.pool, remoteThief);
  return await serveOverHttp(services, { token: registered.token() });
}

/** Connects the thief. A remote cluster needs rules, which allow it all that grants can. */
async function connectThief(adapter: PortAdapter): Promise<Backend> {
  thief = adapter === 'in process' ? 'thief' : remoteThief;
  if (adapter === 'in process') return connectLocally(services)(() => thief);
  served ??= await serve();
  await allow(world);
  return served.connect(() => thief);
}

/** Lets an organization allow the thief all that grants can give. */
async function allow(to: World): Promise<void> {
  const all = { project: '*', environments: ['*'], permission: 'read_write', kinds: grantedKinds } as const;
  await new ClusterCalls(services, to).set([all], { cluster: thief });
}

/** What cluster `victim` has. */
interface ForeignIds {
  readonly token: Plaintext;
  readonly tokenUid: string;
  readonly snapshotId: string;
  readonly snapshotUid: string;
  readonly restoreUid: string;
  readonly scheduleUid: string;
  /** Of a SecretSnapshot that the schedule created. */
  readonly childUid: string;
  readonly environmentUid: string;
  readonly syncUid: string;
  /** Of an environment of another organization. */
  readonly environmentId: string;
  readonly revisionId: string;
}

const ownInput = { name: 'team-a/own', serial: 1, expiresAt: null };
const options = { prune: false, skipUnchanged: true, backup: false, includeDeleted: false };
const noHashes = { known: undefined, approved: undefined };
const dueAt = new Date('2026-11-10T12:00:00Z');
const laterAt = new Date('2026-11-10T13:00:00Z');
const childName = 'own-202611101200';

function asker(kind: ResourceKindName, grants: readonly GrantRule[] = [], uid: string = randomUUID()): Asker {
  const namespace = kind === 'SecretEnvironment' ? null : 'team-a';
  return { kind, namespace, name: 'own', uid, requestId: randomUUID(), grants, ownGrant: undefined };
}

async function victimsIds(): Promise<ForeignIds> {
  const victim = connectLocally(services)(() => 'victim');
  await calls.put('KEY', '1');
  const ofToken = asker('ServiceToken', [ruleFor(world)]);
  const { token } = await victim.tokens.mint(ofToken, { ...world.slugs, permission: 'read' }, ownInput);
  await victim.tokens.activate(ofToken, 1, token);
  const ofSnapshot = asker('SecretSnapshot', [snapshotRule(world)]);
  const taken = await victim.snapshots.take(ofSnapshot, world.slugs, {});
  if (taken === 'gone') throw new Error('the snapshot is gone');
  const ofRestore = asker('SnapshotRestore', [restoreRule(world)]);
  const source = { snapshotId: taken.id, secretSnapshotUid: null };
  await victim.restores.plan(ofRestore, source, options, noHashes);
  const ofSchedule = asker('SnapshotSchedule', [
    snapshotRule(world, { kinds: ['SnapshotSchedule', 'SecretSnapshot'] }),
  ]);
  const child = { dueAt, uid: randomUUID(), name: childName };
  await victim.schedules.record(ofSchedule, world.slugs, { made: [child], gone: [] });
  const ofEnvironment = asker('SecretEnvironment');
  await victim.environments.ensure(ofEnvironment, { ...world.slugs, environment: 'made' });
  const sync = stateReport({ environmentId: world.environment.id });
  await victim.fleet.syncStates.report([sync]);
  const elsewhere = await createWorldCalls(services);
  const { revisionId } = await elsewhere.calls.put('KEY', '2');
  return {
    token,
    tokenUid: ofToken.uid,
    snapshotId: taken.id,
    snapshotUid: ofSnapshot.uid,
    restoreUid: ofRestore.uid,
    scheduleUid: ofSchedule.uid,
    childUid: child.uid,
    environmentUid: ofEnvironment.uid,
    syncUid: sync.uid,
    environmentId: elsewhere.world.environment.id,
    revisionId,
  };
}

/** Ids of the same kinds that no cluster has. */
function inventedIds(): ForeignIds {
  return {
    token: new Plaintext(`kf_svc_${'0'.repeat(71)}`),
    tokenUid: randomUUID(),
    snapshotId: randomUUID(),
    snapshotUid: randomUUID(),
    restoreUid: randomUUID(),
    scheduleUid: randomUUID(),
    childUid: randomUUID(),
    environmentUid: randomUUID(),
    syncUid: randomUUID(),
    environmentId: randomUUID(),
    revisionId: randomUUID(),
  };
}

async function prepare(adapter: PortAdapter): Promise<void> {
  backend = await connectThief(adapter);
  foreign = await victimsIds();
  // So that no call is the first one, which creates the keyless token.
  await ownSource();
}

/** All that is stored for the victim, in any order. */
async function victimsRows(): Promise<unknown> {
  const { pool } = services.database;
  const rows = async (text: string): Promise<unknown[]> => (await pool.query<object>(text)).rows;
  return {
    claims: await rows(`SELECT * FROM resource_claim WHERE cluster = 'victim' ORDER BY uid, operation, serial`),
    states: await rows(`SELECT * FROM sync_state WHERE cluster = 'victim' ORDER BY uid`),
    waiting: await rows(`SELECT * FROM waiting_restore WHERE cluster = 'victim' ORDER BY uid`),
  };
}

/** All that exists. The thief's own calls may add to it. */
async function existingRows(): Promise<object[]> {
  const { pool } = services.database;
  const rows = async (text: string): Promise<object[]> => (await pool.query<object>(text)).rows;
  return [
    ...(await rows('SELECT id FROM snapshot')),
    ...(await rows('SELECT id, revoked_at, suspended_at, permission FROM service_token')),
    ...(await rows('SELECT id, deleted_at, revision_id, display_name FROM environment')),
  ];
}

/** What a call did: its result or its error, and how many entries the audit got; each id as its kind. */
async function outcomeOf(call: (ids: ForeignIds) => Promise<unknown>, ids: ForeignIds): Promise<string> {
  const { auditEntry } = prismaOf(services.database);
  const before = await auditEntry.count();
  const outcome = await call(ids).then(
    (result) => ({ result: result ?? null }),
    (error: unknown) => {
      if (error instanceof DomainError) return { code: error.code, detail: error.detail, fields: error.fields };
      throw error;
    },
  );
  const text = JSON.stringify({ ...outcome, audited: (await auditEntry.count()) - before });
  const known = Object.entries(ids).reduce(
    (said, [kind, id]) => (typeof id === 'string' ? said.replaceAll(id, kind) : said),
    text,
  );
  // What the call made has ids and times of its own.
  return known.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z/g, '*');
}

type Call = (ids: ForeignIds) => Promise<unknown>;

const asked = (): Parameters<Backend['tokens']['mint']>[1] => ({ ...world.slugs, permission: 'read' });
const tokenOf = ({ tokenUid }: ForeignIds): Asker => asker('ServiceToken', [ruleFor(world)], tokenUid);
const snapshotOf = ({ snapshotUid }: ForeignIds): Asker => asker('SecretSnapshot', [], snapshotUid);
const restoreOf = ({ restoreUid }: ForeignIds): Asker => asker('SnapshotRestore', [], restoreUid);
const scheduleOf = ({ scheduleUid }: ForeignIds): Asker => asker('SnapshotSchedule', [], scheduleUid);
const environmentOf = ({ environmentUid }: ForeignIds): Asker => asker('SecretEnvironment', [], environmentUid);
const sourceOf = ({ snapshotId, snapshotUid }: ForeignIds): Parameters<Backend['restores']['admit']>[1] => ({
  snapshotId,
  secretSnapshotUid: snapshotUid,
});

function syncOf(): Asker<'SecretSync'> {
  const identity = { kind: 'SecretSync', namespace: 'team-a', name: 'own', uid: randomUUID() } as const;
  const grants = [ruleFor(world, { permission: 'read', kinds: ['SecretSync'] })];
  return { ...identity, requestId: randomUUID(), grants, ownGrant: undefined };
}
const keylessSource = (): SourceIdentity => ({ name: undefined, slugs: world.slugs, credential: 'keyless' });
const sourceAt = ({ tokenUid, environmentId }: ForeignIds): AdmittedSource => {
  const sync = syncOf();
  return { ...keylessSource(), asker: sync, tokenId: tokenUid, environmentId };
};
/** A source of the world's own environment, with its keyless token. */
async function ownSource(): Promise<AdmittedSource> {
  const sync = syncOf();
  const source: AskedSource = { ...keylessSource(), state: 'newest', recordedId: undefined };
  const { sources } = await backend.sources.read({ asker: sync, sources: [source], maxKeys: 10 });
  const { token, environmentId = '' } = sources[0] ?? {};
  return { ...keylessSource(), asker: sync, tokenId: token?.id ?? '', environmentId };
}
function stateAt({ environmentId, revisionId }: ForeignIds): StateRef {
  return { environmentId, revisionId, revision: 1, keyCount: 1 };
}
async function readOf(more: Partial<AskedSource>): Promise<unknown> {
  const source: AskedSource = { ...keylessSource(), state: 'newest', recordedId: undefined, ...more };
  const { refusal, ...found } = await backend.sources.read({ asker: syncOf(), sources: [source], maxKeys: 10 });
  return { ...found, refusal: refusal && { ...refusal, error: refusal.error.detail, code: refusal.error.code } };
}

const table: Readonly<Record<string, Call>> = {
  'tokens.find': (ids) => backend.tokens.find(tokenOf(ids)),
  'tokens.serialOf': (ids) => backend.tokens.serialOf(tokenOf(ids), ids.token),
  'tokens.activate': (ids) => backend.tokens.activate(tokenOf(ids), 1, ids.token),
  'tokens.revokeSerial': (ids) => backend.tokens.revokeSerial(tokenOf(ids), 1),
  'tokens.revoke': (ids) => backend.tokens.revoke(tokenOf(ids)),
  'tokens.suspend': (ids) => backend.tokens.suspend(tokenOf(ids), 'grant_gone'),
  'tokens.resume': (ids) => backend.tokens.resume(tokenOf(ids), asked()),
  'tokens.update': (ids) => backend.tokens.update(tokenOf(ids), asked(), []),
  'snapshots.find': (ids) => backend.snapshots.find(snapshotOf(ids)),
  'snapshots.adopt': (ids) => backend.snapshots.adopt(asker('SecretSnapshot'), ids.snapshotId),
  'snapshots.delete': (ids) => backend.snapshots.delete(snapshotOf(ids)),
  'restores.find': (ids) => backend.restores.find(restoreOf(ids)),
  'restores.admit': (ids) => backend.restores.admit(asker('SnapshotRestore'), sourceOf(ids)),
  'restores.plan': (ids) => backend.restores.plan(asker('SnapshotRestore'), sourceOf(ids), options, noHashes),
  'restores.restore': (ids) => backend.restores.restore(asker('SnapshotRestore'), sourceOf(ids), options, null),
  'schedules.list': (ids) => backend.schedules.list(scheduleOf(ids)),
  'schedules.extend': (ids) => {
    const own = asker('SnapshotSchedule', [snapshotRule(world, { kinds: ['SnapshotSchedule', 'SecretSnapshot'] })]);
    return backend.schedules.extend(own, world.slugs, { dueAt: laterAt, uid: ids.childUid, name: childName });
  },
  'tokens.live': (ids) => backend.tokens.live({ namespaces: null, after: ids.tokenUid }),
  'tokens.mint': (ids) => backend.tokens.mint(tokenOf(ids), asked(), ownInput),
  'snapshots.take': (ids) => {
    const own = asker('SecretSnapshot', [snapshotRule(world)], ids.snapshotUid);
    return backend.snapshots.take(own, world.slugs, {});
  },
  'schedules.record': (ids) => {
    const grants = [snapshotRule(world, { kinds: ['SnapshotSchedule', 'SecretSnapshot'] })];
    const own = asker('SnapshotSchedule', grants, ids.scheduleUid);
    const made = [{ dueAt: laterAt, uid: ids.childUid, name: childName }];
    return backend.schedules.record(own, world.slugs, { made, gone: [ids.childUid] });
  },
  'sources.read of a recorded environment': (ids) => readOf({ recordedId: ids.environmentId }),
  'sources.read of a revision': (ids) => readOf({ state: { revision: ids.revisionId, deletedSince: true } }),
  'sources.find in an environment': (ids) =>
    backend.sources.find({ source: sourceAt(ids), state: { revision: 1 }, maxKeys: 10 }),
  'sources.find of a revision': async (ids) =>
    await backend.sources.find({ source: await ownSource(), state: { revision: ids.revisionId }, maxKeys: 10 }),
  'sources.values in an environment': (ids) =>
    backend.sources.values({ source: sourceAt(ids), state: stateAt(ids), keys: ['KEY'] }),
  'sources.values of a state': async (ids) =>
    await backend.sources.values({ source: await ownSource(), state: stateAt(ids), keys: ['KEY'] }),
  'sources.values of a revision': async (ids) => {
    const source = await ownSource();
    const state = { ...stateAt(ids), environmentId: source.environmentId };
    return await backend.sources.values({ source, state, keys: ['KEY'] });
  },
  'environments.ensure': (ids) => {
    const namers = [ids.environmentUid];
    const input = { ...world.slugs, environment: 'made', displayName: 'Other', namers };
    return backend.environments.ensure(asker('SecretEnvironment'), input);
  },
  'environments.ensure as its resource': (ids) =>
    backend.environments.ensure(environmentOf(ids), { ...world.slugs, environment: 'made' }),
  'environments.handOver': (ids) => {
    const successor = { name: 'next', uid: ids.environmentUid };
    return backend.environments.handOver(environmentOf(ids), { ...world.slugs, environment: 'made', successor });
  },
  'environments.find': (ids) => backend.environments.find(environmentOf(ids)),
  'environments.delete': (ids) =>
    backend.environments.delete(environmentOf(ids), { ...world.slugs, environment: 'made' }),
  'fleet.syncStates.forget': (ids) => backend.fleet.syncStates.forget([ids.syncUid]),
  'fleet.syncStates.reported': (ids) => backend.fleet.syncStates.reported(ids.syncUid),
  'fleet.waitingRestores.forget': (ids) => backend.fleet.waitingRestores.forget([ids.restoreUid]),
  'fleet.waitingRestores.reported': (ids) => backend.fleet.waitingRestores.reported(ids.restoreUid),
};

describe.each(portAdapters)('%s, an id of another cluster', (adapter) => {
  beforeEach(async () => await prepare(adapter));

  test.each(Object.entries(table))(
    'is to %s as one that does not exist, and nothing of its owner changes',
    async (_name, call) => {
      const [before, existing] = [await victimsRows(), await existingRows()];
      const stolen = await outcomeOf(call, foreign);
      expect(await victimsRows()).toEqual(before);
      expect(await existingRows()).toEqual(expect.arrayContaining(existing));
      expect(stolen).toBe(await outcomeOf(call, inventedIds()));
    },
  );
});

describe.each(portAdapters)('%s,', (adapter) => {
  beforeEach(async () => await prepare(adapter));

  test('a SecretSnapshot of another namespace of the same cluster does not show where its snapshot lies', async () => {
    const own = connectLocally(services)(() => 'victim');
    const elsewhere = { ...asker('SnapshotRestore'), namespace: 'team-b' };
    const call: Call = (ids) => own.restores.admit(elsewhere, sourceOf(ids));
    expect(await outcomeOf(call, foreign)).toBe(await outcomeOf(call, inventedIds()));
  });

  test('a report of an environment that does not exist stores nothing', async () => {
    const { fleet } = backend;
    await fleet.syncStates.report([stateReport({ environmentId: randomUUID() })]);
    expect((await fleet.syncStates.reported(null)).resources).toEqual([]);
  });

  test('the same uid in two clusters is two resources', async () => {
    const other = await createWorldCalls(services);
    await allow(other.world);
    await backend.fleet.syncStates.report([
      stateReport({ uid: foreign.syncUid, environmentId: other.world.environment.id, namespace: 'team-b' }),
    ]);
    const { rows } = await services.database.pool.query<object>(
      'SELECT cluster, namespace FROM sync_state WHERE uid = $1 ORDER BY cluster',
      [foreign.syncUid],
    );
    expect(rows).toEqual([
      { cluster: thief, namespace: 'team-b' },
      { cluster: 'victim', namespace: 'team-a' },
    ]);
  });
});
