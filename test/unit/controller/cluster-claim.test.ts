import { afterEach, describe, expect, test } from '@jest/globals';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { type FakeClusters, Harness, prod } from './controller-harness.ts';
import { settled } from './fake-clock.ts';
import { noResources, type ResourcesBackend } from './fake-services.ts';

/** Two clusters with one name in one database. */

type Claimed = Awaited<ReturnType<FakeClusters['claim']>>;

const held: Claimed = { heldBy: 'uid-of-another', seenAt: new Date(0) };
const away = new DomainError('store_unavailable', 'the database cannot be reached');
const values = { A: 'alpha', B: 'beta' };
/** The response of the database; a promise delays it. */
let claimed: Claimed | DomainError | Promise<Claimed>;
let claims: (readonly [cluster: string, uid: string])[];
/** How often all live tokens were listed, to find orphans. */
let sweeps: number;
let harness: Harness;

afterEach(() => harness.controller.stop());

interface StartOptions {
  /** The plural of a kind whose first lists are denied. */
  readonly denied?: string;
  readonly clusterName?: string;
  /** Of the server, instead of an answer. */
  readonly refusal?: DomainError;
}

async function start(
  first: typeof claimed,
  { denied, clusterName = 'test', refusal }: StartOptions = {},
): Promise<void> {
  claimed = first;
  claims = [];
  sweeps = 0;
  const claim = async (cluster: string, uid: string): Promise<Claimed> => {
    claims.push([cluster, uid]);
    const answer = await claimed;
    if (answer instanceof DomainError) throw answer;
    return answer;
  };
  const live: ResourcesBackend['tokens']['live'] = async (asked) => {
    sweeps += 1;
    return await noResources.tokens.live(asked);
  };
  const resources = { tokens: { live } } as unknown as ResourcesBackend;
  harness = new Harness({ clusters: { claim }, resources, clusterName });
  harness.helloRefusal = refusal;
  harness.cluster.put('/api/v1/namespaces', 'kube-system', (object) => {
    object.metadata.uid = 'uid-of-this';
  });
  const denials = denied === undefined ? 0 : 3;
  for (let time = 0; time < denials; time += 1) {
    harness.cluster.before(new RegExp(`^GET .*/${denied}$`), () => {
      throw new ApiError('GET', 403, 'Forbidden');
    });
  }
  await harness.synced();
}

/** But for those of sweeps, which need the database. */
const errors = (): unknown[] => harness.logs.filter(({ level, key }) => level === 'error' && key !== 'sweep');

test('a leader records its cluster once a minute', async () => {
  await start('ours');
  await harness.clock.advance(180_000);
  expect(new Set(claims.map(String))).toEqual(new Set(['test,uid-of-this']));
  // And before each sweep.
  expect(sweeps).toBeGreaterThan(0);
  const stateSweeps = harness.services.syncStates.calls.filter((call) => call === 'reported');
  expect(claims.length - sweeps - stateSweeps.length - harness.services.waitingRestores.sweeps).toBe(4);
  expect(harness.controller.ready()).toBeUndefined();
  expect(harness.values()).toEqual(values);
});

describe('a leader whose name another cluster has', () => {
  test('is not ready, and says so once in its log', async () => {
    await start(held);
    await harness.clock.advance(180_000);
    expect(harness.controller.ready()).toContain('uid-of-another');
    expect(harness.controller.ready()).toContain('KEYFRAME_CLUSTER_NAME');
    expect(errors()).toHaveLength(1);
  });

  test('does nothing until the name is free', async () => {
    await start(held);
    await harness.clock.advance(900_000);
    expect([harness.values(), harness.status(), harness.reconciled, sweeps]).toEqual([undefined, {}, [], 0]);
    expect(harness.isLeading()).toBe(false);
    claimed = 'ours';
    await harness.clock.advance(10_000);
    expect(harness.isLeading()).toBe(true);
    expect(harness.controller.ready()).toBeUndefined();
    expect([harness.values(), harness.ready()?.reason, sweeps > 0]).toEqual([values, 'Synced', true]);
  });

  test('does nothing with a kind that may be listed only later', async () => {
    await start(held, { denied: 'secretsyncs' });
    expect(harness.controller.warnings()).toHaveLength(1);
    await harness.clock.advance(60_000);
    expect(harness.controller.warnings()).toEqual([]);
    expect([harness.values(), harness.status(), harness.reconciled]).toEqual([undefined, {}, []]);
  });

  test('continues to do nothing during an outage of the database', async () => {
    await start(held);
    claimed = away;
    await harness.clock.advance(60_000);
    expect(harness.controller.ready()).toContain('uid-of-another');
    expect(harness.values()).toBeUndefined();
  });

  test('is ready again as a standby', async () => {
    await start(held);
    harness.lease.isTaken = true;
    await harness.clock.advance(20_000);
    expect(harness.controller.ready()).toBeUndefined();
    expect(harness.values()).toBeUndefined();
  });
});

