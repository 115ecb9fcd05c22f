import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { KindController } from '../../../src/controller/frame/kind-controller.ts';
import { standardOutcomes } from '../../../src/controller/frame/standard-outcomes.ts';
import { Namespaces } from '../../../src/controller/frame/namespaces.ts';
import type { Resource } from '../../../src/controller/frame/resource.ts';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { Harness, prod } from './controller-harness.ts';
import { FakeClock, settled } from './fake-clock.ts';
import { FakeCluster } from './fake-cluster.ts';
import { kindContext } from './kind-context.ts';
import { finalizer } from '../../../src/controller/annotations.ts';

/** What becomes of resources whose namespace is being deleted while they are not yet. */

const namespacesPath = '/api/v1/namespaces';
const thingKind = { group: 'keyframe.dev', version: 'v1alpha1', kind: 'Thing', plural: 'secretsnapshots' };
const things = (namespace: string): string => `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/secretsnapshots`;

let clock: FakeClock;
let cluster: FakeCluster;
let namespaces: Namespaces;
let controller: KindController<Resource>;
let logs: Record<string, unknown>[];
/** `reconcile KEY` and `clean KEY`. */
let done: string[];
/** Thrown by each cleanup while it is set. */
let fault: Error | undefined;

beforeEach(() => {
  [clock, cluster, logs, done, fault] = [new FakeClock(), new FakeCluster(), [], [], undefined];
  const logger = createLogger('debug', { write: (line: string) => void logs.push(JSON.parse(line)) });
  const onRecovered = (): void => {};
  namespaces = new Namespaces({ client: cluster, clock, logger, onRecovered });
  controller = new KindController<Resource>(
    kindContext({ kube: cluster, clock, logger, namespaces, onRecovered }),
    {
      kind: thingKind,
      plural: 'Things',
      isNamespaced: true,
      action: 'Try',
      ...standardOutcomes(),
      reconcile: ({ key }) => {
        done.push(`reconcile ${key}`);
        return Promise.resolve({ claim: { progress: 'done', reason: 'Done', message: 'It is done.' } });
      },
      cleanup: {
        isNeeded: () => true,
        run: ({ key }) => {
          done.push(`clean ${key}`);
          return fault === undefined ? Promise.resolve() : Promise.reject(fault);
        },
      },
    },
    [namespaces.watch],
  );
  for (const name of ['ending', 'other']) cluster.put(namespacesPath, name, () => {});
});

afterEach(async () => {
  await controller.drain(0);
  for (const { group } of controller.watches) await group.stop();
});

function put(namespace: string, name = 'one'): void {
  cluster.put(things(namespace), name, (thing) => {
    thing['spec'] = {};
  });
}

function endNamespace(name = 'ending'): void {
  cluster.put(namespacesPath, name, ({ metadata }) => {
    metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
  });
}

/** Starts the watches and the work, and lets everything happen that follows. */
async function start(): Promise<void> {
  for (const { group } of controller.watches) group.start();
  await settled();
  controller.startLeading();
  await settled();
}

function held(): string[] {
  return ['ending', 'other'].filter((namespace) =>
    cluster.get(`${things(namespace)}/one`)?.metadata.finalizers?.includes(finalizer),
  );
}

