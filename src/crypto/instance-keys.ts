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
 * Checks the configured root keys against the key-check value and answers the instance's MAC key; both are made when
 * the database is empty. Nothing is written before everything stored was checked. Throws DomainError key_unavailable
 * when a root key is missing or wrong, or when a database that is in use has lost one of the two.
 */
export async function openInstanceKeys(deps: Deps): Promise<KeyObject> {
  const { check, mac } = await findInstanceKeys(deps);
  const checkRow = check ?? (await make(deps, 'check'));
  await checkCurrent(deps, checkRow);
  return unwrap(deps, 'mac', mac ?? (await make(deps, 'mac')));
}

/** The stored keys, checked. */
async function findInstanceKeys(deps: Deps): Promise<{ check: WrappedKey | undefined; mac: WrappedKey | undefined }> {
  // Written in the order check, mac, data keys, and read in the opposite one: so another replica's first start,
  // going on meanwhile, never looks like a database that lost something.
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
  unwrap(deps, name, (await deps.store.findInstanceKey(name)) ?? (await make(deps, name)));
}

/** Makes an instance key, and answers the one that is stored then, checked: another replica may have been first. */
async function make(deps: Deps, name: string): Promise<WrappedKey> {
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
    `The database is in use but has no instance key "${name}", so it was restored in part or altered. ` +
      'Restore the table instance_key from the same backup as the rest.',
  );
}
