import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { SecretSyncSpec } from '../../../src/controller/generated/secret-sync.ts';
import { Harness, prod, shortestChange } from './controller-harness.ts';

let harness: Harness;
const URL = 'postgresql://$(USER):$(PASSWORD)@$(HOST | default "db")/app';
const login = { USER: 'app', PASSWORD: 'one' };

beforeEach(() => {
  harness = new Harness();
});

afterEach(() => harness.controller.stop());

async function synced(spec: Partial<SecretSyncSpec> = {}): Promise<void> {
  await harness.synced({ spec: { template: { data: { URL } }, ...spec } });
  harness.services.change(prod, login);
  await harness.calls();
}

function annotations(): Record<string, string> | undefined {
  return harness.target()?.metadata.annotations;
}

test('a composed value follows the values that it is made of, in one write, and is put right', async () => {
  await synced();
  expect(harness.values()).toEqual({ ...login, URL: 'postgresql://app:one@db/app' });
  expect(harness.status()).toMatchObject({ secretCount: 3 });
  expect(annotations()).toMatchObject({ 'keyframe.dev/composed': '["URL"]' });
  harness.services.change(prod, { ...login, PASSWORD: 'two' });
  expect(await harness.calls()).toEqual(shortestChange);
  expect(harness.values()).toMatchObject({ URL: 'postgresql://app:two@db/app' });
  harness.edit((secret) => {
    secret['data'] = { ...(secret['data'] as object), URL: 'eA==' };
  });
  await harness.calls();
  expect(harness.values()).toMatchObject({ URL: 'postgresql://app:two@db/app' });
  expect(await harness.calls()).toEqual([]);
});

test('a change of the template alone is written', async () => {
  await synced();
  harness.putSync({ spec: { template: { data: { URL: '$(USER)' } } } });
  await harness.calls();
  expect(harness.values()).toEqual({ ...login, URL: 'app' });
});

test('references go by the names that keys have in the Secret, and a composed key is as good as any to a type', async () => {
  await harness.synced({
    spec: {
      keys: { include: ['A'], rename: [{ from: 'A', to: 'user' }] },
      template: { data: { 'ssh-privatekey': '$(user)\n' } },
    },
    target: { type: 'kubernetes.io/ssh-auth' },
  });
  expect(harness.values()).toEqual({ user: 'alpha', 'ssh-privatekey': 'alpha\n' });
  harness.putSync({
    spec: { keys: { include: ['A'], rename: [{ from: 'A', to: 'user' }] }, template: { data: { x: '$(A)' } } },
    target: { type: 'kubernetes.io/ssh-auth' },
  });
  await harness.calls();
  expect(harness.ready()).toMatchObject({ status: 'False', reason: 'TemplateKeyMissing' });
});

test('a key that is missing leaves all as it is until the environment has it', async () => {
  await synced({ maxDeletedKeys: '100%' });
  const before = harness.values();
  harness.services.change(prod, { USER: 'other', HOST: 'h' });
  expect((await harness.calls()).filter((call) => call.startsWith('PUT'))).toEqual([]);
  expect(harness.ready()).toMatchObject({ status: 'False', reason: 'TemplateKeyMissing' });
  expect(harness.ready()?.message).toContain('The template of URL refers to keys that the Secret does not get');
  expect(harness.ready()?.message).toContain('PASSWORD');
  const condition = (type: string): string | undefined =>
    harness.status().conditions?.find((each) => each.type === type)?.status;
  expect([condition('Reconciling'), condition('Stalled')]).toEqual(['False', 'True']);
  expect(harness.values()).toEqual(before);
  // While it is stalled, a comparison costs nothing.
  harness.services.ready();
  expect(await harness.calls()).toEqual([]);
  harness.services.change(prod, { USER: 'other', PASSWORD: 'new', HOST: 'h' });
  await harness.calls();
  expect(harness.values()).toMatchObject({ URL: 'postgresql://other:new@h/app' });
});

test('a template that the API server let pass although it is none stalls, and nothing is written', async () => {
  await harness.synced({ spec: { template: { data: { URL: '$(A | upper)' } } } });
  expect(harness.ready()).toMatchObject({ status: 'False', reason: 'TemplateInvalid' });
  expect(harness.status().conditions?.find(({ type }) => type === 'Stalled')?.status).toBe('True');
  expect(harness.target()).toBeUndefined();
});

test('a value that is not text stands in no template, and a name that the environment has is no template', async () => {
  const keys = { decodeBase64: ['KEYSTORE'] };
  await synced({ keys });
  harness.services.change(prod, { ...login, KEYSTORE: '/wD+' });
  harness.putSync({ spec: { keys, template: { data: { T: '$(KEYSTORE)' } } } });
  await harness.calls();
  expect(harness.ready()).toMatchObject({ status: 'False', reason: 'TemplateValueBinary' });
  harness.putSync({ spec: { keys, template: { data: { T: '$(KEYSTORE | base64)' } } } });
  await harness.calls();
  expect(harness.values()).toMatchObject({ T: '/wD+' });
  harness.putSync({ spec: { keys, template: { data: { USER: 'x' } } } });
  await harness.calls();
  expect(harness.ready()).toMatchObject({ status: 'False', reason: 'KeyConflict' });
  expect(harness.values()).toMatchObject({ T: '/wD+', USER: 'app' });
});

test('keys of the template vanish with it, whatever limit there is, also after a restart; others do not', async () => {
  const data = { T1: '$(USER)', T2: 'x', T3: 'y' };
  await synced({ template: { data }, maxDeletedKeys: 0 });
  expect(Object.keys(harness.values() ?? {}).sort()).toEqual(['PASSWORD', 'T1', 'T2', 'T3', 'USER']);
  await harness.controller.stop();
  const again = new Harness(harness);
  again.putSync({ spec: { maxDeletedKeys: 0 } });
  await again.start();
  await again.calls();
  expect(again.values()).toEqual(login);
  expect(again.target()?.metadata.annotations).not.toHaveProperty('keyframe.dev/composed');
  again.services.change(prod, { USER: 'app' });
  await again.calls();
  expect(again.ready()?.reason).toBe('DeletionBlocked');
  await again.controller.stop();
});

test('a list of composed keys that was spoilt by hand is put right', async () => {
  await synced();
  for (const text of ['no JSON', '{"URL":1}', 'null', '[1,"PASSWORD"]']) {
    harness.edit(({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, 'keyframe.dev/composed': text };
    });
    await harness.calls();
    expect(annotations()).toMatchObject({ 'keyframe.dev/composed': '["URL"]' });
  }
});
