import type { KeyObject } from 'node:crypto';
import { DomainError } from '../domain/errors/domain-error.ts';
import { Plaintext } from '../domain/plaintext.ts';
import { DecryptionError, open, seal } from './aead.ts';
import type { DataKey } from './allotment.ts';
import { type DataKeyLimits, DataKeys } from './data-keys.ts';
import { setFingerprint, valueMac } from './fingerprint.ts';
import { openInstanceKeys } from './instance-keys.ts';
import type { KeyStore } from './key-store.ts';
import type { RootKeys } from './root-keys.ts';
import { uuidBytes } from './uuid.ts';

/** Where a value belongs: sealed there, it opens nowhere else. All are UUIDs. */
export interface Binding {
  readonly organizationId: string;
  readonly projectId: string;
  readonly environmentId: string;
  readonly secretId: string;
}

/** A value as it is stored. */
interface SealedValue {
  readonly ciphertext: Buffer<ArrayBuffer>;
  readonly dataKeyId: string;
  /** `Keyring.mac` of the value. */
  readonly valueMac: Buffer<ArrayBuffer>;
  /** Bytes of the value in UTF-8. */
  readonly valueBytes: number;
}

/** Encrypts values of one project, as many as it was made for. */
export interface Sealer {
  /** Throws an Error for a value too many and for a binding to another project: a fault of the caller's. */
  seal(binding: Binding, value: Plaintext): SealedValue;
}

/** Decrypts values that are under the data keys it was made for. */
export interface Opener {
  /** Throws DomainError internal when the stored bytes are not what was sealed for this binding. */
  open(binding: Binding, sealed: { readonly ciphertext: Uint8Array; readonly dataKeyId: string }): Plaintext;
}

/**
 * The keys of the instance (docs/internals/crypto.md): root keys wrap a data key for each project, and data keys
 * encrypt values. `open()` comes first; what is used before that throws an Error.
 */
export class Keyring {
  readonly #deps: { readonly rootKeys: RootKeys; readonly store: KeyStore };
  readonly #dataKeys: DataKeys;
  #opened: KeyObject | undefined;

  constructor(deps: { readonly rootKeys: RootKeys; readonly store: KeyStore; readonly limits?: DataKeyLimits }) {
    this.#deps = deps;
    this.#dataKeys = new DataKeys(deps);
  }

  /**
   * Checks the root keys against the database's key-check value; makes the instance's own keys in an empty database.
   * Throws DomainError key_unavailable, saying which root key is missing or wrong, and has then written nothing.
   */
  async open(): Promise<void> {
    this.#opened = await openInstanceKeys(this.#deps);
  }

  /**
   * A sealer for up to `count` values of a project: reserves the uses, and loads or makes the data key. It speaks to
   * the store, so call it before the transaction; sealing itself does not wait. Throws DomainError key_unavailable.
   */
  async sealer(projectId: string, count: number): Promise<Sealer> {
    const macKey = this.#macKey();
    const dataKey = count === 0 ? undefined : await this.#dataKeys.allot(projectId, count);
    return { seal: sealWith({ projectId, count, dataKey, macKey }) };
  }

  /** An opener for values under these data keys, in one query at most. Throws DomainError key_unavailable. */
  async opener(dataKeyIds: Iterable<string>): Promise<Opener> {
    this.#macKey();
    return { open: openWith(await this.#dataKeys.load(dataKeyIds)) };
  }

  /**
   * HMAC-SHA256 of a value under the instance's MAC key, bound to the secret's UUID. It survives the rotation of root
   * and data keys, and tells «unchanged» from «changed» without decrypting.
   */
  mac(secretId: string, value: string): Buffer<ArrayBuffer> {
    return valueMac(this.#macKey(), secretId, Buffer.from(value));
  }

  /** A keyed digest of a whole Secret's data within a context, independent of the order of its distinct names. */
  fingerprint(context: string, entries: Iterable<readonly [string, Uint8Array]>): Buffer<ArrayBuffer> {
    return setFingerprint(this.#macKey(), context, entries);
  }

  #macKey(): KeyObject {
    if (this.#opened === undefined) throw new Error('the keyring is not open yet');
    return this.#opened;
  }
}

interface SealContext {
  readonly projectId: string;
  /** How many values may be sealed. */
  readonly count: number;
  /** Undefined where `count` is 0. */
  readonly dataKey: DataKey | undefined;
  readonly macKey: KeyObject;
}

function sealWith({ projectId, count, dataKey, macKey }: SealContext): Sealer['seal'] {
  const associatedData = associatedDataOf();
  let left = count;
  return (binding, value) => {
    if (binding.projectId !== projectId) throw new Error('the sealer is for another project');
    if (left <= 0 || dataKey === undefined) throw new Error(`the sealer is for ${count} values`);
    left -= 1;
    const bytes = Buffer.from(value.reveal());
    return {
      ciphertext: seal(dataKey.key, bytes, associatedData(binding)),
      dataKeyId: dataKey.id,
      valueMac: valueMac(macKey, binding.secretId, bytes),
      valueBytes: bytes.length,
    };
  };
}

function openWith(keys: ReadonlyMap<string, KeyObject>): Opener['open'] {
  const associatedData = associatedDataOf();
  return (binding, { ciphertext, dataKeyId }) => {
    const key = keys.get(dataKeyId);
    if (key === undefined) throw new Error('the opener is for other data keys');
    try {
      // Not a TextDecoder: that would take a byte order mark at the beginning for no part of the value.
      return new Plaintext(open(key, ciphertext, associatedData(binding)).toString('utf8'));
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      throw new DomainError(
        'internal',
        `The stored value of secret ${binding.secretId} is not what was written there: it was altered or moved. ` +
          'Restore its row from a backup, or write the value anew.',
        { cause: error },
      );
    }
  };
}

/**
 * The four UUIDs, 16 bytes each; the format byte is authenticated before them (src/crypto/aead.ts). The first three are
 * kept from one value to the next: all values of a read or write are of one environment as a rule.
 */
function associatedDataOf(): (binding: Binding) => Buffer {
  let last: Binding | undefined;
  let place = Buffer.alloc(0);
  return (binding) => {
    const { organizationId, projectId, environmentId, secretId } = binding;
    const isSame =
      last?.environmentId === environmentId && last.projectId === projectId && last.organizationId === organizationId;
    if (!isSame) place = Buffer.concat([organizationId, projectId, environmentId].map(uuidBytes));
    last = binding;
    return Buffer.concat([place, uuidBytes(secretId)]);
  };
}
