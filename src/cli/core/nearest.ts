/** The candidate that a user most likely meant by a word that does not exist; undefined if none is similar. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const wanted = word.toLowerCase();
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  // One mistake in three characters.
  const maxDistance = word.length < 2 ? 0 : Math.max(1, Math.floor(word.length / 3));
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > maxDistance) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance <= maxDistance && distance < (best?.distance ?? Infinity)) best = { candidate, distance };
  }
  return best?.candidate ?? onlyCompletion(wanted, candidates);
}

/** The one candidate that begins with the word. */
function onlyCompletion(word: string, candidates: readonly string[]): string | undefined {
  const found = word.length < 3 ? [] : candidates.filter((candidate) => candidate.toLowerCase().startsWith(word));
  return found.length === 1 ? found[0] : undefined;
}

/** The number of characters to insert, delete or replace. */
function editDistance(from: string, to: string): number {
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [row, character] of Array.from(from).entries()) {
    const current = [row + 1];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (last[column - 1] ?? 0) + (character === to[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    last = current;
  }
  return last[to.length] ?? 0;
}
