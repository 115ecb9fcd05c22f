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
export const globLimits = { globs: 256, wildcardGlobs: 16, length: 253, questionMarkLength: 32 } as const;

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
  return globs.filter(hasWildcard).length > globLimits.wildcardGlobs
    ? `must have at most ${globLimits.wildcardGlobs} entries with "*" or "?"`
    : undefined;
}

/** Whether a glob can match several keys. */
export function hasWildcard(glob: string): boolean {
  return /[*?]/.test(glob);
}

/** The test for a selection; undefined selects all keys. */
export function selectionTest({ include = ['*'], exclude = [] }: KeySelection = {}): KeyTest {
  const isIncluded = globTest(include);
  const isExcluded = globTest(exclude);
  return (key) => isIncluded(key) && !isExcluded(key);
}

/** A glob by its pieces between its stars. They must occur in order, the first at the start and the last at the end. */
interface Glob {
  readonly first: string;
  readonly middle: readonly EndIn[];
  /** Undefined for a glob without a star, which is one piece. */
  readonly last: string | undefined;
}

/** Where the first occurrence of a piece from an index on ends; -1 if there is none. */
type EndIn = (key: string, from: number) => number;

/**
 * The test for a list of globs: `*` matches any run of characters or none, `?` matches one character, and every other
 * character matches itself, with case. An empty list matches nothing. Each piece between stars is searched once, from left to
 * right. `validateKeyGlob` and the definition of SecretSync bound the number and length of globs, and so the cost.
 */
export function globTest(globs: readonly string[]): KeyTest {
  const exact = new Set(globs.filter((glob) => !hasWildcard(glob)));
  const others = globs.filter(hasWildcard).map(globOf);
  return (key) => exact.has(key) || others.some((glob) => matches(glob, key));
}

function globOf(text: string): Glob {
  const [first = '', ...later] = text.split('*');
  const last = later.pop();
  return { first, middle: later.map(searchOf), last };
}

function matches({ first, middle, last }: Glob, key: string): boolean {
  if (!fitsAt(first, key, 0)) return false;
  if (last === undefined) return key.length === first.length;
  const lastAt = key.length - last.length;
  let at = first.length;
  for (const endIn of middle) {
    at = endIn(key, at);
    if (at === -1) return false;
  }
  return lastAt >= at && fitsAt(last, key, lastAt);
}

const questionMark = '?'.charCodeAt(0);
const wordBits = 32;

function searchOf(piece: string): EndIn {
  if (!piece.includes('?')) {
    return (key, from) => {
      const at = key.indexOf(piece, from);
      return at === -1 ? -1 : at + piece.length;
    };
  }
  return piece.length <= wordBits ? bitSearch(piece) : (key, from) => endOf(piece, key, from);
}

/**
 * The search with one bit for each character of the piece (Baeza-Yates and Gonnet, "shift-and"): bit n of `state` is set if
 * the last n + 1 characters of the key fit the first n + 1 of the piece. A comparison at each index takes the product of both
 * lengths for some globs and keys, which a caller could choose.
 */
function bitSearch(piece: string): EndIn {
  const codes = Array.from({ length: piece.length }, (_, index) => piece.charCodeAt(index));
  const bitsOf = (code: number): number =>
    codes.reduce((bits, own, index) => (own === code || own === questionMark ? bits | (1 << index) : bits), 0);
  const any = bitsOf(questionMark);
  const masks = new Map(codes.map((code) => [code, bitsOf(code)]));
  const lastBit = 1 << (piece.length - 1);
  return (key, from) => {
    let state = 0;
    for (let at = from; at < key.length; at += 1) {
      state = ((state << 1) | 1) & (masks.get(key.charCodeAt(at)) ?? any);
      if ((state & lastBit) !== 0) return at + 1;
    }
    return -1;
  };
}

/** For a piece longer than `validateKeyGlob` allows. */
function endOf(piece: string, key: string, from: number): number {
  for (let at = from; at + piece.length <= key.length; at += 1) if (fitsAt(piece, key, at)) return at + piece.length;
  return -1;
}

function fitsAt(piece: string, key: string, at: number): boolean {
  if (at + piece.length > key.length) return false;
  for (let index = 0; index < piece.length; index += 1) {
    const wanted = piece.charCodeAt(index);
    if (wanted !== questionMark && wanted !== key.charCodeAt(at + index)) return false;
  }
  return true;
}
