import type { CopyView } from '../../wire/copies.ts';
import type { SecretKeyView } from '../../wire/secrets.ts';

/** How a key of two environments compares. `both` if it is not known whether the values are equal. */
export type KeyState = 'there' | 'differs' | 'both' | 'here' | 'same';

export interface ComparedKey {
  readonly key: string;
  readonly state: KeyState;
  /** Versions; undefined without the key. */
  readonly here: number | undefined;
  readonly there: number | undefined;
}

/** What the server says of the keys that both have. */
export type Equality = Pick<CopyView, 'updated' | 'unchanged'>;

/** The keys of two environments, by key. Values are compared by the server alone. */
export function compareKeys(
  here: readonly SecretKeyView[],
  there: readonly SecretKeyView[],
  equality: Equality | undefined,
): readonly ComparedKey[] {
  const [present, other] = [versionsOf(here), versionsOf(there)];
  const [differing, equal] = [new Set(equality?.updated), new Set(equality?.unchanged)];
  return [...new Set([...present.keys(), ...other.keys()])].toSorted().map((key) => {
    const [own, foreign] = [present.get(key), other.get(key)];
    const shared = differing.has(key) ? 'differs' : equal.has(key) ? 'same' : 'both';
    return {
      key,
      here: own,
      there: foreign,
      state: own === undefined ? 'there' : foreign === undefined ? 'here' : shared,
    };
  });
}

function versionsOf(secrets: readonly SecretKeyView[]): ReadonlyMap<string, number> {
  return new Map(secrets.map(({ key, version }) => [key, version]));
}

/** Whether promoting would change the key. */
export function isPromotable({ state }: ComparedKey): boolean {
  return state !== 'same' && state !== 'both';
}

const maxGlobs = 256;

/** What a copy sends to promote these keys, and no others. */
export interface Selection {
  readonly mode: 'changed' | 'mirror';
  readonly keys?: { readonly include: readonly string[] } | { readonly exclude: readonly string[] };
}

/**
 * The part of the request that copies the chosen keys alone; undefined if a request can name neither these nor the others:
 * it takes 256 of them.
 */
export function selectionOf(rows: readonly ComparedKey[], chosen: ReadonlySet<string>): Selection | undefined {
  const isMirror = rows.some(({ key, state }) => state === 'here' && chosen.has(key));
  const mode = isMirror ? 'mirror' : 'changed';
  const others = rows.filter(
    ({ key, state }) => !chosen.has(key) && state !== 'same' && (isMirror || state !== 'here'),
  );
  // Without names, a key that begins to differ after the comparison would be copied too.
  if (chosen.size <= maxGlobs) return { mode, keys: { include: [...chosen].toSorted() } };
  if (others.length === 0) return { mode };
  return others.length > maxGlobs ? undefined : { mode, keys: { exclude: others.map(({ key }) => key) } };
}
