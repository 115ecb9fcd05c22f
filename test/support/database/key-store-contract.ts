import { describe, expect, test } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import type { DataKeyRecord, KeyStore } from '../../../src/crypto/key-store.ts';

export interface KeyStoreSubject {
  /** A store that is empty. */
  readonly store: KeyStore;
  /** Makes a project for keys to belong to and answers its id. */
  readonly newProject: () => Promise<string>;
}

/** What crypto relies on of a KeyStore: the one in memory and the one on PostgreSQL both pass it. */
export function keyStoreContract(subject: () => Promise<KeyStoreSubject>): void {
  describe('the contract of a key store', () => {
    test('an instance key is inserted once, and each insertion answers the row that is there', async () => {
      const { store } = await subject();
      const first = wrapped();
      expect(await store.findInstanceKey('check')).toBeUndefined();
      expect(plain(await store.insertInstanceKey('check', first))).toEqual(plain(first));
      expect(plain(await store.insertInstanceKey('check', wrapped()))).toEqual(plain(first));
      expect(plain(await store.findInstanceKey('check'))).toEqual(plain(first));
      expect(await store.findInstanceKey('mac')).toBeUndefined();
    });

    test('two insertions of an instance key at once answer the same row', async () => {
      const { store } = await subject();
      const [a, b] = await Promise.all([
        store.insertInstanceKey('mac', wrapped()),
        store.insertInstanceKey('mac', wrapped()),
      ]);
      expect(plain(a)).toEqual(plain(b));
    });

    test('a data key is found by its project while it is active and by its id for ever', async () => {
      const { store, newProject } = await subject();
      const [project, other] = [await newProject(), await newProject()];
      const [first, second] = [dataKey(project), dataKey(project)];
      expect(await store.hasDataKeys()).toBe(false);
      expect(await store.findActiveDataKey(project)).toBeUndefined();
      expect(plain(await store.replaceDataKey(project, first, undefined))).toEqual(plain(first));
      expect(await store.hasDataKeys()).toBe(true);
      expect(plain(await store.findActiveDataKey(project))).toEqual(plain(first));
      expect(plain(await store.replaceDataKey(project, second, first.id))).toEqual(plain(second));
      expect(plain(await store.findActiveDataKey(project))).toEqual(plain(second));
      expect(await store.findActiveDataKey(other)).toBeUndefined();
      const found = await store.findDataKeys([first.id, randomUUID(), second.id]);
      expect(new Set(found.map((key) => key.id))).toEqual(new Set([first.id, second.id]));
      expect(await store.findDataKeys([])).toEqual([]);
    });

    test('uses are added to an active key only, and each reservation answers its own total', async () => {
      const { store, newProject } = await subject();
      const project = await newProject();
      const [first, second] = [dataKey(project), dataKey(project)];
      await store.replaceDataKey(project, first, undefined);
      const totals = await Promise.all([1, 2, 3, 4].map(() => store.reserveUses(first.id, 1024)));
      expect(new Set(totals)).toEqual(new Set([1024n, 2048n, 3072n, 4096n]));
      await store.replaceDataKey(project, second, first.id);
      expect(await store.reserveUses(first.id, 1)).toBeUndefined();
      expect(await store.reserveUses(randomUUID(), 1)).toBeUndefined();
      expect(await store.reserveUses(second.id, 7)).toBe(7n);
    });

    test('of replicas that replace the same key at once, one makes the new key and all get it', async () => {
      const { store, newProject } = await subject();
      const project = await newProject();
      const replaceAtOnce = async (replaces: string | undefined): Promise<string> => {
        const keys = await Promise.all([1, 2, 3].map(() => store.replaceDataKey(project, dataKey(project), replaces)));
        const ids = new Set(keys.map((key) => key.id));
        expect(ids.size).toBe(1);
        return keys[0]?.id ?? '';
      };
      const first = await replaceAtOnce(undefined);
      const second = await replaceAtOnce(first);
      expect(second).not.toBe(first);
      expect((await store.findActiveDataKey(project))?.id).toBe(second);
      // A replica that comes late, with a key retired long ago, gets the active one as well.
      expect((await store.replaceDataKey(project, dataKey(project), first)).id).toBe(second);
    });
  });
}

function wrapped(): { wrappedKey: Uint8Array; rootKeyId: string } {
  return { wrappedKey: new Uint8Array(randomBytes(61)), rootKeyId: 'root-1' };
}

function dataKey(projectId: string): DataKeyRecord {
  return { id: randomUUID(), projectId, ...wrapped() };
}

/** Comparable whatever kind of byte array a driver answers. */
function plain(key: { wrappedKey: Uint8Array } | undefined): unknown {
  return key === undefined ? undefined : { ...key, wrappedKey: Buffer.from(key.wrappedKey).toString('hex') };
}
