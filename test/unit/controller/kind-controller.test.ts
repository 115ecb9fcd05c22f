import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Condition } from '../../../src/controller/generated/condition.ts';
import { EventLog } from '../../../src/controller/frame/event-log.ts';
import { KindController } from '../../../src/controller/frame/kind-controller.ts';
import type { KindRules, ReconcileContext } from '../../../src/controller/frame/kind-rules.ts';
import { Namespaces } from '../../../src/controller/frame/namespaces.ts';
import type { Outcome } from '../../../src/controller/frame/outcome.ts';
import { standardOutcomes } from '../../../src/controller/frame/standard-outcomes.ts';
import type { Resource } from '../../../src/controller/frame/resource.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { FakeCluster } from './fake-cluster.ts';
import { FakeClock, settled } from './fake-clock.ts';
import { kindContext } from './kind-context.ts';

type Thing = Resource & { status?: { observedGeneration?: number; conditions?: Condition[] } };

const thingKind = { group: 'keyframe.dev', version: 'v1alpha1', kind: 'Thing', plural: 'secretsnapshots' };
const things = '/apis/keyframe.dev/v1alpha1/namespaces/ns/secretsnapshots';
const patchOf = (name: string): string => `PATCH ${things}/${name}/status`;
const internalError = (): never => {
  throw new ApiError('PATCH', 500, 'InternalError');
};

let clock: FakeClock;
let cluster: FakeCluster;
let events: EventLog;
let controller: KindController<Thing>;
/** The keys that were reconciled. */
let reconciled: string[];
/** The outcome of each reconcile. */
let reconcile: (context: ReconcileContext<Thing>) => Outcome<Thing>;
let isCleanupNeeded: boolean;
/** How long each reconcile takes, in milliseconds. */
let delayMs: number;

function done(message = 'It is done.'): Outcome<Thing> {
  return { claim: { progress: 'done', reason: 'Done', message } };
}

beforeEach(() => {
  [clock, cluster, events, reconciled] = [new FakeClock(), new FakeCluster(), new EventLog(), []];
  isCleanupNeeded = false;
  reconcile = () => done();
  delayMs = 0;
  const logger = createLogger('silent');
  const onRecovered = (): void => {};
  const namespaces = new Namespaces({ client: cluster, clock, logger, onRecovered });
  const rules: KindRules<Thing> = {
    kind: thingKind,
    plural: 'Things',
    isNamespaced: true,
    action: 'Try',
    ...standardOutcomes<Thing>(),
    reconcile: async (context) => {
      reconciled.push(context.key);
      await (delayMs === 0 ? Promise.resolve() : passed(delayMs));
      return reconcile(context);
    },
    cleanup: { isNeeded: () => isCleanupNeeded, run: () => Promise.resolve() },
    isThrottled: (_key, { kind }) => kind === 'slugs',
  };
  const context = kindContext({ kube: cluster, clock, logger, namespaces, onRecovered });
  controller = new KindController<Thing>({ ...context, events }, rules);
});

async function passed(ms: number): Promise<void> {
  await new Promise<void>((resolve) => clock.after(ms, resolve));
}

/** Makes a thing, or changes its spec. */
function put(name: string): void {
  cluster.put(things, name, (object) => {
    object['spec'] = { after: object.metadata.generation ?? 0 };
  });
}

async function started(...names: readonly string[]): Promise<void> {
  for (const name of names) put(name);
  for (const { group } of controller.watches) group.start();
  controller.startLeading();
  await settled();
  cluster.takeCalls();
  reconciled.splice(0);
}

/** Makes the next reconcile of `one` fail with an error that is retried. */
async function failForAWhile(): Promise<void> {
  reconcile = () => {
    throw new DomainError('store_unavailable', 'the database cannot be reached');
  };
  controller.enqueue('ns/one');
  await settled();
  reconciled.splice(0);
}

function ready(name: string): Condition | undefined {
  const { conditions } = (cluster.get(`${things}/${name}`) as Thing | undefined)?.status ?? {};
  return conditions?.find(({ type }) => type === 'Ready');
}

function patches(): string[] {
  return cluster.takeCalls().filter((call) => call.startsWith('PATCH'));
}

