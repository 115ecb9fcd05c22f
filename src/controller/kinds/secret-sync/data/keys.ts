import type { SecretSyncSpec } from '../../../generated/secret-sync.ts';
import { keysCollide } from '../source-messages.ts';
import { globTest } from './glob.ts';

/** Which of an environment's keys a Secret gets, and under which names: `spec.keys`. */
export type KeyRules = NonNullable<SecretSyncSpec['keys']>;

/** A key on its way into a Secret. */
export interface ChosenKey {
  /** As the environment has it. */
  readonly key: string;
  /** As the Secret has it. */
  readonly name: string;
  /** Whether its value is base64 of what the Secret shall hold. */
  readonly isEncoded: boolean;
}

/**
 * Chooses among an environment's keys, in their order. Every rule speaks of the keys as the environment has them: they
 * are included, unless excluded, then renamed; rules for keys that are not there do nothing. `field` is where the rules stand
 * in the spec. Throws DomainError key_conflict where two keys would end at one name.
 * It is also called with a part of an environment's keys, so no rule about their number belongs here.
 */
export function chooseKeys(
  rules: KeyRules | undefined,
  keys: readonly string[],
  field = 'spec.keys',
): readonly ChosenKey[] {
  const isIncluded = globTest(rules?.include ?? ['*']);
  const isExcluded = globTest(rules?.exclude ?? []);
  const isEncoded = globTest(rules?.decodeBase64 ?? []);
  const names = new Map((rules?.rename ?? []).map(({ from, to }) => [from, to]));
  const takers = new Map<string, string>();
  return keys
    .filter((key) => isIncluded(key) && !isExcluded(key))
    .map((key) => {
      const name = names.get(key) ?? key;
      const taker = takers.get(name);
      if (taker !== undefined) throw keysCollide(name, [taker, key], field);
      takers.set(name, key);
      return { key, name, isEncoded: isEncoded(key) };
    });
}

/**
 * The bytes that a value in base64 stands for (RFC 4648 section 4, padded; line breaks, as `base64` makes them, and blanks
 * around it are passed over). Undefined where it is none.
 */
export function decodedBase64(value: string): Buffer | undefined {
  const text = value.trim().replace(/[\r\n]+/g, '');
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  return Buffer.from(text, 'base64');
}
