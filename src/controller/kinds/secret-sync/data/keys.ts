import { globTest, selectionTest } from '../../../../domain/key-globs.ts';
import { validateSecretKey } from '../../../../domain/names.ts';
import type { SecretSyncSpec } from '../../../generated/secret-sync.ts';
import { keyInvalid, keysCollide } from '../source-messages.ts';
import { type Template, referencedKeys } from './template.ts';

/** The keys of an environment that a Secret gets, and their names: `spec.keys`. */
export type KeyRules = NonNullable<SecretSyncSpec['keys']>;

/** A key on its way into a Secret. */
export interface ChosenKey {
  /** The name in the environment. */
  readonly key: string;
  /** The name in the Secret. */
  readonly name: string;
  /** Whether its value is base64 of the content for the Secret. */
  readonly isEncoded: boolean;
  /** Whether only templates can use it. */
  readonly isHidden: boolean;
}

/**
 * Chooses among an environment's keys, in their order. All rules use the names in the environment: keys are included unless
 * excluded, then renamed, or else rewritten. Rules for missing keys have no effect. `field` is the path of the rules in the
 * spec. Throws DomainError key_conflict if two keys would have the same name, even if one is hidden, and key_invalid. It is
 * also called with a part of an environment's keys, so a rule about their number does not belong here.
 */
export function chooseKeys(
  rules: KeyRules | undefined,
  keys: readonly string[],
  field = 'spec.keys',
): readonly ChosenKey[] {
  const isSelected = selectionTest(rules);
  const isEncoded = globTest(rules?.decodeBase64 ?? []);
  const isHidden = globTest(rules?.hidden ?? []);
  const names = new Map((rules?.rename ?? []).map(({ from, to }) => [from, to]));
  const takers = new Map<string, string>();
  return keys.filter(isSelected).map((key) => {
    const name = names.get(key) ?? rewritten(key, rules?.rewrite, field);
    const taker = takers.get(name);
    if (taker !== undefined) throw keysCollide(name, [taker, key], field);
    takers.set(name, key);
    return { key, name, isEncoded: isEncoded(key), isHidden: isHidden(key) };
  });
}

function rewritten(key: string, rewrite: KeyRules['rewrite'], field: string): string {
  if (rewrite === undefined) return key;
  const { stripPrefix = '', addPrefix = '' } = rewrite;
  const name = `${addPrefix}${key.startsWith(stripPrefix) ? key.slice(stripPrefix.length) : key}`;
  const problem = validateSecretKey(name);
  if (problem !== undefined) throw keyInvalid(key, field, problem);
  return name;
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
