/** Whether a key matches a list of globs. */
export type KeyTest = (key: string) => boolean;

/** Some keys of an environment: those that are included and not excluded. */
export interface KeySelection {
  /** Globs; all keys by default. An empty list includes none. */
  readonly include?: readonly string[];
  /** Globs; none by default. */
  readonly exclude?: readonly string[];
}

/** Limits of a list of globs. The definition of SecretSync has the same ones. */
const globLimits = { globs: 256, wildcardGlobs: 16, length: 253, questionMarkLength: 32 } as const;

/** Checks a glob. Returns undefined if it is valid, else a validation message. */
export function validateKeyGlob(glob: string): string | undefined {
  if (!/^[-._a-zA-Z0-9*?]{1,253}$/.test(glob)) {
    return (
      `must be a glob of keys: 1 to ${globLimits.length} letters, digits, "-", "_" and ".", "*" for any run of characters ` +
      'and "?" for one'
    );
  }
  if (glob.includes('?') && glob.length > globLimits.questionMarkLength) {
    return `must have at most ${globLimits.questionMarkLength} characters, because it has "?"`;
  }
  return undefined;
}

/** Checks the number of globs in a list. Returns undefined if it is valid, else a validation message. */
export function validateGlobCount(globs: readonly string[]): string | undefined {
  if (globs.length > globLimits.globs) return `must have at most ${globLimits.globs} entries`;
  return globs.filter((glob) => /[*?]/.test(glob)).length > globLimits.wildcardGlobs
    ? `must have at most ${globLimits.wildcardGlobs} entries with "*" or "?"`
    : undefined;
}

/** The test for a selection; undefined selects all keys. */
export function selectionTest({ include = ['*'], exclude = [] }: KeySelection = {}): KeyTest {
  const isIncluded = globTest(include);
  const isExcluded = globTest(exclude);
  return (key) => isIncluded(key) && !isExcluded(key);
}

/** The pieces of a glob between its stars. They must occur in order, the first at the start and the last at the end. */
type Pieces = readonly [first: string, ...later: string[]];

/**
 * The test for a list of globs: `*` matches any run of characters or none, `?` matches one character, and every other
 * character matches itself, with case. An empty list matches nothing. Each piece between stars is searched once, from left to
 * right, so the cost of a glob is at most the product of its length and the key's. `validateKeyGlob` and the definition of
 * SecretSync bound both, and the number of globs.
 */
export function globTest(globs: readonly string[]): KeyTest {
  const exact = new Set(globs.filter((glob) => !/[*?]/.test(glob)));
  const pieces = globs.filter((glob) => /[*?]/.test(glob)).map((glob) => glob.split('*') as unknown as Pieces);
  return (key) => exact.has(key) || pieces.some((glob) => matches(glob, key));
}

function matches([first, ...later]: Pieces, key: string): boolean {
  if (!fitsAt(first, key, 0)) return false;
  const last = later.pop();
  if (last === undefined) return key.length === first.length;
  const lastAt = key.length - last.length;
  let at = first.length;
  for (const piece of later) {
    const found = placeOf(piece, key, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return lastAt >= at && fitsAt(last, key, lastAt);
}

/** The first index from `from` on where a piece fits; -1 if there is none. */
function placeOf(piece: string, key: string, from: number): number {
  if (!piece.includes('?')) return key.indexOf(piece, from);
  for (let at = from; at + piece.length <= key.length; at += 1) if (fitsAt(piece, key, at)) return at;
  return -1;
}

const questionMark = '?'.charCodeAt(0);

function fitsAt(piece: string, key: string, at: number): boolean {
  if (at + piece.length > key.length) return false;
  for (let index = 0; index < piece.length; index += 1) {
    const wanted = piece.charCodeAt(index);
    if (wanted !== questionMark && wanted !== key.charCodeAt(at + index)) return false;
  }
  return true;
}
