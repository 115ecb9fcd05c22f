import { afterEach, expect, test } from '@jest/globals';
import type { ControllerDeps } from '../../../src/controller/index.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { Harness } from './controller-harness.ts';

/** Two clusters that go by one name in one database. */

type Claimed = Awaited<ReturnType<ControllerDeps['clusters']['claim']>> | DomainError;

const held: Claimed = { heldBy: 'uid-of-another', seenAt: new Date(0) };
let claimed: Claimed;
let claims: (readonly [cluster: string, uid: string])[];
let harness: Harness;

afterEach(() => harness.controller.stop());

async function start(first: Claimed): Promise<void> {
  claimed = first;
  claims = [];
  const claim = (cluster: string, uid: string): ReturnType<ControllerDeps['clusters']['claim']> => {
    claims.push([cluster, uid]);
    return claimed instanceof DomainError ? Promise.reject(claimed) : Promise.resolve(claimed);
  };
  harness = new Harness({ clusters: { claim } });
  harness.cluster.put('/api/v1/namespaces', 'kube-system', (object) => {
    object.metadata.uid = 'uid-of-this';
  });
  await harness.synced();
}

test('a leader records its cluster once a minute', async () => {
  await start('ours');
  await harness.clock.advance(180_000);
  expect(claims).toEqual(Array.from({ length: 4 }, () => ['test', 'uid-of-this']));
  expect(harness.controller.ready()).toBeUndefined();
});

test('a leader whose name another cluster has is not ready, and says so once in its log', async () => {
  await start(held);
  await harness.clock.advance(180_000);
  expect(harness.controller.ready()).toContain('uid-of-another');
  expect(harness.controller.ready()).toContain('KEYFRAME_CLUSTER_NAME');
  expect(harness.logs.filter(({ level }) => level === 'error')).toHaveLength(1);
  claimed = 'ours';
  await harness.clock.advance(60_000);
  expect(harness.controller.ready()).toBeUndefined();
});

test('a database that is away is asked again, and reported elsewhere', async () => {
  await start(new DomainError('store_unavailable', 'the database cannot be reached'));
  await harness.clock.advance(10_000);
  expect(harness.logs.filter(({ level }) => level === 'error')).toEqual([]);
  claimed = held;
  await harness.clock.advance(60_000);
  expect(harness.controller.ready()).toContain('uid-of-another');
});

test('a stand-by records nothing', async () => {
  await start('ours');
  harness.lease.isTaken = true;
  await harness.clock.advance(20_000);
  claims.splice(0);
  await harness.clock.advance(180_000);
  expect(claims).toEqual([]);
});
