import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Condition } from '../../../src/controller/generated/condition.ts';
import { KindController } from '../../../src/controller/frame/kind-controller.ts';
import type { KindRules, ReconcileContext } from '../../../src/controller/frame/kind-rules.ts';
import { Namespaces } from '../../../src/controller/frame/namespaces.ts';
import type { Outcome } from '../../../src/controller/frame/outcome.ts';
import type { Resource } from '../../../src/controller/frame/resource.ts';
import { standardOutcomes } from '../../../src/controller/frame/standard-outcomes.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { FakeCluster } from './fake-cluster.ts';
import { FakeClock, settled } from './fake-clock.ts';
import { kindContext } from './kind-context.ts';

/** What a kind keeps between reconciles: at a resync, and when leadership is lost and regained. */

type Thing = Resource & { status?: { observedGeneration?: number; conditions?: Condition[] } };

const thingKind = { group: 'keyframe.dev', version: 'v1alpha1', kind: 'Thing', plural: 'secretsnapshots' };
const things = '/apis/keyframe.dev/v1alpha1/namespaces/ns/secretsnapshots';
const statusPatch = /^PATCH .*status$/;

let clock: FakeClock;
let cluster: FakeCluster;
let controller: KindController<Thing>;
let reconciled: number;
/** The environments that a resync compared. */
let compared: (readonly string[])[];
let reconcile: (context: ReconcileContext<Thing>) => Outcome<Thing> | Promise<Outcome<Thing>>;

const done = (message: string): Outcome<Thing> => ({ claim: { progress: 'done', reason: 'Done', message } });
const messageOf = (thing: unknown): string | undefined =>
  (thing as Thing | undefined)?.status?.conditions?.find(({ type }) => type === 'Ready')?.message;
const message = (): string | undefined => messageOf(cluster.get(`${things}/one`));

/** A result that depends on the environment `env`, whose state has not changed. */
function fresh({ seen }: ReconcileContext<Thing>, text = 'It is done.'): Outcome<Thing> {
  seen.note('environment', 'env', 'r1');
  return done(text);
}

beforeEach(async () => {
  [clock, cluster, reconciled, compared] = [new FakeClock(), new FakeCluster(), 0, []];
  reconcile = (context) => fresh(context);
  const logger = createLogger('silent');
  const onRecovered = (): void => {};
  const namespaces = new Namespaces({ client: cluster, clock, logger, onRecovered });
  const none = {
    liveCredentials: new Set<string>(),
    liveTokens: new Set<string>(),
    kept: new Set<string>(),
    clusterState: 'enabled',
    clusterRules: new Map<string, number>(),
  } as const;
  const rules: KindRules<Thing> = {
    kind: thingKind,
    plural: 'Things',
    isNamespaced: true,
    action: 'Try',
    ...standardOutcomes<Thing>(),
    changes: {
      compare: ({ environmentIds }) => {
        compared.push(environmentIds ?? []);
        return Promise.resolve({ environments: new Map([['env', 'r1']]), ...none });
      },
    },
    reconcile: async (context) => {
      reconciled += 1;
      return await reconcile(context);
    },
  };
  controller = new KindController<Thing>(kindContext({ kube: cluster, clock, logger, namespaces, onRecovered }), rules);
  cluster.put(things, 'one', (object) => {
    object['spec'] = {};
  });
  for (const { group } of controller.watches) group.start();
  controller.startLeading();
  await settled();
  reconciled = 0;
});

/** Lets the next reconcile wait until the test gives its outcome. */
function held(): (outcome: Outcome<Thing>) => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<Outcome<Thing>>();
  reconcile = async (context) => {
    fresh(context);
    return await promise;
  };
  return async (outcome) => {
    resolve(outcome);
    await settled();
  };
}

describe('a resync', () => {
  test('leaves a result alone whose subjects have not changed', async () => {
    await controller.resync();
    await settled();
    expect(compared).toEqual([['env']]);
    expect(reconciled).toBe(0);
  });

  test('repeats a result that failed and waits for its retry, though its subjects have not changed', async () => {
    reconcile = (context) => {
      fresh(context);
      throw new DomainError('store_unavailable', 'the database cannot be reached');
    };
    controller.enqueue('ns/one');
    await settled();
    reconciled = 0;
    reconcile = (context) => fresh(context, 'It is done again.');
    await controller.resync();
    await settled();
    expect(reconciled).toBe(1);
  });
});

describe('an outcome that comes while the status of the one before is written', () => {
  beforeEach(async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    cluster.beforeAnswer(statusPatch, async () => await promise);
    reconcile = (context) => fresh(context, 'It is the first.');
    controller.enqueue('ns/one');
    await settled();
    reconcile = (context) => fresh(context, 'It is the second.');
    controller.enqueue('ns/one');
    await settled();
    cluster.before(statusPatch, () => {
      throw new ApiError('PATCH', 500, 'InternalError');
    });
    resolve(undefined);
    await settled();
  });

  test('does not count as reported: the next reconcile sees it', async () => {
    expect(message()).toBe('It is the first.');
    let seen: string | undefined;
    reconcile = (context) => {
      seen = messageOf(context.resource);
      return fresh(context, 'It is the third.');
    };
    controller.enqueue('ns/one');
    await settled();
    expect(seen).toBe('It is the second.');
  });

  test('is written at the next resync, without another reconcile', async () => {
    expect(message()).toBe('It is the first.');
    reconciled = 0;
    await controller.resync();
    await settled();
    expect(message()).toBe('It is the second.');
    expect(reconciled).toBe(0);
  });
});

describe('a leader that leads again', () => {
  test('compares nothing with the results of its last term', async () => {
    controller.stopLeading();
    controller.startLeading();
    await controller.resync();
    expect(compared).toEqual([[]]);
  });

  test('compares nothing with the result of a reconcile that began in its last term', async () => {
    const end = held();
    controller.enqueue('ns/one');
    await settled();
    controller.stopLeading();
    await end(done('It is of the last term.'));
    controller.startLeading();
    await controller.resync();
    expect(compared).toEqual([[]]);
  });

  test('does not report the outcome of a reconcile that began in its last term', async () => {
    const end = held();
    controller.enqueue('ns/one');
    await settled();
    controller.stopLeading();
    controller.startLeading();
    // The outcome of this term comes later than a status may wait.
    const endNow = held();
    await end(done('It is of the last term.'));
    await clock.advance(1_000);
    expect(message()).toBe('It is done.');
    await endNow(done('It is of this term.'));
    expect(message()).toBe('It is of this term.');
  });
});
