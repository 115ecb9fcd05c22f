import { beforeEach, describe, expect, test } from '@jest/globals';
import { readinessOf } from '../../../src/controller/kinds/cluster-secret-sync/child.ts';
import { Children } from '../../../src/controller/kinds/cluster-secret-sync/children.ts';
import type { ClusterSecretSync } from '../../../src/controller/generated/cluster-secret-sync.ts';
import type { SecretSync } from '../../../src/controller/generated/secret-sync.ts';
import type { KubeObject } from '../../../src/kube/client/objects.ts';
import { secretSync } from './builders.ts';
import { FakeClock } from './fake-clock.ts';

/** The SecretSyncs as own writes left them, where the watch is behind. */

const key = 'team/shared';
const parent = { spec: { template: { spec: secretSync().spec } } } as ClusterSecretSync;
let clock: FakeClock;
let shown: SecretSync | undefined;
let show: (object: SecretSync | undefined) => void;
let children: Children;

function version(resourceVersion: string, uid = 'uid'): SecretSync {
  return secretSync({ name: 'shared', metadata: { namespace: 'team', uid, resourceVersion } });
}

beforeEach(() => {
  clock = new FakeClock();
  shown = undefined;
  let listener: (key: string, object: KubeObject | undefined) => void = () => {};
  children = new Children({ get: () => shown, keys: () => [], onChange: (given) => void (listener = given) }, clock);
  show = (object) => {
    shown = object;
    listener(key, object);
  };
});

describe('a SecretSync', () => {
  test('that was made is there before the watch shows it, and then as the watch shows it', () => {
    children.created(key, parent, version('1').metadata);
    expect(children.find(key)?.metadata.resourceVersion).toBe('1');
    show(version('1'));
    show(version('2'));
    expect(children.find(key)).toBe(shown);
    show(undefined);
    expect(children.find(key)).toBeUndefined();
    expect(children.untilExpiry()).toBeUndefined();
  });

  test('that was changed is as it was left, while the watch shows older versions', () => {
    show(version('1'));
    children.changed(key, parent, version('1'), version('3').metadata);
    expect(children.find(key)?.metadata.resourceVersion).toBe('3');
    show(version('4'));
    expect(children.find(key)).toBe(shown);
  });

  test('that was deleted is gone, until the watch shows another one or its end', () => {
    show(version('1'));
    children.removed(key, version('1'));
    expect(children.find(key)).toBeUndefined();
    show(version('2'));
    expect(children.find(key)).toBeUndefined();
    show(version('5', 'another'));
    expect(children.find(key)).toBe(shown);
  });

  test('whose event never comes is expected for half a minute, and not where its namespace has ended', () => {
    children.created(key, parent, version('1').metadata);
    clock.jump(20_000);
    expect(children.untilExpiry()).toBe(10_000);
    expect(children.find(key)).toBeDefined();
    clock.jump(10_000);
    expect(children.find(key)).toBeUndefined();
    expect(children.untilExpiry()).toBeUndefined();
    children.created(key, parent, version('1').metadata);
    children.forget(key);
    expect(children.find(key)).toBeUndefined();
  });
});

test('the condition Ready of a former spec says nothing about the present one', () => {
  const about = { type: 'Ready', status: 'True', reason: 'Synced', message: '', lastTransitionTime: '' } as const;
  const status = { conditions: [{ ...about, observedGeneration: 1 }] };
  expect(readinessOf(secretSync({ metadata: { generation: 1 }, status }))).toEqual({ isReady: true, reason: 'Synced' });
  expect(readinessOf(secretSync({ metadata: { generation: 2 }, status }))).toBeUndefined();
});
