import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { DomainError } from '../domain/errors/domain-error.ts';
import { Plaintext } from '../domain/plaintext.ts';
import { DecryptionError, keyBytes, open, seal } from './aead.ts';

/** A key that is encrypted under a root key, and the id of that root key. */
export interface WrappedKey {
  readonly wrappedKey: Uint8Array;
  readonly rootKeyId: string;
}

// At most 32 characters without + / =, so that a key in the place of the id is not a valid id and is never shown.
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/;
const setting = 'KEYFRAME_ROOT_KEY_FILE (or KEYFRAME_ROOT_KEY)';
const howTo =
  'Each line is id:key, where the id is 1 to 32 letters, digits, dots, underscores and hyphens, and the key is ' +
  '32 random bytes in base64; make a key with: openssl rand -base64 32';

/** The text of the root keys is invalid. The message names lines by number and never quotes them. */
export class RootKeyFormatError extends Error {
  readonly errors: readonly string[];

  constructor(errors: readonly string[]) {
    super(`root keys: ${errors.join('; ')}. ${howTo}`);
    this.name = 'RootKeyFormatError';
    this.errors = errors;
  }
}

/**
 * The root keys of the instance. The first one wraps and all unwrap, so that replicas can change to a new root key one by
 * one: add it as the last line on all replicas, then move it to the front.
 */
export class RootKeys {
  readonly currentId: string;
  /** In the order of the lines. */
  readonly ids: readonly string[];
  // Key objects keep their bytes outside the JavaScript heap, never print them, and clear them when freed.
  readonly #keys: ReadonlyMap<string, KeyObject>;

  private constructor(first: string, keys: ReadonlyMap<string, KeyObject>) {
    this.currentId = first;
    this.ids = [...keys.keys()];
    this.#keys = keys;
  }

  /**
   * Parses lines of `id:base64` (docs/internals/crypto.md). Ignores empty lines and white space around a line. Throws
   * RootKeyFormatError, with the number of every invalid line, for any other text. A repeated id or key is invalid, and so
   * is base64 that does not decode to 32 bytes or is not canonical.
   */
  static parse(text: string): RootKeys {
    const errors: string[] = [];
    const keys = new Map<string, KeyObject>();
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const message = addLine(keys, line.trim());
      if (message !== undefined) errors.push(`line ${index + 1} ${message}`);
    }
    const [first] = keys.keys();
    if (errors.length === 0 && first === undefined) errors.push('no key found');
    if (errors.length > 0 || first === undefined) throw new RootKeyFormatError(errors);
    return new RootKeys(first, keys);
  }

  /** Encrypts a key under the first root key, for one purpose (such as `data-key:<project>:<key id>`). */
  wrap(key: Uint8Array, purpose: string): WrappedKey {
    return {
      wrappedKey: seal(this.#get(this.currentId, purpose), key, Buffer.from(purpose)),
      rootKeyId: this.currentId,
    };
  }

  /**
   * Decrypts a key that was wrapped for the same purpose. Throws DomainError key_unavailable, which names the root key, if
   * that key is not configured or cannot decrypt it. The caller must clear the returned bytes after use.
   */
  unwrap(wrapped: WrappedKey, purpose: string): Buffer {
    const rootKey = this.#get(wrapped.rootKeyId, purpose);
    try {
      return open(rootKey, wrapped.wrappedKey, Buffer.from(purpose));
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      throw new DomainError(
        'key_unavailable',
        `Root key "${wrapped.rootKeyId}" does not open the stored key ${purpose}: either this id is configured with other ` +
          `bytes than those that wrapped it, or the stored key was altered. Set the right key for this id in ${setting}.`,
        { cause: error },
      );
    }
  }

  #get(id: string, purpose: string): KeyObject {
    const key = this.#keys.get(id);
    if (key !== undefined) return key;
    throw new DomainError(
      'key_unavailable',
      `Root key "${id}" is missing: the stored key ${purpose} was wrapped under it. Add its line to ${setting}.`,
    );
  }
}

/**
 * A new root key, as a line `id:base64`. The id is random too. If a database is encrypted under another key, the error then
 * names the missing id, and adding its line fixes that.
 */
export function generateRootKey(): Plaintext {
  return new Plaintext(`root-${randomBytes(4).toString('hex')}:${randomBytes(keyBytes).toString('base64')}`);
}

/** Adds the key of one line, or returns a validation message. */
function addLine(keys: Map<string, KeyObject>, line: string): string | undefined {
  const colon = line.indexOf(':');
  if (colon === -1) return 'has no colon';
  const id = line.slice(0, colon);
  if (!idPattern.test(id)) return 'has a malformed id';
  if (keys.has(id)) return 'has the id of an earlier line';
  const text = line.slice(colon + 1);
  const bytes = Buffer.from(text, 'base64');
  // Node's decoder skips invalid characters. Only text that encodes back to itself is canonical base64.
  if (bytes.toString('base64') !== text) return 'has a key that is not canonical base64';
  if (bytes.length !== keyBytes) return `has a key of ${bytes.length} bytes instead of ${keyBytes}`;
  const key = createSecretKey(bytes);
  bytes.fill(0);
  if ([...keys.values()].some((other) => other.equals(key))) return 'has the key of an earlier line';
  keys.set(id, key);
  return undefined;
}
