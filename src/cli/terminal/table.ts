import { widthOf } from './text-width.ts';

export interface TextTable {
  readonly titles: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Whether the cells of each column may be cut. */
  readonly cut: readonly boolean[];
}

const gap = 2;
const minCutWidth = 8;

/**
 * The lines of a table with its columns in line. If it is wider than `maxWidth`, the widest columns that may be cut become
 * narrower, and what is cut off ends with `…`.
 */
export function tableLines({ titles, rows, cut }: TextTable, maxWidth = Number.POSITIVE_INFINITY): string[] {
  const full = titles.map((title, column) =>
    Math.max(widthOf(title), ...rows.map((row) => widthOf(row[column] ?? ''))),
  );
  const least = titles.map((title, column) =>
    cut[column] === true ? Math.min(full[column] ?? 0, Math.max(widthOf(title), minCutWidth)) : (full[column] ?? 0),
  );
  const widths = fitted(full, least, maxWidth - gap * (titles.length - 1));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => padded(cell, widths[column] ?? 0))
      .join(' '.repeat(gap))
      .trimEnd();
  return [line(titles), ...rows.map(line)];
}

/** Takes from the widest column, one by one, until the sum fits or no column can give. */
function fitted(full: readonly number[], least: readonly number[], maxSum: number): number[] {
  const widths = [...full];
  let excess = widths.reduce((sum, width) => sum + width, 0) - maxSum;
  while (excess > 0) {
    const spare = widths.map((width, column) => (width > (least[column] ?? 0) ? width : -1));
    const widest = spare.indexOf(Math.max(...spare));
    if ((spare[widest] ?? -1) === -1) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
  return widths;
}

function padded(cell: string, width: number): string {
  const own = widthOf(cell);
  return own <= width ? cell + ' '.repeat(width - own) : shortened(cell, width);
}

function shortened(cell: string, width: number): string {
  let kept = '';
  let taken = 0;
  for (const char of cell) {
    const more = widthOf(char);
    if (taken + more > width - 1) break;
    kept += char;
    taken += more;
  }
  return `${kept}…${' '.repeat(width - 1 - taken)}`;
}
