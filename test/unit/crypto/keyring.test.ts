import { beforeEach, describe, expect, test } from '@jest/globals';
import { gcm } from '@noble/ciphers/aes.js';
import * as fc from 'fast-check';
import { randomBytes, randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import type { DataKeyRecord } from '../../../src/crypto/key-store.ts';
import { type Binding, Keyring } from '../../../src/crypto/keyring.ts';
import { RootKeys } from '../../../src/crypto/root-keys.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { MemoryKeyStore } from '../../support/database/memory-key-store.ts';

const rootKeys = RootKeys.parse(`k:${randomBytes(32).toString('base64')}`);
let store: MemoryKeyStore;
let keyring: Keyring;

beforeEach(async () => {
  store = new MemoryKeyStore();
  keyring = new Keyring({ rootKeys, store });
  await keyring.open();
});

function bindingOf(projectId: string = randomUUID()): Binding {
  return { organizationId: randomUUID(), projectId, environmentId: randomUUID(), secretId: randomUUID() };
}

async function sealOne(binding: Binding, value: string): Promise<{ ciphertext: Buffer; dataKeyId: string }> {
  return (await keyring.sealer(binding.projectId, 1)).seal(binding, new Plaintext(value));
}

describe('a sealed value', () => {
  test('opens again, whatever Unicode it is, on this replica and on another', async () => {
    const binding = bindingOf();
    const other = new Keyring({ rootKeys, store });
    await other.open();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (value) => {
        const sealed = await sealOne(binding, value);
        for (const replica of [keyring, other]) {
          expect((await replica.opener([sealed.dataKeyId])).open(binding, sealed).reveal()).toBe(value);
        }
      }),
      { examples: [[''], ['\ufeffwith a byte order mark'], ['nul \0 and 🔑 \u{10ffff}']] },
    );
  });

  test('comes with its data key, its MAC and its length in UTF-8', async () => {
    const binding = bindingOf();
    const sealed = (await keyring.sealer(binding.projectId, 1)).seal(binding, new Plaintext('schlüssel 🔑'));
    expect(sealed.dataKeyId).toBe(store.dataKeys[0]?.record.id);
    expect(sealed.valueMac).toEqual(keyring.mac(binding.secretId, 'schlüssel 🔑'));
    expect(sealed.valueBytes).toBe(15);
    expect(sealed.ciphertext.length).toBe(15 + 29);
  });

  test('is AES-256-GCM under the data key, which is AES-256-GCM under the root key, to an independent reader', async () => {
    const rootKey = randomBytes(32);
    keyring = new Keyring({
      rootKeys: RootKeys.parse(`r:${rootKey.toString('base64')}`),
      store: (store = new MemoryKeyStore()),
    });
    await keyring.open();
    const binding = bindingOf();
    const { ciphertext } = await sealOne(binding, 'read by another');
    const record = onlyDataKey();
    const uuids = [binding.organizationId, binding.projectId, binding.environmentId, binding.secretId];
    const dataKey = independentOpen(
      rootKey,
      record.wrappedKey,
      Buffer.from(`data-key:${binding.projectId}:${record.id}`),
    );
    const aad = Buffer.from(uuids.join('').replaceAll('-', ''), 'hex');
    expect(aad.length).toBe(64);
    expect(Buffer.from(independentOpen(dataKey, ciphertext, aad)).toString()).toBe('read by another');
  });

  test('does not open at another place: organization, project, environment or secret', async () => {
    const binding = bindingOf();
    const sealed = await sealOne(binding, 'v');
    const opener = await keyring.opener([sealed.dataKeyId]);
    for (const part of ['organizationId', 'projectId', 'environmentId', 'secretId'] as const) {
      const moved = { ...binding, [part]: randomUUID() };
      // The right place in between: what is kept of it must not open the wrong one.
      expect(opener.open(binding, sealed).reveal()).toBe('v');
      expect(() => opener.open(moved, sealed)).toThrow(`secret ${moved.secretId} cannot be decrypted`);
    }
    const exchanged = { ...binding, environmentId: binding.secretId, secretId: binding.environmentId };
    expect(() => opener.open(exchanged, sealed)).toThrow('cannot be decrypted');
    expect(opener.open(binding, sealed).reveal()).toBe('v');
  });

  test('does not open when it was exchanged with that of another secret', async () => {
    const one = bindingOf();
    const neighbour = { ...one, secretId: randomUUID() };
    const sealer = await keyring.sealer(one.projectId, 2);
    const [a, b] = [sealer.seal(one, new Plaintext('a')), sealer.seal(neighbour, new Plaintext('b'))];
    const opener = await keyring.opener([a.dataKeyId]);
    expect(() => opener.open(one, b)).toThrow('cannot be decrypted');
    expect(() => opener.open(neighbour, a)).toThrow('cannot be decrypted');
  });

  test('does not open with any byte flipped, as an internal error with a reason for the log', async () => {
    const binding = bindingOf();
    const sealed = await sealOne(binding, 'value');
    const opener = await keyring.opener([sealed.dataKeyId]);
    for (let index = 0; index < sealed.ciphertext.length; index += 1) {
      const ciphertext = Buffer.from(sealed.ciphertext);
      ciphertext[index] = (ciphertext[index] ?? 0) ^ 0x80;
      expect(() => opener.open(binding, { ...sealed, ciphertext })).toThrow(
        expect.objectContaining({ code: 'internal', cause: expect.objectContaining({ name: 'DecryptionError' }) }),
      );
    }
  });

  test('does not open under the data key of another project', async () => {
    const [one, two] = [bindingOf(), bindingOf()];
    const [a, b] = [await sealOne(one, 'a'), await sealOne(two, 'b')];
    expect(a.dataKeyId).not.toBe(b.dataKeyId);
    const opener = await keyring.opener([a.dataKeyId, b.dataKeyId]);
    expect(() => opener.open(one, { ...a, dataKeyId: b.dataKeyId })).toThrow('cannot be decrypted');
  });
});

