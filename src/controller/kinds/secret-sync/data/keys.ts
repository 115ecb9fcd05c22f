import { type ChosenKey, chosenKeys } from '../../../../domain/chosen-keys.ts';
import { globTest } from '../../../../domain/key-globs.ts';
import { validateSecretKey } from '../../../../domain/names.ts';
import type { SecretSyncSpec } from '../../../generated/secret-sync.ts';
import { keyInvalid, keysCollide } from '../source-messages.ts';
import { type Template, referencedKeys } from './template.ts';

/** The keys of an environment that a Secret gets, and their names: `spec.keys`. */
export type KeyRules = NonNullable<SecretSyncSpec['keys']>;

/** A chosen key, and the form of its value. */
export interface EncodedKey extends ChosenKey {
  /** Whether its value is base64 of the content for the Secret. */
  readonly isEncoded: boolean;
}

/**
 * Chooses among an environment's keys, as `chosenKeys` does. `field` is the path of the rules in the spec. Throws DomainError
 * key_conflict if two keys would have the same name, even if one is hidden, and key_invalid. It is also called with a part of
 * an environment's keys, so a rule about their number does not belong here.
 */
export function chooseKeys(
  rules: KeyRules | undefined,
  keys: readonly string[],
  field = 'spec.keys',
): readonly EncodedKey[] {
  const isEncoded = globTest(rules?.decodeBase64 ?? []);
  const takers = new Map<string, string>();
  return chosenKeys(rules ?? {}, keys).map((chosen) => {
    const { key, name } = chosen;
    const problem = rules?.rewrite === undefined ? undefined : validateSecretKey(name);
    if (problem !== undefined) throw keyInvalid(key, field, problem);
    const taker = takers.get(name);
    if (taker !== undefined) throw keysCollide(name, [taker, key], field);
    takers.set(name, key);
    return { ...chosen, isEncoded: isEncoded(key) };
  });
}

/**
 * Whether the value of a chosen key is needed: for the Secret itself, or for a template. Throws DomainError template_invalid.
 */
export function neededBy(template: Template | undefined): (chosen: ChosenKey) => boolean {
  let referenced: ReadonlySet<string> | undefined;
  return ({ name, isHidden }) => !isHidden || (referenced ??= referencedKeys(template)).has(name);
}

/**
 * The bytes of a value in base64 (RFC 4648 section 4, padded). Line breaks, as `base64` writes them, and surrounding blanks
 * are ignored. Undefined if the value is not base64.
 */
export function decodedBase64(value: string): Buffer | undefined {
  const text = value.trim().replace(/[\r\n]+/g, '');
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  return Buffer.from(text, 'base64');
}
