import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Harness, prod, secrets } from './controller-harness.ts';

let harness: Harness;
const whole = { A: '1', B: '2', C: '3', D: '4' };

beforeEach(() => {
  harness = new Harness();
});

afterEach(() => harness.controller.stop());

async function synced(options: Parameters<Harness['synced']>[0] = {}): Promise<void> {
  await harness.synced(options);
  harness.services.change(prod, whole);
  await harness.calls();
}

function annotate(annotation: string, value: string): void {
  harness.cluster.put('/apis/keyframe.dev/v1alpha1/namespaces/ns/secretsyncs', 'app', ({ metadata }) => {
    metadata.annotations = { ...metadata.annotations, [annotation]: value };
  });
}

const digest = (): string => /allow-deletion=([0-9a-f]{32})/.exec(harness.ready()?.message ?? '')?.[1] ?? '';

describe('an environment that loses most of its keys', () => {
  test('writes nothing until the annotation names just these keys', async () => {
    await synced();
    harness.services.change(prod, { A: 'new' });
    expect((await harness.calls()).filter((call) => call.startsWith('PUT'))).toEqual([]);
    expect(harness.ready()).toMatchObject({ status: 'False', reason: 'DeletionBlocked' });
    expect(harness.status()).toMatchObject({ wantedRevision: 3, syncedRevision: 2 });
    annotate('keyframe.dev/allow-deletion', 'wrong');
    await harness.calls();
    expect(harness.values()).toEqual(whole);
    annotate('keyframe.dev/allow-deletion', digest());
    await harness.calls();
    expect(harness.values()).toEqual({ A: 'new' });
    expect(harness.ready()?.reason).toBe('Synced');
  });

  test('writes again when the keys come back', async () => {
    await synced();
    harness.services.change(prod, {});
    await harness.calls();
    expect(harness.ready()?.reason).toBe('DeletionBlocked');
    harness.services.change(prod, { ...whole, E: '5' });
    await harness.calls();
    expect(harness.values()).toEqual({ ...whole, E: '5' });
  });

  test('is remembered by the Secret itself, whatever controller asks', async () => {
    await synced();
    await harness.controller.stop();
    harness.services.change(prod, {});
    const again = new Harness(harness);
    await again.start();
    await again.calls();
    expect(again.values()).toEqual(whole);
    expect(again.ready()?.reason).toBe('DeletionBlocked');
    await again.controller.stop();
  });

  test('is no loss where the spec took the keys away, or renamed them', async () => {
    await synced();
    harness.putSync({ spec: { keys: { include: ['A', 'B'], rename: [{ from: 'B', to: 'b' }] } } });
    await harness.calls();
    expect(harness.values()).toEqual({ A: '1', b: '2' });
    harness.putSync({ spec: { keys: { include: [] } } });
    await harness.calls();
    expect(harness.values()).toEqual({});
    expect(harness.ready()).toMatchObject({ reason: 'Synced' });
  });

  test('costs one comparison nothing, while it waits', async () => {
    await synced();
    harness.services.change(prod, {});
    await harness.calls();
    harness.services.ready();
    expect(await harness.calls()).toEqual([]);
  });
});

describe('another environment of the same slugs', () => {
  test('writes nothing, until the annotation of the first is taken off the Secret', async () => {
    await synced();
    harness.services.create(prod, 'env2', { ...whole, A: 'other' });
    harness.services.notify({ kind: 'environment', environmentId: 'env', revisionId: 'gone' });
    await harness.calls();
    expect(harness.values()).toEqual(whole);
    expect(harness.ready()).toMatchObject({ status: 'False', reason: 'SourceReplaced' });
    harness.edit(({ metadata }) => {
      const { 'keyframe.dev/source': _, ...others } = metadata.annotations ?? {};
      metadata.annotations = others;
    });
    await harness.calls();
    expect(harness.values()).toEqual({ ...whole, A: 'other' });
    expect(harness.target()?.metadata.annotations).toMatchObject({ 'keyframe.dev/source': 'acme/web/prod@env2' });
  });
});

describe('a Secret that is offered', () => {
  test('is taken over, with all its data replaced and its metadata kept', async () => {
    harness.edit((secret) => {
      secret['data'] = { X: 'eQ==', Y: 'eQ==', Z: 'eQ==' };
      secret['type'] = 'Opaque';
      secret.metadata.labels = { theirs: 'x' };
    });
    await harness.synced();
    expect(harness.ready()?.reason).toBe('TargetNotOwned');
    expect(harness.ready()?.message).toContain(
      'run `kubectl annotate --overwrite secret -n ns app keyframe.dev/allow-adoption=app`.',
    );
    const offer = (name: string): void =>
      harness.edit(({ metadata }) => {
        metadata.annotations = { 'keyframe.dev/allow-adoption': name };
      });
    offer('other');
    await harness.calls();
    expect(harness.ready()?.reason).toBe('TargetNotOwned');
    offer('app');
    await harness.calls();
    expect(harness.values()).toEqual({ A: 'alpha', B: 'beta' });
    expect(harness.target()?.metadata).toMatchObject({
      labels: { theirs: 'x', 'keyframe.dev/target': 'true' },
      annotations: { 'keyframe.dev/owned-by': 'app' },
    });
    expect(await harness.calls()).toEqual([]);
    expect(harness.cluster.openWatches).not.toContain(`${secrets}?metadata.name=app`);
  });

  test("and is a ServiceToken's own is left alone all the same", async () => {
    harness.edit((secret) => {
      secret['data'] = { token: 'eQ==' };
      secret.metadata.labels = { 'keyframe.dev/token': 'true' };
      secret.metadata.annotations = { 'keyframe.dev/allow-adoption': 'app' };
    });
    await harness.synced();
    expect(harness.ready()).toMatchObject({ reason: 'TargetNotOwned' });
    expect(harness.ready()?.message).toContain('belongs to a ServiceToken');
    expect(harness.values()).toEqual({ token: 'y' });
  });
});

test('a new value of the annotation reconcile-at looks at everything once', async () => {
  await synced();
  annotate('keyframe.dev/reconcile-at', 'now');
  expect(await harness.calls()).toEqual([`GET ${secrets}/app`, `GET ${secrets}/token`]);
  annotate('keyframe.dev/other', 'x');
  expect(await harness.calls()).toEqual([]);
});

test('a value that is not base64, and keys that end at one name, write nothing and name the keys', async () => {
  await harness.synced({ spec: { keys: { decodeBase64: ['A'] } } });
  expect(harness.ready()).toMatchObject({ status: 'False', reason: 'NotBase64' });
  expect(harness.ready()?.message).toContain('The value of A is not base64');
  expect(harness.target()).toBeUndefined();
  harness.putSync({ spec: { keys: { rename: [{ from: 'A', to: 'B' }] } } });
  await harness.calls();
  expect(harness.ready()).toMatchObject({ status: 'False', reason: 'KeyConflict' });
  expect(harness.status().conditions?.find(({ type }) => type === 'Stalled')?.status).toBe('True');
  harness.services.change(prod, { A: 'YWI=' });
  await harness.calls();
  expect(harness.values()).toEqual({ B: 'YWI=' });
});
