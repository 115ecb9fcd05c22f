import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { secretSync } from './builders.ts';
import { Harness, prod, syncs } from './controller-harness.ts';
import { settled } from './fake-clock.ts';

let harness: Harness;
const collection = '/apis/keyframe.dev/v1alpha1/secretsyncs';

beforeEach(() => {
  harness = new Harness();
});

afterEach(() => harness.controller.stop());

/** Makes the next lists of a collection fail. */
function failLists(path: string, status: number, times: number): void {
  for (let time = 0; time < times; time += 1) {
    harness.cluster.before(new RegExp(`^GET ${path}$`), () => {
      throw new ApiError('GET', status, 'Fault');
    });
  }
}

describe('readiness', () => {
  test('comes with the first lists', async () => {
    expect(harness.controller.ready()).toBe('the first list of SecretSyncs has not come from the API server yet');
    await harness.synced();
    expect(harness.controller.ready()).toBeUndefined();
  });

  test('says what to apply if the cluster does not know SecretSync, and the log says it once', async () => {
    failLists(collection, 404, 3);
    await harness.synced();
    const sentence =
      'the cluster does not know SecretSync (keyframe.dev/v1alpha1): apply the custom resource definitions with `kubectl apply -f crds/`';
    expect(harness.controller.ready()).toBe(sentence);
    await harness.clock.advance(20_000);
    expect(harness.controller.ready()).toBeUndefined();
    expect(harness.logs.filter(({ level }) => level === 'error' || level === 'warn')).toMatchObject([
      { msg: sentence },
    ]);
    expect(harness.values()).toEqual({ A: 'alpha', B: 'beta' });
  });

  test('is not reported by a controller that may list nothing, and the missing rights are named', async () => {
    const all = '/(?:api|apis)/.*';
    failLists(all, 403, 60);
    harness.controller.start();
    await settled();
    expect(harness.controller.ready()).toContain(
      'the API server does not let the controller list SecretSyncs, Secrets',
    );
    expect(harness.lease.isHeld).toBe(false);
  });
});

describe('without the right to list', () => {
  const advice = 'apply the rules of charts/keyframe/files/ to its account';
  const errors = (): unknown[] => harness.logs.filter(({ level }) => level === 'error').map(({ msg }) => msg);

  test('SecretSyncs, the controller leads and reports that they are disabled, until it has the right', async () => {
    failLists(collection, 403, 3);
    await harness.synced();
    const warning = `the API server does not let the controller list SecretSyncs: ${advice}; until then, features that need them are disabled`;
    expect(harness.controller.ready()).toBeUndefined();
    expect(harness.controller.warnings()).toEqual([warning]);
    expect(errors()).toEqual([warning]);
    expect(harness.lease.isHeld).toBe(true);
    expect(harness.values()).toBeUndefined();
    await harness.clock.advance(60_000);
    expect(harness.values()).toEqual({ A: 'alpha', B: 'beta' });
    expect(harness.controller.warnings()).toEqual([]);
    expect(errors()).toHaveLength(1);
  });

  test('Secrets, each SecretSync reports it until the controller has the right', async () => {
    failLists('/api/v1/secrets', 403, 6);
    await harness.synced();
    await harness.clock.advance(1_000);
    expect(harness.ready()).toMatchObject({
      reason: 'ClusterUnavailable',
      message: `The API server does not let the controller list Secrets: ${advice}.`,
    });
    expect(harness.controller.ready()).toBeUndefined();
    await harness.clock.advance(120_000);
    expect(harness.values()).toEqual({ A: 'alpha', B: 'beta' });
    expect(harness.ready()?.reason).toBe('Synced');
  });

  test('ServiceTokens, the SecretSyncs that need them report it, and the others sync', async () => {
    failLists('/apis/keyframe.dev/v1alpha1/servicetokens', 403, 8);
    const { metadata, spec } = secretSync({ name: 'named' });
    const { tokenSecretRef: _, ...bare } = spec;
    harness.cluster.put(syncs, metadata.name, (object) => {
      object['spec'] = { ...bare, tokenRef: { name: 'ci' } };
    });
    await harness.synced();
    await harness.clock.advance(1_000);
    expect(harness.ready('app')?.reason).toBe('Synced');
    expect(harness.ready('named')).toMatchObject({
      reason: 'ClusterUnavailable',
      message: `The API server does not let the controller list ServiceTokens: ${advice}.`,
    });
    await harness.clock.advance(300_000);
    expect(harness.ready('named')?.reason).toBe('ServiceTokenNotFound');
  });

  test('AccessGrants, SecretSyncs that need none sync', async () => {
    failLists('/apis/keyframe.dev/v1alpha1/accessgrants', 403, 100);
    await harness.synced();
    expect(harness.values()).toEqual({ A: 'alpha', B: 'beta' });
    expect(harness.controller.ready()).toBeUndefined();
  });
});

