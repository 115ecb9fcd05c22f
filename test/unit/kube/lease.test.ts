import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { Lease, type LeaseObject, type LeaseSpec } from '../../../src/kube/lease.ts';
import { FakeCluster } from '../controller/fake-cluster.ts';

const collection = '/apis/coordination.k8s.io/v1/namespaces/system/leases';
const path = `${collection}/keyframe-controller`;
const call = { timeoutMs: 1000 };
const startOfTime = Date.UTC(2026, 0, 1);

let cluster: FakeCluster;
/** The steady clock of all processes, in milliseconds. */
let steadyMs: number;

beforeEach(() => {
  cluster = new FakeCluster();
  steadyMs = 5_000;
});

/** A process that tries for the Lease; its wall clock may be wrong by so much. */
function process(identity: string, { wallOffsetMs = 0, durationSeconds = 10 } = {}): Lease {
  return new Lease({
    client: cluster,
    place: { namespace: 'system', name: 'keyframe-controller' },
    identity,
    durationSeconds,
    now: () => startOfTime + steadyMs + wallOffsetMs,
    steadyNow: () => steadyMs,
  });
}

function record(): LeaseSpec {
  return (cluster.get(path) as unknown as LeaseObject).spec ?? {};
}

/** Changes the record as someone with an editor does. */
function edit(change: LeaseSpec): void {
  cluster.put(collection, 'keyframe-controller', (lease) => {
    lease['spec'] = { ...(lease['spec'] as LeaseSpec | undefined), ...change };
  });
}

const taken = (holder: string, freeInMs: number): unknown => ({ kind: 'taken', holder, freeInMs });

describe('a Lease that is not there', () => {
  test('is made, with times of six digits', async () => {
    expect(await process('a').attempt(call)).toEqual({ kind: 'held', sinceMs: 5_000, isNew: true });
    expect(record()).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 10,
      acquireTime: '2026-01-01T00:00:05.000000Z',
      renewTime: '2026-01-01T00:00:05.000000Z',
      leaseTransitions: 0,
    });
  });

  test('is had by one of two who make it at the same time', async () => {
    const [a, b] = [process('a'), process('b')];
    const attempts = await Promise.all([a.attempt(call), b.attempt(call)]);
    expect(attempts.map(({ kind }) => kind).sort()).toEqual(['held', 'taken']);
  });

  test('in a namespace that is not there is an error', async () => {
    cluster.before(/^POST/, () => {
      throw new ApiError('POST', 404, 'NotFound');
    });
    await expect(process('a').attempt(call)).rejects.toMatchObject({ status: 404 });
  });
});

describe('its holder', () => {
  test('renews it with one call, keeps the time it was taken, and what others wrote beside the record', async () => {
    const a = process('a');
    await a.attempt(call);
    cluster.put(collection, 'keyframe-controller', ({ metadata }) => {
      metadata.labels = { 'app.kubernetes.io/name': 'keyframe' };
    });
    await a.attempt(call);
    cluster.takeCalls();
    steadyMs += 2_000;
    expect(await a.attempt(call)).toEqual({ kind: 'held', sinceMs: 7_000, isNew: false });
    expect(cluster.takeCalls()).toEqual([`PUT ${path}`]);
    expect(record()).toMatchObject({
      acquireTime: '2026-01-01T00:00:05.000000Z',
      renewTime: '2026-01-01T00:00:07.000000Z',
      leaseTransitions: 0,
    });
    expect(cluster.get(path)?.metadata.labels).toEqual({ 'app.kubernetes.io/name': 'keyframe' });
  });

  test('whose renewal was answered by nothing finds it its own at the next try', async () => {
    const a = process('a');
    await a.attempt(call);
    cluster.beforeAnswer(/^PUT/, () => {
      throw new ApiError('PUT', 0, 'Timeout');
    });
    await expect(a.attempt(call)).rejects.toThrow('Timeout');
    expect(await a.attempt(call)).toMatchObject({ kind: 'held', isNew: false });
  });

  test('reports since when it is known to live: before its write began', async () => {
    cluster.before(/^POST/, () => {
      steadyMs += 3_000;
    });
    expect(await process('a').attempt(call)).toMatchObject({ sinceMs: 5_000 });
  });

  test('loses it to a hand that writes another name, and takes it when that name stays silent', async () => {
    const a = process('a');
    await a.attempt(call);
    edit({ holderIdentity: 'another' });
    expect(await a.attempt(call)).toEqual(taken('another', 10_000));
    steadyMs += 10_000;
    expect(await a.attempt(call)).toMatchObject({ kind: 'held', isNew: true });
    expect(record().leaseTransitions).toBe(1);
  });

  test('makes it again where it was deleted, as one that is new', async () => {
    const a = process('a');
    await a.attempt(call);
    cluster.remove(path);
    expect(await a.attempt(call)).toMatchObject({ kind: 'held', isNew: true });
  });
});

