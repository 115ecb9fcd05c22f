/** A line of two texts: in both, or only in the former or the later one. */
export interface DiffLine {
  readonly side: 'both' | 'before' | 'after';
  readonly text: string;
}

/** Above it, comparing each line with each would keep the page busy. */
const maxLines = 500;

/** The lines of two texts, with as many as possible in both. Long texts have only their common begin and end in both. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let begin = 0;
  while (begin < a.length && begin < b.length && a[begin] === b[begin]) begin += 1;
  let end = 0;
  while (end < a.length - begin && end < b.length - begin && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [middleA, middleB] = [a.slice(begin, a.length - end), b.slice(begin, b.length - end)];
  const isLong = middleA.length > maxLines || middleB.length > maxLines;
  return [
    ...lines('both', a.slice(0, begin)),
    ...(isLong ? [...lines('before', middleA), ...lines('after', middleB)] : middleDiff(middleA, middleB)),
    ...lines('both', a.slice(a.length - end)),
  ];
}

function lines(side: DiffLine['side'], texts: readonly string[]): DiffLine[] {
  return texts.map((text) => ({ side, text }));
}

/** By the longest common subsequence. */
function middleDiff(a: readonly string[], b: readonly string[]): DiffLine[] {
  const common = commonLengths(a, b);
  const found: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    const [before = '', after = ''] = [a[i], b[j]];
    if (before === after) {
      found.push({ side: 'both', text: before });
      i += 1;
      j += 1;
    } else if (common(i + 1, j) >= common(i, j + 1)) {
      found.push({ side: 'before', text: before });
      i += 1;
    } else {
      found.push({ side: 'after', text: after });
      j += 1;
    }
  }
  return [...found, ...lines('before', a.slice(i)), ...lines('after', b.slice(j))];
}

/** How many lines the rest of one text, from a line on, has in common with the rest of the other. */
function commonLengths(a: readonly string[], b: readonly string[]): (i: number, j: number) => number {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  return at;
}
