import type { KeyObject } from 'node:crypto';
import { DomainError } from '../domain/errors/domain-error.ts';
import { Plaintext } from '../domain/plaintext.ts';
import { DecryptionError, open, seal } from './aead.ts';
import type { DataKey } from './allotment.ts';
import { type DataKeyLimits, DataKeys } from './data-keys.ts';
import { clusterFingerprintKey, valueMac } from './fingerprint.ts';
import { openInstanceKeys } from './instance-keys.ts';
import type { KeyStore } from './key-store.ts';
import type { RootKeys } from './root-keys.ts';
import { uuidBytes } from './uuid.ts';

/** The place of a value. A value that is sealed for one place cannot be opened for another. All are UUIDs. */
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

/** Encrypts a limited number of values of one project. */
export interface Sealer {
  /** Throws an Error for too many values or a binding to another project; both are programming errors. */
  seal(binding: Binding, value: Plaintext): SealedValue;
}

/** Decrypts values of a fixed set of data keys. */
export interface Opener {
  /** Throws DomainError internal if the stored bytes were not sealed for this binding. */
  open(binding: Binding, sealed: { readonly ciphertext: Uint8Array; readonly dataKeyId: string }): Plaintext;
}

/**
 * The keys of the instance (docs/internals/crypto.md): root keys wrap a data key for each project, and data keys
 * encrypt values. `open()` must be called first; before that, the other methods throw an Error.
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
   * Checks the root keys against the key-check value of the database. Creates the keys of the instance in an empty
   * database. Throws DomainError key_unavailable, which names the missing or wrong root key; then nothing was written.
   */
  async open(): Promise<void> {
    this.#opened = await openInstanceKeys(this.#deps);
  }

  /**
   * Returns a sealer for up to `count` values of a project: reserves the uses, and loads or creates the data key. Call it
   * before the transaction, because it queries the store; sealing is synchronous. Throws DomainError key_unavailable.
   */
  async sealer(projectId: string, count: number): Promise<Sealer> {
    const macKey = this.#macKey();
    const dataKey = count === 0 ? undefined : await this.#dataKeys.allot(projectId, count);
    return { seal: sealWith({ projectId, count, dataKey, macKey }) };
  }

  /** Returns an opener for values under these data keys, with at most one query. Throws DomainError key_unavailable. */
  async opener(dataKeyIds: Iterable<string>): Promise<Opener> {
    this.#macKey();
    return { open: openWith(await this.#dataKeys.load(dataKeyIds)) };
  }

  /**
   * HMAC-SHA256 of a value under the MAC key of the instance, bound to the UUID of the secret. It stays the same when root
   * and data keys rotate, and shows without decryption whether a value has changed.
   */
  mac(secretId: string, value: string): Buffer<ArrayBuffer> {
    return valueMac(this.#macKey(), secretId, Buffer.from(value));
  }

  /** The key of the fingerprints of a cluster, by its name in the database. No other cluster has the same. */
  fingerprintKeyFor(clusterName: string): KeyObject {
    return clusterFingerprintKey(this.#macKey(), clusterName);
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
  /** Undefined if `count` is 0. */
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
      // Not TextDecoder, which would remove a leading byte order mark from the value.
      return new Plaintext(open(key, ciphertext, associatedData(binding)).toString('utf8'));
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      throw new DomainError(
        'internal',
        `The stored value of secret ${binding.secretId} cannot be decrypted: it was altered or moved. ` +
          'Restore its row from a backup, or write the value again.',
        { cause: error },
      );
    }
  };
}

/**
 * The four UUIDs, 16 bytes each. The format byte is authenticated before them (src/crypto/aead.ts). The first three are
 * cached, because most values of a read or write belong to one environment.
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