describe('a sealer', () => {
  test('seals as many values as it was made for and no more', async () => {
    const binding = bindingOf();
    const sealer = await keyring.sealer(binding.projectId, 2);
    sealer.seal(binding, new Plaintext('1'));
    sealer.seal(binding, new Plaintext('2'));
    expect(() => sealer.seal(binding, new Plaintext('3'))).toThrow('for 2 values');
  });

  test('for no values needs no data key', async () => {
    const binding = bindingOf();
    const sealer = await keyring.sealer(binding.projectId, 0);
    expect(() => sealer.seal(binding, new Plaintext('1'))).toThrow('for 0 values');
    expect(store.dataKeys).toEqual([]);
  });

  test('refuses a binding to another project, or with an id that is no UUID', async () => {
    const binding = bindingOf();
    const sealer = await keyring.sealer(binding.projectId, 1);
    expect(() => sealer.seal(bindingOf(), new Plaintext('1'))).toThrow('another project');
    expect(() => sealer.seal({ ...binding, secretId: 'no uuid' }, new Plaintext('1'))).toThrow('not a UUID');
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 28 + 1])('for %p values is refused', async (count) => {
    await expect(keyring.sealer(randomUUID(), count)).rejects.toThrow('uses of a data key');
    expect(store.dataKeys).toEqual([]);
  });
});

