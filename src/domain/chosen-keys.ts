import { globTest, hasWildcard, type KeySelection, selectionTest } from './key-globs.ts';

/** Which keys of an environment a Secret gets, and how it names them: `spec.keys` of a SecretSync. */
export interface KeyRules extends KeySelection {
  readonly rename?: readonly { readonly from: string; readonly to: string }[];
  readonly rewrite?: { readonly stripPrefix?: string; readonly addPrefix?: string };
  /** Globs of the keys that only templates can use. */
  readonly hidden?: readonly string[];
}

/** A key on its way into a Secret. */
export interface ChosenKey {
  /** The name in the environment. */
  readonly key: string;
  /** The name in the Secret. */
  readonly name: string;
  /** Whether only templates can use it. */
  readonly isHidden: boolean;
}

/**
 * Chooses among an environment's keys, in their order. All rules use the names in the environment: keys are included unless
 * excluded, then renamed, or else rewritten. Rules for missing keys have no effect. Several keys can get the same name, or
 * one that no Secret can have.
 */
export function chosenKeys(rules: KeyRules, keys: readonly string[]): readonly ChosenKey[] {
  const isHidden = globTest(rules.hidden ?? []);
  const names = new Map((rules.rename ?? []).map(({ from, to }) => [from, to]));
  return keys
    .filter(selectionTest(rules))
    .map((key) => ({ key, name: names.get(key) ?? rewritten(key, rules.rewrite), isHidden: isHidden(key) }));
}

function rewritten(key: string, rewrite: KeyRules['rewrite']): string {
  if (rewrite === undefined) return key;
  const { stripPrefix = '', addPrefix = '' } = rewrite;
  return `${addPrefix}${key.startsWith(stripPrefix) ? key.slice(stripPrefix.length) : key}`;
}

/** What one source of a Secret offers. */
export interface OfferedKeys {
  readonly rules: KeyRules;
  readonly keys: readonly string[];
}

/**
 * The keys of each source whose values a Secret needs: each name from the last source that has it, and a hidden one only if a
 * template uses its name.
 */
export function neededKeys(sources: readonly OfferedKeys[], templateNames: ReadonlySet<string>): readonly string[][] {
  const winners = new Map<string, { readonly source: number; readonly chosen: ChosenKey }>();
  for (const [source, { rules, keys }] of sources.entries()) {
    for (const chosen of chosenKeys(rules, keys)) winners.set(chosen.name, { source, chosen });
  }
  const needed = [...winners.values()].filter(({ chosen: { name, isHidden } }) => !isHidden || templateNames.has(name));
  return sources.map((_, index) => needed.flatMap(({ source, chosen }) => (source === index ? [chosen.key] : [])));
}

/** How many comparisons of keys with globs `neededKeys` makes, at most. */
export function comparisonsOf(sources: readonly OfferedKeys[]): number {
  return sources.reduce((sum, { rules, keys }) => {
    const globs = [rules.include, rules.exclude, rules.hidden].flatMap((list) => list ?? []);
    return sum + keys.length * (1 + globs.filter(hasWildcard).length);
  }, 0);
}
