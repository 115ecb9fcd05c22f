import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { DomainError } from '../domain/errors/domain-error.ts';
import { keyBytes } from './aead.ts';
import type { KeyStore } from './key-store.ts';
import type { RootKeys, WrappedKey } from './root-keys.ts';

interface Deps {
  readonly rootKeys: RootKeys;
  readonly store: Pick<KeyStore, 'findInstanceKey' | 'insertInstanceKey' | 'hasDataKeys'>;
}

/**
 * Checks the configured root keys against the key-check value and returns the MAC key of the instance. Creates both if
 * the database is empty, but writes nothing before all stored keys were checked. Throws DomainError key_unavailable if a
 * root key is missing or wrong, or if a database in use has lost one of the two.
 */
export async function openInstanceKeys(deps: Deps): Promise<KeyObject> {
  const { check, mac } = await findInstanceKeys(deps);
  const checkRow = check ?? (await create(deps, 'check'));
  await checkCurrent(deps, checkRow);
  return unwrap(deps, 'mac', mac ?? (await create(deps, 'mac')));
}

/** The stored keys, checked. */
async function findInstanceKeys(deps: Deps): Promise<{ check: WrappedKey | undefined; mac: WrappedKey | undefined }> {
  // Written in the order check, mac, data keys, and read in reverse order. So the first start of another replica, at the
  // same time, never looks like a database that has lost a key.
  const inUse = await deps.store.hasDataKeys();
  const mac = await deps.store.findInstanceKey('mac');
  const check = await deps.store.findInstanceKey('check');
  if (check !== undefined) unwrap(deps, 'check', check);
  if (mac !== undefined) unwrap(deps, 'mac', mac);
  if (check === undefined && (inUse || mac !== undefined)) throw lostKey('check');
  if (mac === undefined && inUse) throw lostKey('mac');
  return { check, mac };
}

/**
 * While replicas change to a new root key, the key-check value is still wrapped under the old one. So the first
 * process that wraps under a new root key leaves a check for it, and one that has other bytes under the same id does
 * not start, instead of wrapping data keys that the others cannot open.
 */
async function checkCurrent(deps: Deps, check: WrappedKey): Promise<void> {
  const { currentId } = deps.rootKeys;
  if (check.rootKeyId === currentId) return;
  const name = `check:${currentId}`;
  unwrap(deps, name, (await deps.store.findInstanceKey(name)) ?? (await create(deps, name)));
}

/** Creates an instance key, unless another replica was faster. Returns the stored key after a check. */
async function create(deps: Deps, name: string): Promise<WrappedKey> {
  const bytes = randomBytes(keyBytes);
  const wrapped = deps.rootKeys.wrap(bytes, purposeOf(name));
  bytes.fill(0);
  const stored = await deps.store.insertInstanceKey(name, wrapped);
  unwrap(deps, name, stored);
  return stored;
}

function unwrap(deps: Deps, name: string, wrapped: WrappedKey): KeyObject {
  const bytes = deps.rootKeys.unwrap(wrapped, purposeOf(name));
  const key = createSecretKey(bytes);
  bytes.fill(0);
  return key;
}

function purposeOf(name: string): string {
  return `instance-key:${name}`;
}

function lostKey(name: string): DomainError {
  return new DomainError(
    'key_unavailable',
    `The database is in use but has no instance key "${name}", so it was partly restored or altered. ` +
      'Restore the table instance_key from the same backup as the rest.',
  );
}