describe('a status', () => {
  test('that meets another version is written again, without another reconcile', async () => {
    await started('one');
    reconcile = () => done('It is done again.');
    cluster.before(/^PATCH .*status$/, () => {
      cluster.put(things, 'one', ({ metadata }) => {
        metadata.labels = { team: 'web' };
      });
    });
    controller.enqueue('ns/one');
    await settled();
    expect(ready('one')?.message).toBe('It is done again.');
    expect(reconciled).toEqual(['ns/one']);
    expect(patches()).toEqual([patchOf('one'), patchOf('one')]);
  });

  test('that the API server refuses is written again, without another reconcile', async () => {
    await started('one');
    reconcile = () => done('It is done again.');
    cluster.before(/^PATCH .*status$/, internalError);
    controller.enqueue('ns/one');
    await clock.advance(60_000);
    expect(ready('one')?.message).toBe('It is done again.');
    expect(reconciled).toEqual(['ns/one']);
  });

  test('that could not be written is written at the next resync', async () => {
    await started('one');
    reconcile = () => done('It is done again.');
    for (let time = 0; time < 10; time += 1) cluster.before(/^PATCH .*status$/, internalError);
    controller.enqueue('ns/one');
    await clock.advance(100_000);
    expect(ready('one')?.message).toBe('It is done.');
    cluster.mend();
    await controller.resync();
    await settled();
    expect(ready('one')?.message).toBe('It is done again.');
  });

  test('reports the newest of several outcomes', async () => {
    await started('one');
    let count = 0;
    reconcile = () => done(`It is done ${(count += 1)} times.`);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    cluster.before(/^PATCH .*status$/, async () => await promise);
    for (let time = 0; time < 5; time += 1) {
      controller.enqueue('ns/one');
      await settled();
    }
    resolve(undefined);
    await settled();
    expect(ready('one')?.message).toBe('It is done 5 times.');
    expect(reconciled).toHaveLength(5);
    expect(patches()).toHaveLength(2);
  });

  test('comes after the reconciles that wait', async () => {
    const names = Array.from({ length: 75 }, (_, index) => `thing-${index}`);
    await started(...names);
    reconcile = () => done('It is done again.');
    let patchesBefore = 0;
    for (const _ of names)
      cluster.before(/^PATCH .*status$/, async () => {
        if (reconciled.length < names.length) patchesBefore += 1;
        await passed(50);
      });
    // Sixteen reconciles at once: the last one begins after 800 ms, and the patches after 700 ms. Two at once are six at most.
    delayMs = 200;
    for (const name of names) controller.enqueue(`ns/${name}`);
    await clock.advance(10_000);
    expect([4, 5, 6]).toContain(patchesBefore);
    expect(new Set(names.map((name) => ready(name)?.message))).toEqual(new Set(['It is done again.']));
  });

  test.each([
    ['for the reconciles under way', 100, 100, ['one', 'two']],
    ['for half a second at most', 10_000, 500, ['one']],
  ])('waits %s', async (_, otherMs, waitMs, patched) => {
    await started('one', 'two');
    reconcile = () => done('It is done again.');
    for (const [name, ms] of [
      ['two', otherMs],
      ['one', 0],
    ] as const) {
      delayMs = ms;
      controller.enqueue(`ns/${name}`);
      await settled();
    }
    await clock.advance(waitMs - 1);
    expect(patches()).toEqual([]);
    await clock.advance(1);
    expect(patches().toSorted()).toEqual(patched.map(patchOf));
  });

  test('of an older spec is not reported as that of a newer one', async () => {
    await started('one');
    reconcile = () => done('It is done again.');
    cluster.before(/^PATCH .*status$/, internalError);
    controller.enqueue('ns/one');
    await settled();
    delayMs = 5_000;
    put('one');
    await clock.advance(2_000);
    expect(cluster.get(`${things}/one`)?.metadata.generation).toBe(2);
    expect((cluster.get(`${things}/one`) as unknown as Thing).status?.observedGeneration).toBe(1);
    await clock.advance(5_000);
    expect((cluster.get(`${things}/one`) as unknown as Thing).status?.observedGeneration).toBe(2);
  });

  test('that is not written yet is seen by the next reconcile', async () => {
    await started('one');
    const seen: (string | undefined)[] = [];
    reconcile = ({ resource }) => {
      seen.push(resource.status?.conditions?.find(({ type }) => type === 'Ready')?.message);
      return done('It is done again.');
    };
    cluster.before(/^PATCH .*status$/, internalError);
    controller.enqueue('ns/one');
    await settled();
    controller.enqueue('ns/one');
    await settled();
    expect(seen).toEqual(['It is done.', 'It is done again.']);
  });

  test('that is not written yet is written though the finalizer changes before it', async () => {
    await started('one');
    reconcile = () => done('It is done again.');
    cluster.before(/^PATCH .*status$/, internalError);
    controller.enqueue('ns/one');
    await settled();
    isCleanupNeeded = true;
    controller.enqueue('ns/one');
    await clock.advance(60_000);
    expect(cluster.get(`${things}/one`)?.metadata.finalizers).toHaveLength(1);
    expect(ready('one')?.message).toBe('It is done again.');
  });
});

