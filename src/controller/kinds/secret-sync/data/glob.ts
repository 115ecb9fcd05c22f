/** Whether a key is one of those that a list of globs means. */
export type KeyTest = (key: string) => boolean;

/** A glob between its stars: pieces that must stand one after another, the first at the start, the last at the end. */
type Pieces = readonly [first: string, ...later: string[]];

/**
 * The test for a list of globs: `*` is any run of characters, also none, and `?` is one character; all else means
 * itself, capitals too. A list without globs means nothing. Each piece between stars is looked for once, at the first
 * place where it fits, so that no glob costs more than the product of its length and the key's; the definition of
 * SecretSync bounds both, and how many globs there are.
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

/** The first place from `from` on where a piece fits; -1 where there is none. */
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