test('a leader whose name another cluster has taken stops its work until it has the name again', async () => {
  await start('ours');
  claimed = held;
  expect(harness.isLeading()).toBe(true);
  await harness.clock.advance(60_000);
  expect(harness.controller.ready()).toContain('uid-of-another');
  expect(harness.isLeading()).toBe(false);
  harness.services.change(prod, { A: 'changed' });
  await harness.clock.advance(900_000);
  expect(harness.values()).toEqual(values);
  claimed = 'ours';
  await harness.clock.advance(10_000);
  expect(harness.values()).toEqual({ A: 'changed' });
});

test('a leader is not ready and does nothing before the database has answered', async () => {
  const answer = Promise.withResolvers<Claimed>();
  await start(answer.promise);
  expect(harness.controller.ready()).toBe("the database has not confirmed the cluster's name test yet");
  expect(harness.values()).toBeUndefined();
  answer.resolve('ours');
  await settled();
  expect(harness.controller.ready()).toBeUndefined();
  expect(harness.values()).toEqual(values);
});

test.each<[string, Claimed]>([
  ['confirms', 'ours'],
  ['refuses', held],
])('a response that %s the name after the Lease was lost has no effect', async (_, late) => {
  const answer = Promise.withResolvers<Claimed>();
  await start(answer.promise);
  harness.lease.isTaken = true;
  await harness.clock.advance(20_000);
  answer.resolve(late);
  await harness.clock.advance(20_000);
  expect([harness.controller.ready(), harness.values(), harness.reconciled]).toEqual([undefined, undefined, []]);
});

test('a sweep for orphans that finds the name taken ends all work', async () => {
  await start('ours');
  const before = sweeps;
  claimed = held;
  // Long before the next claim: a feed that is connected again asks for a sweep.
  harness.services.ready();
  await settled();
  expect(sweeps).toBe(before);
  expect(harness.controller.ready()).toContain('uid-of-another');
});

describe('during an outage of the database', () => {
  test('a leader works, tries again, and does not report the outage', async () => {
    await start(away);
    await harness.clock.advance(600_000);
    expect([harness.controller.ready(), harness.values(), errors()]).toEqual([undefined, values, []]);
    expect(harness.isLeading()).toBe(true);
    claimed = held;
    await harness.clock.advance(10_000);
    expect(harness.controller.ready()).toContain('uid-of-another');
  });

  test('no sweep for orphans begins, nor before the name is confirmed', async () => {
    await start(away);
    await harness.clock.advance(5000);
    expect(sweeps).toBe(0);
    claimed = held;
    await harness.clock.advance(900_000);
    expect(sweeps).toBe(0);
    claimed = 'ours';
    await harness.clock.advance(10_000);
    expect(sweeps).toBeGreaterThan(0);
  });
});

test('a standby records nothing', async () => {
  await start('ours');
  harness.lease.isTaken = true;
  await harness.clock.advance(20_000);
  claims.splice(0);
  await harness.clock.advance(180_000);
  expect(claims).toEqual([]);
});

test('a standby says hello once a minute, and its answers start no work', async () => {
  await start('ours');
  harness.lease.isTaken = true;
  await harness.clock.advance(20_000);
  harness.hellos.splice(0);
  await harness.clock.advance(180_000);
  const kinds = [
    'SecretSync',
    'AccessGrant',
    'SecretEnvironment',
    'ServiceToken',
    'SecretSnapshot',
    'SnapshotRestore',
    'SnapshotSchedule',
    'ClusterSecretSync',
  ];
  expect(harness.hellos).toEqual(Array.from({ length: 3 }, () => ({ uid: 'uid-of-this', isLeading: false, kinds })));
  expect(harness.isLeading()).toBe(false);
});

