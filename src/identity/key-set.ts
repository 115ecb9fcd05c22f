import { type CryptoKey, importJWK, type JWK } from 'jose';
import type { UnverifiedJwt } from './jwt.ts';
import type { PublicKey } from './public-keys.ts';

/** A parsed public key. */
export type VerificationKey = CryptoKey;

type ParsedKey = PublicKey & { readonly parsed: VerificationKey };

/** The parsed keys of one version of an issuer. */
export class KeySet {
  readonly #keys: readonly ParsedKey[];

  private constructor(keys: readonly ParsedKey[]) {
    this.#keys = keys;
  }

  /** What is not a key on its curve counts for nothing. */
  static async parse(keys: readonly PublicKey[]): Promise<KeySet> {
    const parsed = await Promise.all(keys.map(async (key) => ({ ...key, parsed: await parsedKey(key) })));
    return new KeySet(parsed.flatMap((key) => (key.parsed === undefined ? [] : [{ ...key, parsed: key.parsed }])));
  }

  /**
   * The one key that can have signed a JWT: with its key id, or the only one of its algorithm if it has none. Undefined
   * without one, also if several fit.
   */
  keyFor({ algorithm, keyId }: UnverifiedJwt): VerificationKey | undefined {
    const fitting = this.#keys.filter(({ alg, kid }) => alg === algorithm && (keyId === undefined || kid === keyId));
    return fitting.length === 1 ? fitting[0]?.parsed : undefined;
  }
}

async function parsedKey({ alg, kid: _kid, ...key }: PublicKey): Promise<VerificationKey | undefined> {
  try {
    const parsed = await importJWK(key as JWK, alg);
    return parsed instanceof Uint8Array ? undefined : parsed;
  } catch {
    return undefined;
  }
}
