import { beforeEach, describe, expect, test } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { Keyring } from '../../../src/crypto/keyring.ts';
import { RootKeys } from '../../../src/crypto/root-keys.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { MemoryKeyStore } from '../../support/database/memory-key-store.ts';

const [a, b, c] = [1, 2, 3].map(() => randomBytes(32).toString('base64'));
const project = randomUUID();
const secretId = randomUUID();
let store: MemoryKeyStore;

beforeEach(() => {
  store = new MemoryKeyStore();
});

function keyringOf(rootKeys: string): Keyring {
  return new Keyring({ rootKeys: RootKeys.parse(rootKeys), store });
}

async function opened(rootKeys: string): Promise<Keyring> {
  const keyring = keyringOf(rootKeys);
  await keyring.open();
  return keyring;
}

/** Starts with root keys that must not do, and answers what was said; nothing may have been written by it. */
async function refusal(rootKeys: string): Promise<string> {
  const writes = store.writes;
  const error: unknown = await keyringOf(rootKeys)
    .open()
    .then(
      () => 'it started',
      (thrown: unknown) => thrown,
    );
  expect(store.writes).toBe(writes);
  if (!(error instanceof DomainError)) throw error;
  expect(error.code).toBe('key_unavailable');
  return error.detail;
}

describe('a start', () => {
  test('makes the check value and the MAC key in an empty database, and only then', async () => {
    await opened(`k:${a}`);
    expect([...store.instanceKeys.keys()]).toEqual(['check', 'mac']);
    const writes = store.writes;
    await opened(`k:${a}`);
    expect(store.writes).toBe(writes);
  });

  test('gives every process the same MAC key', async () => {
    const macs = (await Promise.all([1, 2, 3].map(() => opened(`k:${a}`)))).map((keyring) =>
      keyring.mac(secretId, 'v'),
    );
    macs.push((await opened(`k:${a}`)).mac(secretId, 'v'));
    expect(new Set(macs.map((mac) => mac.toString('hex'))).size).toBe(1);
  });

  test('with a wrong root key fails, naming it, and writes nothing', async () => {
    await opened(`k:${a}`);
    expect(await refusal(`k:${b}`)).toMatch(/^Root key "k" does not open the stored key instance-key:check/);
  });

  test('with a missing root key fails, naming it, and writes nothing', async () => {
    await opened(`old:${a}`);
    expect(await refusal(`new:${b}`)).toMatch(/^Root key "old" is missing/);
    expect(await refusal(`new:${b}\nother:${a}`)).toMatch(/^Root key "old" is missing/);
  });

  test('with another root key at the same moment in an empty database: one instance is made, the other fails', async () => {
    const starts = await Promise.allSettled([opened(`k:${a}`), opened(`k:${b}`)]);
    expect(starts.map((start) => start.status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const right = starts[0]?.status === 'fulfilled' ? a : b;
    await opened(`k:${right}`);
  });

  test('with a wrong root key, when another replica writes its check value just then, writes no MAC key beside it', async () => {
    const others = RootKeys.parse(`k:${a}`).wrap(randomBytes(32), 'instance-key:check');
    store.afterCall = () => {
      if (store.calls.length === 3) store.instanceKeys.set('check', others);
      return Promise.resolve();
    };
    await expect(opened(`k:${b}`)).rejects.toMatchObject({ code: 'key_unavailable' });
    expect([...store.instanceKeys]).toEqual([['check', others]]);
  });

  test('on a database whose MAC key was altered fails and writes nothing, not even the check of a new root key', async () => {
    await opened(`old:${a}`);
    store.instanceKeys.set('mac', { rootKeyId: 'old', wrappedKey: randomBytes(61) });
    expect(await refusal(`new:${b}\nold:${a}`)).toMatch(
      /^Root key "old" does not open the stored key instance-key:mac/,
    );
  });

  test('on a database that has data keys but lost its check value is refused', async () => {
    await (await opened(`k:${a}`)).sealer(project, 1);
    store.instanceKeys.delete('check');
    expect(await refusal(`k:${a}`)).toContain('no instance key "check"');
    store.instanceKeys.delete('mac');
    expect(await refusal(`k:${a}`)).toContain('no instance key "check"');
  });

  test('on a database that lost only its check value or only its MAC key is refused', async () => {
    await (await opened(`k:${a}`)).sealer(project, 1);
    store.instanceKeys.delete('mac');
    expect(await refusal(`k:${a}`)).toContain('no instance key "mac"');
    store = new MemoryKeyStore();
    await opened(`k:${a}`);
    store.instanceKeys.delete('check');
    expect(await refusal(`k:${a}`)).toContain('no instance key "check"');
  });

  test('goes on where a first start was cut short after the check value', async () => {
    await opened(`k:${a}`);
    store.instanceKeys.delete('mac');
    await opened(`k:${a}`);
    expect([...store.instanceKeys.keys()]).toEqual(['check', 'mac']);
  });

  test('never takes the first start of another replica for a loss', async () => {
    // Between any two reads of this replica the other one writes all that it writes.
    for (const reads of [1, 2, 3]) {
      store = new MemoryKeyStore();
      store.afterCall = async () => {
        if (store.calls.length < reads) return;
        store.afterCall = undefined;
        await (await opened(`k:${a}`)).sealer(project, 1);
      };
      await opened(`k:${a}`);
      expect(store.dataKeys.length).toBe(1);
    }
  });

  test('comes before any use', async () => {
    const keyring = keyringOf(`k:${a}`);
    expect(() => keyring.mac(secretId, 'v')).toThrow('not open');
    expect(() => keyring.fingerprintKeyFor('prod')).toThrow('not open');
    await expect(keyring.sealer(project, 1)).rejects.toThrow('not open');
    await expect(keyring.opener([])).rejects.toThrow('not open');
    expect(store.calls).toEqual([]);
  });
});

describe('a change of the root key', () => {
  test('goes replica by replica: the new key last, then first, and what either wrapped opens for both', async () => {
    const before = await opened(`old:${a}`);
    await before.sealer(project, 1);
    const during = await opened(`old:${a}\nnew:${b}`);
    expect(during.mac(secretId, 'v')).toEqual(before.mac(secretId, 'v'));
    const after = await opened(`new:${b}\nold:${a}`);
    const young = randomUUID();
    await after.sealer(young, 1);
    expect(store.dataKeys.map(({ record }) => record.rootKeyId)).toEqual(['old', 'new']);
    await after.opener(store.dataKeys.map(({ record }) => record.id));
    await during.opener(store.dataKeys.map(({ record }) => record.id));
  });

  test('is stopped where a replica has other bytes under the new id', async () => {
    await opened(`old:${a}`);
    await opened(`new:${b}\nold:${a}`);
    expect(await refusal(`new:${c}\nold:${a}`)).toMatch(
      /^Root key "new" does not open the stored key instance-key:check:new/,
    );
    await opened(`new:${b}\nold:${a}`);
  });

  test('names the old root key when it is taken away too early', async () => {
    await opened(`old:${a}`);
    await opened(`new:${b}\nold:${a}`);
    expect(await refusal(`new:${b}`)).toMatch(/^Root key "old" is missing/);
  });

  test('leaves a data key under a root key that is gone unavailable, and says which', async () => {
    await opened(`old:${a}`);
    await (await opened(`new:${b}\nold:${a}`)).sealer(project, 1);
    const keyring = await opened(`old:${a}`);
    const unavailable = { code: 'key_unavailable', detail: expect.stringMatching(/^Root key "new" is missing/) };
    await expect(keyring.opener([store.dataKeys[0]?.record.id ?? ''])).rejects.toMatchObject(unavailable);
    await expect(keyring.sealer(project, 1)).rejects.toMatchObject(unavailable);
  });
});