describe('another process', () => {
  test('waits from when it saw the record change last, whatever the times in it say', async () => {
    const [ahead, behind] = [process('a', { wallOffsetMs: 3_600_000 }), process('b', { wallOffsetMs: -3_600_000 })];
    await ahead.attempt(call);
    steadyMs += 4_000;
    expect(await behind.attempt(call)).toEqual(taken('a', 10_000));
    steadyMs += 4_000;
    expect(await behind.attempt(call)).toEqual(taken('a', 6_000));
    await ahead.attempt(call);
    expect(await behind.attempt(call)).toEqual(taken('a', 10_000));
    steadyMs += 9_999;
    expect(await behind.attempt(call)).toEqual(taken('a', 1));
    steadyMs += 1;
    expect(await behind.attempt(call)).toMatchObject({ kind: 'held', isNew: true });
    expect(await ahead.attempt(call)).toEqual(taken('b', 10_000));
  });

  test('is not put off by changes beside the record', async () => {
    await process('a').attempt(call);
    const b = process('b');
    await b.attempt(call);
    steadyMs += 6_000;
    cluster.put(collection, 'keyframe-controller', ({ metadata }) => {
      metadata.annotations = { note: 'looked at' };
    });
    expect(await b.attempt(call)).toEqual(taken('a', 4_000));
  });

  test.each([
    { claimed: 3, waitsMs: 3_000 },
    { claimed: 20, waitsMs: 20_000 },
    { claimed: 86_400, waitsMs: 60_000 },
  ])('waits $waitsMs ms for a holder that claims $claimed s', async ({ claimed, waitsMs }) => {
    await process('a').attempt(call);
    edit({ leaseDurationSeconds: claimed });
    expect(await process('b').attempt(call)).toEqual(taken('a', waitsMs));
  });

  test('gets it when two try for an expired one only if its write came first', async () => {
    await process('a').attempt(call);
    const [b, c] = [process('b'), process('c')];
    await Promise.all([b.attempt(call), c.attempt(call)]);
    steadyMs += 10_000;
    const attempts = await Promise.all([b.attempt(call), c.attempt(call)]);
    expect(attempts.map(({ kind }) => kind).sort()).toEqual(['held', 'taken']);
    expect(record().leaseTransitions).toBe(1);
  });
});

describe('a release', () => {
  test('lets another process take it at once', async () => {
    const [a, b] = [process('a'), process('b')];
    await a.attempt(call);
    expect(await b.attempt(call)).toMatchObject({ kind: 'taken' });
    await a.release(call);
    expect(record()).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    expect(await b.attempt(call)).toMatchObject({ kind: 'held', isNew: true });
  });

  test('by one that does not hold it changes nothing', async () => {
    await process('a').attempt(call);
    const before = record();
    await process('b').release(call);
    expect(record()).toEqual(before);
  });

  test('by a holder whose last renewal was answered by nothing is done all the same', async () => {
    const a = process('a');
    await a.attempt(call);
    cluster.beforeAnswer(/^PUT/, () => {
      throw new ApiError('PUT', 0, 'Timeout');
    });
    await expect(a.attempt(call)).rejects.toThrow('Timeout');
    await a.release(call);
    expect(record()).toMatchObject({ holderIdentity: '' });
  });
});

describe('a Lease that is seized', () => {
  test('is taken from its holder, which finds out at the next try', async () => {
    const [leader, other] = [process('a'), process('b', { durationSeconds: 35 })];
    await leader.attempt(call);
    expect(await other.seize(call)).toBe('a');
    expect(record()).toMatchObject({ holderIdentity: 'b', leaseDurationSeconds: 35, leaseTransitions: 1 });
    expect(await leader.attempt(call)).toEqual(taken('b', 35_000));
  });

  test('is renewed, and no holder is said to have lost it', async () => {
    const one = process('b');
    expect(await one.seize(call)).toBeUndefined();
    steadyMs += 5_000;
    expect(await one.seize(call)).toBeUndefined();
    expect(record()).toMatchObject({
      holderIdentity: 'b',
      renewTime: '2026-01-01T00:00:10.000000Z',
      leaseTransitions: 0,
    });
  });

  test('is taken again from one who took it in between', async () => {
    const one = process('b');
    await one.seize(call);
    edit({ holderIdentity: 'c' });
    expect(await one.seize(call)).toBe('c');
    expect(record().holderIdentity).toBe('b');
  });
});