describe('with namespaces to watch', () => {
  test('each is listed separately, and nothing outside of them is requested or changed', async () => {
    harness = new Harness({ watchNamespaces: ['ns', 'second'] });
    const asked: string[] = [];
    for (let list = 0; list < 10; list += 1)
      harness.cluster.before(/^GET .*\/(secrets|secretsyncs)$/, ({ path }) => void asked.push(path));
    harness.cluster.put('/apis/keyframe.dev/v1alpha1/namespaces/outside/secretsyncs', 'app', (object) => {
      object['spec'] = {};
    });
    await harness.synced();
    expect(asked.filter((path) => path.endsWith('/secretsyncs')).sort()).toEqual([
      '/apis/keyframe.dev/v1alpha1/namespaces/ns/secretsyncs',
      '/apis/keyframe.dev/v1alpha1/namespaces/second/secretsyncs',
    ]);
    expect(asked.every((path) => path.includes('/namespaces/'))).toBe(true);
    expect(harness.values()).toEqual({ A: 'alpha', B: 'beta' });
  });
});

describe('many SecretSyncs', () => {
  test('of one environment all follow one change, each with its own write', async () => {
    await harness.synced();
    for (let number = 0; number < 20; number += 1) harness.putSync({ name: `sync-${number}` });
    await harness.calls();
    harness.services.change(prod, { A: 'x' });
    const calls = await harness.calls();
    expect(calls.filter((call) => call.startsWith('PUT'))).toHaveLength(21);
    expect(calls.filter((call) => call.startsWith('PATCH'))).toHaveLength(21);
    for (let number = 0; number < 20; number += 1) expect(harness.values(`sync-${number}`)).toEqual({ A: 'x' });
  });

  test('of one target leave it to the one that has it', async () => {
    await harness.synced();
    harness.putSync({ name: 'second', target: { name: 'app' } });
    await harness.calls();
    expect(harness.ready('second')?.message).toContain('belongs to the SecretSync app');
    expect(harness.ready('app')?.reason).toBe('Synced');
  });
});

test('commits before the first lists are read with them', async () => {
  failLists(collection, 500, 1);
  await harness.synced();
  harness.services.change(prod, { A: 'early' });
  await harness.clock.advance(1000);
  await harness.calls();
  expect(harness.values()).toEqual({ A: 'early' });
});

test('a stop waits for the reconcile in progress and starts no other', async () => {
  await harness.synced();
  const { promise, resolve } = Promise.withResolvers<void>();
  harness.cluster.before(/^PUT/, () => promise);
  harness.services.change(prod, { A: 'x' });
  await settled();
  const stopped = harness.controller.stop();
  harness.services.change(prod, { A: 'y' });
  resolve();
  await stopped;
  expect(harness.values()).toEqual({ A: 'x' });
  expect(harness.status()).toMatchObject({ syncedRevision: 2 });
  expect(harness.cluster.openWatches).toEqual([]);
  expect(harness.services.subscribers).toBe(0);
  expect(harness.cluster.get(`${syncs}/app`)).toBeDefined();
});

describe('of two controllers', () => {
  test('the standby watches and writes nothing, and does everything when it leads', async () => {
    harness.lease.isTaken = true;
    await harness.synced();
    expect(harness.controller.ready()).toBeUndefined();
    harness.services.change(prod, { A: 'x' });
    await harness.clock.advance(60_000);
    expect(await harness.calls()).toEqual([]);
    expect(harness.cluster.openWatches).not.toEqual([]);
    harness.lease.isTaken = false;
    await harness.clock.advance(2_000);
    expect(harness.values()).toEqual({ A: 'x' });
  });

  test('a former leader starts nothing, and reconciles each once when it leads again', async () => {
    await harness.synced();
    harness.putSync({ name: 'second' });
    await harness.calls();
    harness.lease.isTaken = true;
    await harness.clock.advance(2_000);
    harness.services.change(prod, { A: 'x' });
    harness.edit((secret) => {
      secret['data'] = {};
    });
    await harness.clock.advance(60_000);
    expect(await harness.calls()).toEqual([]);
    harness.reconciled.splice(0);
    harness.lease.isTaken = false;
    await harness.clock.advance(2_000);
    expect(harness.reconciled).toEqual(['Synced', 'Synced']);
    expect(harness.values()).toEqual({ A: 'x' });
  });

  test('a write that is not sent before another one leads is never sent', async () => {
    await harness.synced();
    const { promise, resolve } = Promise.withResolvers<void>();
    harness.cluster.beforeAnswer(/^GET .*token/, () => promise);
    harness.services.change(prod, { A: 'x' });
    await settled();
    harness.lease.isTaken = true;
    await harness.clock.advance(2_000);
    resolve();
    expect((await harness.calls()).filter((call) => !call.startsWith('GET'))).toEqual([]);
    expect(harness.values()).toEqual({ A: 'alpha', B: 'beta' });
  });

  test('one that stops releases the Lease after its work has ended, not before', async () => {
    await harness.synced();
    const { promise, resolve } = Promise.withResolvers<void>();
    harness.cluster.before(/^PUT/, () => promise);
    harness.services.change(prod, { A: 'x' });
    await settled();
    const stopped = harness.controller.stop();
    await settled();
    expect(harness.lease.isReleased).toBe(false);
    resolve();
    await stopped;
    expect(harness.lease.isReleased).toBe(true);
    expect(harness.values()).toEqual({ A: 'x' });
  });
});
