import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ReadyClaim } from '../../../src/controller/frame/conditions.ts';
import { EventLog } from '../../../src/controller/frame/event-log.ts';
import { KindController } from '../../../src/controller/frame/kind-controller.ts';
import { Namespaces } from '../../../src/controller/frame/namespaces.ts';
import type { Resource } from '../../../src/controller/frame/resource.ts';
import { standardOutcomes } from '../../../src/controller/frame/standard-outcomes.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { FakeClock, settled } from './fake-clock.ts';
import { FakeCluster } from './fake-cluster.ts';
import { kindContext } from './kind-context.ts';

/** A resource that stays in progress: its conditions and Events in time, without another reconcile. */

const things = '/apis/keyframe.dev/v1alpha1/namespaces/ns/secretsnapshots';
const waiting: ReadyClaim = { progress: 'waiting', reason: 'NotFound', message: 'why' };
const retried: ReadyClaim = { progress: 'reconciling', reason: 'StoreUnavailable', message: 'why' };
const done: ReadyClaim = { progress: 'done', reason: 'Done', message: 'all' };

let clock: FakeClock;
let cluster: FakeCluster;
let controller: KindController<Resource>;
let claim: ReadyClaim;
let reconciles: number;

beforeEach(() => {
  [clock, cluster, reconciles] = [new FakeClock(), new FakeCluster(), 0];
  const logger = createLogger('silent');
  const onRecovered = (): void => {};
  const namespaces = new Namespaces({ client: cluster, clock, logger, onRecovered });
  const context = kindContext({ kube: cluster, clock, logger, namespaces, onRecovered });
  controller = new KindController<Resource>(
    { ...context, events: new EventLog() },
    {
      kind: { group: 'keyframe.dev', version: 'v1alpha1', kind: 'Thing', plural: 'secretsnapshots' },
      plural: 'Things',
      isNamespaced: true,
      action: 'Try',
      ...standardOutcomes<Resource>(),
      reconcile: () => {
        reconciles += 1;
        return Promise.resolve({ claim });
      },
    },
  );
});

async function started(first: ReadyClaim): Promise<void> {
  claim = first;
  cluster.put(things, 'one', (object) => {
    object['spec'] = {};
  });
  for (const { group } of controller.watches) group.start();
  controller.startLeading();
  await settled();
}

async function becomes(next: ReadyClaim): Promise<void> {
  claim = next;
  controller.enqueue('ns/one');
  await settled();
}

/** The reason of Ready, and which of Reconciling and Stalled is true. */
function state(): string {
  const { conditions = [] } = (cluster.get(`${things}/one`) as Resource | undefined)?.status ?? {};
  const ready = conditions.find(({ type }) => type === 'Ready')?.reason;
  const held = conditions.filter(({ type, status }) => type !== 'Ready' && status === 'True').map(({ type }) => type);
  return [ready, ...held].join(' ');
}

/** How many Events were recorded since the last call. */
function events(): number {
  return cluster.takeCalls().filter((call) => call.startsWith('POST') && call.includes('/events')).length;
}

describe('what others supply', () => {
  test('is waited for without an Event for 30 s, and then Stalled with one', async () => {
    await started(waiting);
    await clock.advance(29_000);
    expect([state(), events()]).toEqual(['NotFound Reconciling', 0]);
    await clock.advance(2000);
    expect([state(), events()]).toEqual(['NotFound Stalled', 1]);
    await clock.advance(600_000);
    expect([state(), events(), reconciles]).toEqual(['NotFound Stalled', 0, 1]);
  });

  test('ends Stalled as soon as it comes, without help', async () => {
    await started(waiting);
    await clock.advance(60_000);
    await becomes(done);
    expect(state()).toBe('Done');
  });

  test('has one Event there and one back if the resource was ready, and none more when its time is over', async () => {
    await started(done);
    events();
    await becomes(waiting);
    expect([state(), events()]).toEqual(['NotFound Reconciling', 1]);
    await clock.advance(20_000);
    await becomes(done);
    expect([state(), events()]).toEqual(['Done', 1]);
    await becomes(waiting);
    await clock.advance(60_000);
    expect([state(), events()]).toEqual(['NotFound Stalled', 1]);
    await becomes({ ...waiting, reason: 'AccessDenied' });
    expect([state(), events()]).toEqual(['AccessDenied Stalled', 1]);
  });

  test('has its Event under a new leader, which cannot know whether there was one', async () => {
    await started(waiting);
    await clock.advance(20_000);
    controller.stopLeading();
    controller.startLeading();
    await settled();
    expect([state(), events()]).toEqual(['NotFound Reconciling', 0]);
    await clock.advance(40_000);
    expect([state(), events()]).toEqual(['NotFound Stalled', 1]);
  });
});

test('a fault that is retried has its Event at once, is Stalled after 5 minutes, and has no second Event', async () => {
  await started(done);
  events();
  await becomes(retried);
  expect([state(), events()]).toEqual(['StoreUnavailable Reconciling', 1]);
  await clock.advance(299_000);
  expect(state()).toBe('StoreUnavailable Reconciling');
  await clock.advance(2000);
  expect([state(), events()]).toEqual(['StoreUnavailable Stalled', 0]);
});

test('a suspended resource waits for nothing', async () => {
  await started(waiting);
  await becomes({ progress: 'suspended', reason: 'Suspended', message: 'spec.suspend is true' });
  await clock.advance(600_000);
  expect(state()).toBe('Suspended Stalled');
});
