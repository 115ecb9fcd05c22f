import { widthOf } from './text-width.ts';

export interface TextTable {
  readonly titles: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Whether the cells of each column may be cut. */
  readonly cut: readonly boolean[];
}

/** A cell without a value. */
export const emptyCell = '-';

const gap = 2;
const minCutWidth = 8;

/**
 * The lines of a table with its columns in line. If it is wider than `maxWidth`, columns in which every cell is empty are
 * left out. Then the widest columns that may be cut become narrower, and what is cut off ends with `…`.
 */
export function tableLines(table: TextTable, maxWidth = Number.POSITIVE_INFINITY): string[] {
  const isTooWide = sumOf(fullWidths(table)) + gap * (table.titles.length - 1) > maxWidth;
  const { titles, rows, cut } = isTooWide ? withoutEmptyColumns(table) : table;
  const full = fullWidths({ titles, rows });
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

function fullWidths({ titles, rows }: Pick<TextTable, 'titles' | 'rows'>): number[] {
  return titles.map((title, column) => Math.max(widthOf(title), ...rows.map((row) => widthOf(row[column] ?? ''))));
}

function withoutEmptyColumns({ titles, rows, cut }: TextTable): TextTable {
  const isShown = (_: unknown, column: number): boolean => rows.some((row) => row[column] !== emptyCell);
  return { titles: titles.filter(isShown), rows: rows.map((row) => row.filter(isShown)), cut: cut.filter(isShown) };
}

function sumOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0);
}

/** Takes from the widest column, one by one, until the sum fits or no column can give. */
function fitted(full: readonly number[], least: readonly number[], maxSum: number): number[] {
  const widths = [...full];
  let excess = sumOf(widths) - maxSum;
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