describe('an opener', () => {
  test('asks the store once for all keys it lacks, and not again', async () => {
    const ids = await Promise.all([1, 2, 3].map(async () => (await sealOne(bindingOf(), 'v')).dataKeyId));
    keyring = new Keyring({ rootKeys, store });
    await keyring.open();
    store.calls.length = 0;
    await keyring.opener([...ids, ...ids]);
    expect(store.calls).toEqual(['findDataKeys']);
    await keyring.opener(ids);
    await keyring.opener([]);
    expect(store.calls).toEqual(['findDataKeys']);
  });

  test('says which data key is not in the database', async () => {
    const id = randomUUID();
    await expect(keyring.opener([id])).rejects.toMatchObject({
      code: 'key_unavailable',
      detail: expect.stringContaining(id),
    });
  });

  test('refuses a value under a data key it was not made for', async () => {
    const binding = bindingOf();
    const sealed = await sealOne(binding, 'v');
    const opener = await keyring.opener([]);
    expect(() => opener.open(binding, sealed)).toThrow('other data keys');
  });

  test('refuses a data key that was moved to another project or id, or altered', async () => {
    const { dataKeyId } = await sealOne(bindingOf(), 'v');
    const stored = onlyDataKey();
    const moved = [
      { ...stored, projectId: randomUUID() },
      {
        ...stored,
        wrappedKey: Buffer.concat([stored.wrappedKey.subarray(0, -1), Buffer.of((stored.wrappedKey.at(-1) ?? 0) ^ 1)]),
      },
      { ...stored, id: randomUUID() },
    ];
    for (const record of moved) {
      store.dataKeys.splice(0, 1, { record, usesReserved: 0n, retired: false });
      const fresh = new Keyring({ rootKeys, store });
      await fresh.open();
      const refused = fresh.opener([record.id]);
      await expect(refused).rejects.toMatchObject({
        code: 'key_unavailable',
        detail: expect.stringMatching(/^Root key "k" does not/),
      });
    }
    expect(dataKeyId).toBe(stored.id);
  });
});

test('nothing prints a value or a key: neither an opened value nor what holds the keys', async () => {
  const binding = bindingOf();
  const canary = `canary-${randomUUID()}`;
  const sealer = await keyring.sealer(binding.projectId, 1);
  const sealed = sealer.seal(binding, new Plaintext(canary));
  const opener = await keyring.opener([sealed.dataKeyId]);
  const value = opener.open(binding, sealed);
  expect(value.reveal()).toBe(canary);
  const objects = {
    value,
    list: [value],
    map: new Map([['k', value]]),
    error: new Error('e', { cause: value }),
    sealer,
    opener,
    sealed,
    keyring,
  };
  const printed = [
    String(value),
    `${JSON.stringify(objects)} ${JSON.stringify([value])}`,
    inspect(objects, { depth: 9, showHidden: true, showProxy: true, getters: true }),
    JSON.stringify(Object.assign({}, value)) + JSON.stringify(structuredClone(Object.assign({}, value))),
  ];
  for (const text of printed) {
    expect(text).not.toContain(canary);
    expect(text).not.toContain(Buffer.from(canary).toString('base64').slice(0, 40));
  }
  expect(printed[0]).toBe('[redacted]');
  // The control: where a value is revealed, the same search finds it.
  expect(inspect({ leak: value.reveal() })).toContain(canary);
});

function onlyDataKey(): DataKeyRecord {
  const [only, ...others] = store.dataKeys;
  if (only === undefined || others.length > 0) throw new Error('there is not exactly one data key');
  return only.record;
}

function independentOpen(key: Uint8Array, sealed: Uint8Array, aad: Uint8Array): Uint8Array {
  const [nonce, tag, ciphertext] = [sealed.subarray(1, 13), sealed.subarray(13, 29), sealed.subarray(29)];
  return gcm(key, nonce, Buffer.concat([Buffer.of(1), aad])).decrypt(Buffer.concat([ciphertext, tag]));
}

test('two installations give one value different MACs and clusters different fingerprint keys, though they share the root key', async () => {
  const other = new Keyring({ rootKeys, store: new MemoryKeyStore() });
  await other.open();
  const { secretId } = bindingOf();
  expect(other.mac(secretId, 'value')).not.toEqual(keyring.mac(secretId, 'value'));
  expect(other.fingerprintKeyFor('prod').equals(keyring.fingerprintKeyFor('prod'))).toBe(false);
});

test('a cluster has a fingerprint key that no other cluster has, and that stays the same on each replica', async () => {
  const replica = new Keyring({ rootKeys, store });
  await replica.open();
  const prod = keyring.fingerprintKeyFor('prod');
  expect(replica.fingerprintKeyFor('prod').equals(prod)).toBe(true);
  for (const name of ['', 'Prod', 'prod ', 'prod2']) {
    expect(keyring.fingerprintKeyFor(name).equals(prod)).toBe(false);
  }
});
