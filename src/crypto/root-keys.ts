import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { DomainError } from '../domain/errors/domain-error.ts';
import { Plaintext } from '../domain/plaintext.ts';
import { DecryptionError, keyBytes, open, seal } from './aead.ts';

/** A key encrypted under a root key, and which root key that is. */
export interface WrappedKey {
  readonly wrappedKey: Uint8Array;
  readonly rootKeyId: string;
}

// At most 32 characters without + / =: a key of 32 bytes put in the id's place never passes for an id and is never shown.
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/;
const setting = 'KEYFRAME_ROOT_KEY_FILE (or KEYFRAME_ROOT_KEY)';
const howTo =
  'Each line is id:key, where the id is 1 to 32 letters, digits, dots, underscores and hyphens, and the key is ' +
  '32 random bytes in base64; make a key with: openssl rand -base64 32';

/** What is wrong with the text of root keys: its message tells lines by their numbers and never repeats them. */
export class RootKeyFormatError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`root keys: ${faults.join('; ')}. ${howTo}`);
    this.name = 'RootKeyFormatError';
    this.faults = faults;
  }
}

/**
 * The root keys of the instance. The first wraps, all unwrap, so that replicas can change to a new root key one by
 * one: add it as a last line everywhere, then move it to the front.
 */
export class RootKeys {
  readonly currentId: string;
  /** In the order of their lines. */
  readonly ids: readonly string[];
  // Key objects keep their bytes outside the JavaScript heap, print as nothing, and clear them when freed.
  readonly #keys: ReadonlyMap<string, KeyObject>;

  private constructor(first: string, keys: ReadonlyMap<string, KeyObject>) {
    this.currentId = first;
    this.ids = [...keys.keys()];
    this.#keys = keys;
  }

  /**
   * Reads lines of `id:base64` (docs/internals/crypto.md); empty lines and white space around a line do not count.
   * Throws RootKeyFormatError, with every faulty line's number, for anything else: also for an id or a key that
   * stands twice, and for base64 that does not decode to 32 bytes or is not the one canonical spelling of them.
   */
  static parse(text: string): RootKeys {
    const faults: string[] = [];
    const keys = new Map<string, KeyObject>();
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      const fault = addLine(keys, line.trim());
      if (fault !== undefined) faults.push(`line ${index + 1} ${fault}`);
    }
    const [first] = keys.keys();
    if (faults.length === 0 && first === undefined) faults.push('there is none');
    if (faults.length > 0 || first === undefined) throw new RootKeyFormatError(faults);
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
   * Decrypts a key that was wrapped for the same purpose. Throws DomainError key_unavailable, naming the root key,
   * when it is not among the configured ones or does not fit. Whoever takes the bytes clears them after use.
   */
  unwrap(wrapped: WrappedKey, purpose: string): Buffer {
    const rootKey = this.#get(wrapped.rootKeyId, purpose);
    try {
      return open(rootKey, wrapped.wrappedKey, Buffer.from(purpose));
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      throw new DomainError(
        'key_unavailable',
        `Root key "${wrapped.rootKeyId}" does not open the stored key ${purpose}: either other bytes are configured under this ` +
          `id than those that wrapped it, or the stored key was altered. Give this id its right key in ${setting}.`,
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
 * A new root key, as a line `id:base64`. The id is random too: a database that is encrypted under another key then says
 * that it lacks that one, and opens when its line is added.
 */
export function generateRootKey(): Plaintext {
  return new Plaintext(`root-${randomBytes(4).toString('hex')}:${randomBytes(keyBytes).toString('base64')}`);
}

/** Adds the key of one line, or answers what is wrong with the line. */
function addLine(keys: Map<string, KeyObject>, line: string): string | undefined {
  const colon = line.indexOf(':');
  if (colon === -1) return 'has no colon';
  const id = line.slice(0, colon);
  if (!idPattern.test(id)) return 'has a malformed id';
  if (keys.has(id)) return 'has the id of an earlier line';
  const text = line.slice(colon + 1);
  const bytes = Buffer.from(text, 'base64');
  // Node's decoder skips what it does not know: only text that encodes back to itself was wholly understood.
  if (bytes.toString('base64') !== text) return 'has a key that is not canonical base64';
  if (bytes.length !== keyBytes) return `has a key of ${bytes.length} bytes instead of ${keyBytes}`;
  const key = createSecretKey(bytes);
  bytes.fill(0);
  if ([...keys.values()].some((other) => other.equals(key))) return 'has the key of an earlier line';
  keys.set(id, key);
  return undefined;
}
