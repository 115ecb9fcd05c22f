import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { SecretSyncSpec } from '../../../src/controller/generated/secret-sync.ts';
import { Harness, prod } from './controller-harness.ts';
import { PinHarness } from './pin-harness.ts';
import { markOf, rolledBack, rolloutSpec, good, bad } from './rollback-harness.ts';
import { formatRolledBack } from '../../../src/controller/kinds/secret-sync/rollback/rolled-back.ts';
import { SourceHarness, sourceOf } from './source-harness.ts';

/** Keys that are hidden or rewritten, in whole reconciles. */

let harness: Harness;

beforeEach(() => {
  harness = new Harness();
});

afterEach(() => harness.controller.stop());

const login = { DB_USER: 'me', DB_PASSWORD: 'p@ss', MODE: 'on' };
const URL = 'db://$(DB_USER):$(DB_PASSWORD | urlencode)@db';
const hiding = { keys: { hidden: ['DB_*'] }, template: { data: { URL } } };

async function synced(spec: Partial<SecretSyncSpec>, values: Record<string, string> = login): Promise<void> {
  await harness.synced({ spec: { ...spec, maxDeletedKeys: '100%' } });
  harness.services.change(prod, values);
  await harness.calls();
  await put(spec);
}

async function put(spec: Partial<SecretSyncSpec>): Promise<void> {
  harness.putSync({ spec: { maxDeletedKeys: 0, ...spec } });
  await harness.calls();
}

const writes = async (): Promise<string[]> => (await harness.calls()).filter((call) => call.startsWith('PUT'));

describe('a hidden key', () => {
  test('is used by templates and not written, counted or recorded', async () => {
    await synced({ ...hiding, keys: { ...hiding.keys, rename: [{ from: 'MODE', to: 'mode' }] } });
    expect(harness.values()).toEqual({ mode: 'on', URL: 'db://me:p%40ss@db' });
    expect(harness.status()).toMatchObject({ secretCount: 2 });
    expect(harness.ready()?.message).toBe('Secret app holds revision 2 with 2 keys.');
    expect(harness.target()?.metadata.annotations).toMatchObject({ 'keyframe.dev/renamed': '{"mode":"MODE"}' });
    expect(JSON.stringify(harness.target()?.metadata)).not.toContain('DB_');
  });

  test('changes the Secret only by what is composed of it', async () => {
    await synced({ keys: { hidden: ['DB_*'] }, template: { data: { USER: '$(DB_USER)' } } });
    harness.services.change(prod, { ...login, DB_PASSWORD: 'other' });
    expect(await writes()).toEqual([]);
    expect(harness.status()).toMatchObject({ syncedRevision: 3 });
    harness.services.change(prod, { ...login, DB_USER: 'other' });
    expect(await writes()).toHaveLength(1);
    expect(harness.values()).toEqual({ MODE: 'on', USER: 'other' });
  });

  test('is no lost key, whatever limit there is; one that the environment loses is', async () => {
    await synced({});
    expect(harness.values()).toEqual(login);
    await put(hiding);
    expect(harness.values()).toEqual({ MODE: 'on', URL: 'db://me:p%40ss@db' });
    await put({});
    expect(harness.values()).toEqual(login);
    harness.services.change(prod, { DB_USER: 'me', MODE: 'on' });
    await harness.calls();
    await put({ keys: { hidden: ['*'] } });
    expect(harness.ready()?.reason).toBe('DeletionBlocked');
    expect(harness.ready()?.message).toContain('lost 1 of the 3 keys of Secret app at once (DB_PASSWORD)');
    harness.services.change(prod, login);
    await harness.calls();
    expect(harness.values()).toEqual({});
  });

  test('that the environment lacks is missing to a template', async () => {
    await synced(hiding);
    harness.services.change(prod, { DB_USER: 'me', MODE: 'on' });
    expect(await writes()).toEqual([]);
    expect(harness.ready()).toMatchObject({ reason: 'TemplateKeyMissing' });
    expect(harness.ready()?.message).toContain('from the environment: DB_PASSWORD.');
  });

  test('does not serve a type of Secret', async () => {
    await harness.synced({
      spec: { keys: { rename: [{ from: 'A', to: 'ssh-privatekey' }], hidden: ['A'] } },
      target: { type: 'kubernetes.io/ssh-auth' },
    });
    expect(harness.ready()).toMatchObject({ reason: 'TypeUnmet' });
    expect(harness.target()).toBeUndefined();
  });

  test('that no template uses is not read, so its value may be anything', async () => {
    const keys = { hidden: ['DB_*'], decodeBase64: ['DB_PASSWORD'] };
    await synced({ keys, template: { data: { USER: '$(DB_USER)' } } });
    expect(harness.ready()?.reason).toBe('Synced');
    expect(harness.services.reads.at(-1)?.keys).toEqual(['MODE', 'DB_USER']);
    await put({ keys, template: { data: { USER: '$(DB_USER)$(DB_PASSWORD)' } } });
    expect(harness.ready()).toMatchObject({ reason: 'NotBase64' });
    expect(harness.services.reads.at(-1)?.keys).toEqual(['MODE', 'DB_USER', 'DB_PASSWORD']);
  });

  test('that matches nothing is named in the message', async () => {
    await synced({ keys: { hidden: ['DB_PASSWROD', 'DB_*', 'MODE?'], rewrite: { stripPrefix: 'APP_' } } });
    expect(harness.ready()?.message).toBe(
      'Secret app holds revision 2 with 1 key. spec.keys.hidden names keys that the environment does not have: ' +
        'DB_PASSWROD, MODE?. spec.keys.rewrite.stripPrefix names a beginning that no key of the environment has: APP_.',
    );
  });

  test('is hidden or not as the source says that provides it', async () => {
    await harness.controller.stop();
    const sources = new SourceHarness();
    harness = sources;
    const template = { data: { T: '$(B)$(C)' } };
    await sources.syncedWith([sourceOf('shared', { keys: { hidden: ['B', 'C'] } }), sourceOf('own')], { template });
    expect(sources.values()).toEqual({ A: 'shared a', B: 'own b', D: 'own d', T: 'own bshared c' });
    sources.put([sourceOf('shared'), sourceOf('own', { keys: { hidden: ['B'] } })], { template });
    await sources.calls();
    expect(sources.values()).toEqual({ A: 'shared a', C: 'shared c', D: 'own d', T: 'own bshared c' });
  });
});