describe('a resource that holds something', () => {
  beforeEach(async () => {
    put('ending');
    put('other');
    await start();
    done.splice(0);
  });

  test('is cleaned up after and let go as soon as its namespace is deleted, and those elsewhere are let be', async () => {
    expect(held()).toEqual(['ending', 'other']);
    endNamespace();
    await settled();
    expect(done).toEqual(['clean ending/one']);
    expect(held()).toEqual(['other']);
  });

  test('gets no finalizer and no reconcile again while the namespace ends, whatever asks for one', async () => {
    endNamespace();
    await settled();
    done.splice(0);
    cluster.put(things('ending'), 'one', (thing) => {
      thing['spec'] = { round: 2 };
    });
    await controller.resync();
    await clock.advance(60_000);
    expect(done).toEqual(['reconcile other/one']);
    expect(held()).toEqual(['other']);
  });

  test('stays until it can be cleaned up after, says why, and is tried again', async () => {
    fault = new ApiError('GET', 0, 'Unreachable');
    endNamespace();
    await settled();
    expect(held()).toEqual(['ending', 'other']);
    expect(JSON.stringify(cluster.get(`${things('ending')}/one`)?.['status'])).toContain('force-finalize');
    fault = undefined;
    await clock.advance(1000);
    expect(done).toEqual(['clean ending/one', 'clean ending/one']);
    expect(held()).toEqual(['other']);
  });

  test('is reported once, with what to run, if the rights in the namespace went first', async () => {
    put('ending', 'two');
    await settled();
    const refuse = (): never => {
      throw new ApiError('PATCH', 403, 'Forbidden');
    };
    for (let time = 0; time < 4; time += 1) cluster.before(/^PATCH .*\/ending\//, refuse);
    endNamespace();
    await clock.advance(600);
    const errors = logs.filter(({ level }) => level === 'error');
    expect(errors).toHaveLength(1);
    expect(errors[0]?.['msg']).toContain(
      'kubectl get secretsnapshots.keyframe.dev --namespace ending --output name | xargs',
    );
    expect(held()).toContain('ending');
    // An admin may give the rights again.
    await clock.advance(10_000);
    expect(held()).toEqual(['other']);
  });

  test('is served again where another namespace has the name of the one that ended', async () => {
    endNamespace();
    await settled();
    cluster.remove(`${namespacesPath}/ending`);
    cluster.put(namespacesPath, 'ending', () => {});
    await settled();
    await clock.advance(5000);
    expect(held()).toEqual(['ending', 'other']);
    expect(done).toEqual(['clean ending/one', 'reconcile ending/one']);
  });
});

test('a controller that starts while a namespace ends releases what exists, and takes no hold of the rest', async () => {
  for (const name of ['one', 'new']) put('ending', name);
  cluster.put(things('ending'), 'one', ({ metadata }) => {
    metadata.finalizers = ['example.com/mine', finalizer];
  });
  endNamespace();
  await start();
  expect(done).toEqual(['clean ending/one']);
  expect(cluster.get(`${things('ending')}/one`)?.metadata.finalizers).toEqual(['example.com/mine']);
  expect(cluster.get(`${things('ending')}/new`)?.metadata.finalizers).toBeUndefined();
});

test('of many resources, those of the namespace that ends go first', async () => {
  for (let number = 0; number < 30; number += 1) put('other', `other-${number}`);
  put('ending');
  await start();
  await settled();
  done.splice(0);
  controller.stopLeading();
  await controller.resync();
  endNamespace();
  await settled();
  controller.startLeading();
  await settled();
  expect(done[0]).toBe('clean ending/one');
  expect(done).toHaveLength(31);
});

describe('a SecretSync', () => {
  const harness = new Harness();

  afterEach(() => harness.controller.stop());

  test('writes and makes nothing while its namespace ends', async () => {
    harness.cluster.put(namespacesPath, 'ns', () => {});
    await harness.synced();
    harness.cluster.put(namespacesPath, 'ns', ({ metadata }) => {
      metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    });
    await settled();
    harness.services.change(prod, { A: 'x' });
    harness.edit((secret) => {
      secret['data'] = {};
    });
    harness.putSync({ name: 'second' });
    await harness.clock.advance(60_000);
    expect(await harness.calls()).toEqual([]);
    // Another one of that name has its own.
    harness.cluster.remove(`${namespacesPath}/ns`);
    await settled();
    await harness.clock.advance(5000);
    expect(harness.values()).toEqual({ A: 'x' });
    expect(harness.values('second')).toEqual({ A: 'x' });
  });
});