describe('a leader that leads again', () => {
  test('reports nothing of what it found before', async () => {
    await started('one');
    reconcile = () => done('It was done before.');
    cluster.before(/^PATCH .*status$/, internalError);
    controller.enqueue('ns/one');
    await settled();
    controller.stopLeading();
    await clock.advance(60_000);
    let before: string | undefined;
    reconcile = ({ resource }) => {
      before = resource.status?.conditions?.find(({ type }) => type === 'Ready')?.message;
      return done('It is done now.');
    };
    cluster.takeCalls();
    controller.startLeading();
    await settled();
    expect(before).toBe('It is done.');
    expect(ready('one')?.message).toBe('It is done now.');
    expect(patches()).toHaveLength(1);
  });

  test('ignores events from the time of another leader, and repeats everything once', async () => {
    reconcile = ({ seen }) => {
      seen.note('environment', 'env', 'r1');
      return done();
    };
    await started('one');
    controller.stopLeading();
    events.publish({ kind: 'environment', id: 'env', version: 'r2' });
    controller.startLeading();
    await settled();
    expect(reconciled).toEqual(['ns/one']);
  });
});

describe('a resync', () => {
  test('repeats what failed, without an event', async () => {
    await started('one');
    await failForAWhile();
    reconcile = () => done();
    await controller.resync();
    await settled();
    expect(reconciled).toEqual(['ns/one']);
  });
});

test('a finalizer is written at once though the status is being written', async () => {
  await started('one');
  reconcile = () => done('It is done again.');
  const { promise, resolve } = Promise.withResolvers<undefined>();
  cluster.beforeAnswer(/^PATCH .*status$/, async () => await promise);
  controller.enqueue('ns/one');
  await settled();
  isCleanupNeeded = true;
  controller.enqueue('ns/one');
  await settled();
  resolve(undefined);
  await settled();
  expect(cluster.get(`${things}/one`)?.metadata.finalizers).toHaveLength(1);
  expect(ready('one')?.message).toBe('It is done again.');
});

describe('an event', () => {
  const commit = (version: string): void => events.publish({ kind: 'environment', id: 'env', version });
  const noting =
    (saw?: string) =>
    ({ seen }: ReconcileContext<Thing>): Outcome<Thing> => {
      seen.note('environment', 'env', saw);
      return done();
    };

  test('enqueues the resources whose result depends on its subject', async () => {
    reconcile = (context) => (context.key === 'ns/one' ? noting('r1')(context) : done());
    await started('one', 'two');
    commit('r1');
    commit('r2');
    await settled();
    expect(reconciled).toEqual(['ns/one']);
  });

  test('during a reconcile counts once it is known what that saw', async () => {
    await started('one');
    const during: string[] = [];
    reconcile = ({ seen }) => {
      if (during.length === 0) commit('r2');
      during.push('reconcile');
      seen.note('environment', 'env', during.length === 1 ? 'r1' : 'r2');
      return done();
    };
    controller.enqueue('ns/one');
    await settled();
    expect(during).toHaveLength(2);
  });

  test('counts after a reconcile with an error that is retried, as before it', async () => {
    reconcile = noting('r1');
    await started('one');
    await failForAWhile();
    commit('r2');
    await settled();
    expect(reconciled).toEqual(['ns/one']);
  });

  test('does not count after a result that depends on something else', async () => {
    reconcile = noting('r1');
    await started('one');
    reconcile = () => done();
    controller.enqueue('ns/one');
    await settled();
    reconciled.splice(0);
    commit('r2');
    await settled();
    expect(reconciled).toEqual([]);
  });

  test('that is throttled enqueues a resource once a second', async () => {
    reconcile = ({ seen }) => {
      seen.note('slugs', '');
      return done();
    };
    await started('one');
    for (let time = 0; time < 20; time += 1) {
      events.publish({ kind: 'slugs', id: '' });
      await clock.advance(100);
    }
    await clock.advance(5_000);
    expect(reconciled.length).toBeLessThanOrEqual(4);
    expect(reconciled.length).toBeGreaterThanOrEqual(3);
  });

  test('is ignored by a controller that does not lead, which reconciles everything when it does', async () => {
    reconcile = noting('r1');
    await started('one');
    controller.stopLeading();
    commit('r2');
    await settled();
    expect(reconciled).toEqual([]);
    controller.startLeading();
    await settled();
    expect(reconciled).toEqual(['ns/one']);
  });

  test('that may have been missed during a reconcile repeats it', async () => {
    await started('one');
    let isFirst = true;
    reconcile = () => {
      if (isFirst) events.markGap();
      isFirst = false;
      return done();
    };
    controller.enqueue('ns/one');
    await settled();
    expect(reconciled).toEqual(['ns/one', 'ns/one']);
  });
});
