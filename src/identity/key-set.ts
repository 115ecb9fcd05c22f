import type { KeyObject } from 'node:crypto';
import type { UnverifiedJwt } from './jwt.ts';
import { parseKey, type PublicKey } from './public-keys.ts';

type ParsedKey = PublicKey & { readonly parsed: KeyObject };

/** The parsed keys of one version of an issuer. */
export class KeySet {
  readonly #keys: readonly ParsedKey[];

  /** What is not a key on its curve counts for nothing. */
  constructor(keys: readonly PublicKey[]) {
    this.#keys = keys.flatMap((key) => {
      const parsed = parseKey(key);
      return parsed === undefined ? [] : [{ ...key, parsed }];
    });
  }

  /**
   * The one key that can have signed a JWT: with its key id, or the only one of its algorithm if it has none. Undefined
   * without one, also if several fit.
   */
  keyFor({ algorithm, keyId }: UnverifiedJwt): KeyObject | undefined {
    const fitting = this.#keys.filter(({ alg, kid }) => alg === algorithm && (keyId === undefined || kid === keyId));
    return fitting.length === 1 ? fitting[0]?.parsed : undefined;
  }
}