describe('a pin or a rollback', () => {
  test('needs the values of hidden keys that the template uses, and no others', async () => {
    await harness.controller.stop();
    const pinned = new PinHarness();
    harness = pinned;
    await pinned.syncedWith({ revision: 2, keys: { hidden: ['B', 'C'] }, template: { data: { T: '$(C)' } } });
    const before = pinned.values();
    pinned.services.destroy(prod, 2, ['B']);
    await pinned.calls();
    expect(pinned.ready()?.reason).toBe('Synced');
    expect(pinned.values()).toEqual(before);
    pinned.services.destroy(prod, 2, ['C']);
    await pinned.calls();
    expect(pinned.ready()).toMatchObject({ reason: 'VersionDestroyed' });
    expect(pinned.values()).toEqual(before);
  });

  test('takes what is hidden and composed back together', async () => {
    const shape = { keys: { hidden: ['B'], rewrite: { addPrefix: 'x' } }, template: { data: { T: '<$(xB)$(xA)>' } } };
    const spec = { ...rolloutSpec('Rollback'), ...shape };
    await harness.synced({ spec });
    const former = { xA: good.A, T: `<${good.B}${good.A}>` };
    expect(harness.values()).toEqual(former);
    await harness.controller.stop();
    harness.services.change(prod, { ...bad, B: 'bad too' });
    const recorded = rolledBack({
      data: markOf({ xA: bad.A, xC: bad.C, T: `<bad too${bad.A}>` }),
      held: { data: markOf(former), sources: [{ revision: 1, revisionId: 'env-r1' }] },
    });
    harness.edit((secret) => {
      secret['data'] = { T: 'eA==' };
      secret.metadata.annotations = {
        ...secret.metadata.annotations,
        'keyframe.dev/rolled-back': formatRolledBack(recorded),
      };
    });
    harness = new Harness(harness);
    await harness.start();
    await harness.calls();
    expect(harness.ready()?.reason).toBe('RolledBack');
    expect(harness.values()).toEqual(former);
  });
});

describe('a rewrite', () => {
  const keys = { rewrite: { stripPrefix: 'DB_', addPrefix: 'X_' }, rename: [{ from: 'MODE', to: 'mode' }] };

  test('renames all keys that no rule names, which is no loss, and back', async () => {
    await synced({});
    await put({ keys, template: { data: { T: '$(X_USER)$(mode)' } } });
    expect(harness.values()).toEqual({ X_USER: 'me', X_PASSWORD: 'p@ss', mode: 'on', T: 'meon' });
    await put({ keys: { rewrite: { stripPrefix: 'DB_' } } });
    expect(harness.values()).toEqual({ USER: 'me', PASSWORD: 'p@ss', MODE: 'on' });
    await harness.controller.stop();
    // A new controller recognizes the keys by the record.
    harness = new Harness(harness);
    await put({});
    await harness.start();
    await harness.calls();
    expect(harness.values()).toEqual(login);
  });

  test('of a key that the environment lost does not hide the loss', async () => {
    await synced({ keys });
    harness.services.change(prod, { DB_USER: 'me', MODE: 'on' });
    await harness.calls();
    expect(harness.ready()?.reason).toBe('DeletionBlocked');
    expect(harness.ready()?.message).toContain('(X_PASSWORD)');
  });

  test('of two keys to one name, or to a name that is none, writes nothing until it can', async () => {
    await synced({ keys });
    const before = harness.values();
    harness.services.change(prod, { ...login, USER: 'x' });
    await harness.calls();
    expect(harness.ready()).toMatchObject({ status: 'False', reason: 'KeyConflict' });
    await put({ keys: { rewrite: { stripPrefix: 'DB_' }, exclude: ['USER'] } });
    harness.services.change(prod, { ...login, DB_: 'x' });
    await harness.calls();
    expect(harness.ready()).toMatchObject({ status: 'False', reason: 'KeyInvalid' });
    expect(harness.ready()?.message).toContain('the key DB_ gets a name that no Secret can have');
    await put({ keys });
    expect(harness.values()).toEqual({ ...before, X_: 'x' });
  });
});