test('the answer to a standby does not count for the term that begins before it comes', async () => {
  await start('ours');
  harness.lease.isTaken = true;
  await harness.clock.advance(20_000);
  const answer = Promise.withResolvers<void>();
  harness.helloGate = answer.promise;
  await harness.clock.advance(60_000);
  expect(harness.hellos.at(-1)).toMatchObject({ isLeading: false });
  claimed = held;
  harness.lease.isTaken = false;
  await harness.clock.advance(20_000);
  harness.reconciled.splice(0);
  harness.helloGate = undefined;
  answer.resolve();
  await settled();
  expect(harness.controller.ready()).toContain('uid-of-another');
  expect(harness.reconciled).toEqual([]);
});

test('a cluster without a configured name claims its uid, and works after the answer', async () => {
  const answer = Promise.withResolvers<Claimed>();
  await start(answer.promise, { clusterName: 'uid' });
  expect(claims).toEqual([['uid-of-this', 'uid-of-this']]);
  expect([harness.controller.ready(), harness.values()]).toEqual([
    "the database has not confirmed the cluster's name uid-of-this yet",
    undefined,
  ]);
  answer.resolve('ours');
  await settled();
  expect([harness.controller.ready(), harness.values()]).toEqual([undefined, values]);
});

test.each(['disabled', 'forgotten'] as const)('a controller of a %s cluster warns, and is ready', async (state) => {
  await start('ours');
  harness.clusterState = state;
  await harness.clock.advance(60_000);
  expect(harness.controller.ready()).toBeUndefined();
  expect(harness.controller.warnings()).toEqual([expect.stringContaining('`keyframe cluster enable test`')]);
  harness.clusterState = 'enabled';
  await harness.clock.advance(60_000);
  expect(harness.controller.warnings()).toEqual([]);
});

test('a hello names no kind that the API server does not let this controller list', async () => {
  await start('ours', { denied: 'snapshotschedules' });
  expect(harness.hellos.at(-1)?.kinds).not.toContain('SnapshotSchedule');
  expect(harness.hellos.at(-1)?.kinds).toContain('SecretSnapshot');
});

describe.each([
  ['whose protocol the server does not know', 'protocol_unsupported', 'upgrade the controller'],
  ['whose cluster is not registered, or has another uid', 'cluster_unknown', 'register the cluster'],
  ['whose token the server refuses', 'unauthenticated', 'update the cluster'],
] as const)('a controller %s', (_, code, detail) => {
  const refused = new DomainError(code, detail);

  test('does no work, is not ready, and says why once in its log', async () => {
    await start('ours', { refusal: refused });
    await harness.clock.advance(180_000);
    expect(harness.controller.ready()).toBe(detail);
    expect([harness.values(), harness.reconciled, errors().length]).toEqual([undefined, [], 1]);
    harness.helloRefusal = undefined;
    await harness.clock.advance(5_000);
    expect([harness.controller.ready(), harness.values()]).toEqual([undefined, values]);
  });

  test('stops its work if the server was replaced', async () => {
    await start('ours');
    harness.helloRefusal = refused;
    await harness.clock.advance(60_000);
    harness.services.change(prod, { A: 'changed' });
    await harness.clock.advance(60_000);
    expect([harness.isLeading(), harness.values()]).toEqual([false, values]);
  });

  test('is not ready as a standby either, and does not begin to work when it leads by its uid', async () => {
    await start('ours', { clusterName: 'uid', refusal: refused });
    harness.lease.isTaken = true;
    await harness.clock.advance(80_000);
    expect([harness.controller.ready(), errors().length]).toEqual([detail, 1]);
    harness.reconciled.splice(0);
    harness.lease.isTaken = false;
    await harness.clock.advance(20_000);
    expect([harness.controller.ready(), harness.reconciled]).toEqual([detail, []]);
  });
});
