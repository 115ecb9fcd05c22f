import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { KindController } from '../../../src/controller/frame/kind-controller.ts';
import { standardOutcomes } from '../../../src/controller/frame/standard-outcomes.ts';
import { Namespaces } from '../../../src/controller/frame/namespaces.ts';
import type { Resource } from '../../../src/controller/frame/resource.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { Harness, prod, syncs } from './controller-harness.ts';
import { FakeClock } from './fake-clock.ts';
import { type AnyObject, FakeCluster } from './fake-cluster.ts';
import { kindContext } from './kind-context.ts';
import { reconcileAtAnnotation } from '../../../src/controller/annotations.ts';

/** A namespace whose resources are edited without pause: each edit alone is acted on at once, all of them are bounded. */

const annotated =
  (value: string) =>
  (object: AnyObject): void => {
    object.metadata.annotations = { ...object.metadata.annotations, [reconcileAtAnnotation]: value };
  };

describe('a SecretSync', () => {
  let harness: Harness;

  beforeEach(async () => {
    harness = new Harness();
    await harness.synced();
    await harness.clock.advance(60_000);
    harness.reconciled.splice(0);
  });

  test('that is annotated once is reconciled at once', async () => {
    harness.cluster.put(syncs, 'app', annotated('now'));
    await harness.calls();
    expect(harness.reconciled).toEqual(['Synced']);
    await harness.clock.advance(60_000);
    expect(harness.reconciled).toEqual(['Synced']);
  });

  test('that is annotated 200 times within 10 seconds is reconciled 15 times at most, and for the last one', async () => {
    for (let edit = 0; edit < 200; edit += 1) {
      harness.cluster.put(syncs, 'app', annotated(`${edit}`));
      await harness.clock.advance(50);
    }
    const during = harness.reconciled.length;
    expect(during).toBeLessThanOrEqual(15);
    expect(during).toBeGreaterThanOrEqual(10);
    harness.putSync({ spec: { keys: { include: ['A'] } } });
    await harness.calls();
    await harness.clock.advance(1000);
    expect(harness.values()).toEqual({ A: 'alpha' });
  });

  test('that is being edited without pause follows its environment at once', async () => {
    for (let edit = 0; edit < 20; edit += 1) {
      harness.cluster.put(syncs, 'app', annotated(`${edit}`));
      await harness.calls();
    }
    harness.services.change(prod, { A: 'changed' });
    await harness.calls();
    expect(harness.values()).toMatchObject({ A: 'changed' });
  });

  test('that is made again after many edits is reconciled at once', async () => {
    for (let edit = 0; edit < 20; edit += 1) {
      harness.cluster.put(syncs, 'app', annotated(`${edit}`));
      await harness.calls();
    }
    harness.cluster.remove(`${syncs}/app`);
    await harness.calls();
    harness.reconciled.splice(0);
    harness.putSync();
    await harness.calls();
    expect(harness.reconciled).toHaveLength(1);
  });
});

describe('a resource of any other kind', () => {
  const thingKind = { group: 'keyframe.dev', version: 'v1alpha1', kind: 'Thing', plural: 'secretsnapshots' };
  const things = '/apis/keyframe.dev/v1alpha1/namespaces/team/secretsnapshots';
  let clock: FakeClock;
  let cluster: FakeCluster;
  let controller: KindController<Resource>;
  let cleaned: number;
  let reconciled: number;

  beforeEach(async () => {
    [clock, cluster, cleaned, reconciled] = [new FakeClock(), new FakeCluster(), 0, 0];
    const logger = createLogger('silent');
    const onRecovered = (): void => {};
    const namespaces = new Namespaces({ client: cluster, clock, logger, onRecovered });
    controller = new KindController<Resource>(kindContext({ kube: cluster, clock, logger, namespaces, onRecovered }), {
      kind: thingKind,
      plural: 'Things',
      isNamespaced: true,
      action: 'Try',
      reconcile: () => {
        reconciled += 1;
        return Promise.resolve({ claim: { progress: 'done', reason: 'Done', message: 'It is done.' } });
      },
      ...standardOutcomes(),
      cleanup: {
        isNeeded: () => true,
        run: () => {
          cleaned += 1;
          return Promise.resolve();
        },
      },
    });
    cluster.put(things, 'one', (object) => {
      object['spec'] = {};
    });
    for (const { group } of controller.watches) group.start();
    controller.startLeading();
    await clock.advance(60_000);
    if (reconciled !== 1) throw new Error('a new resource is reconciled once');
  });

  afterEach(async () => {
    await controller.drain(0);
    for (const { group } of controller.watches) await group.stop();
  });

  test('is reconciled at once for one edit, and 15 times at most for 200 edits within 10 seconds', async () => {
    cluster.put(things, 'one', annotated('now'));
    await clock.advance(0);
    expect(reconciled).toBe(2);
    for (let edit = 0; edit < 200; edit += 1) {
      cluster.put(things, 'one', annotated(`${edit}`));
      await clock.advance(50);
    }
    expect(reconciled).toBeLessThanOrEqual(2 + 15);
    expect(reconciled).toBeGreaterThanOrEqual(2 + 10);
  });

  test('is let go at once when it is deleted, however often it was edited', async () => {
    for (let edit = 0; edit < 20; edit += 1) {
      cluster.put(things, 'one', annotated(`${edit}`));
      await clock.advance(0);
    }
    cluster.put(things, 'one', (object) => {
      object.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    });
    await clock.advance(0);
    expect(cleaned).toBe(1);
  });
});
