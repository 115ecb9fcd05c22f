import type { CostReport, CostRow } from './cost.ts';

// Programs that used less are one line together.
const leastMs = 1_000;

/** The lines of the summary about processor time: the total, and before it the table if it is wanted. */
export function costLines(report: CostReport | undefined, hasTable: boolean): string[] {
  if (report === undefined) return ['Processor time: not measured, because this system has no /proc.', ''];
  const { rows, wallMs, measuringMs } = report;
  const totalMs = sumOf(rows);
  const total = `Processor time: ${seconds(totalMs).trim()} in ${seconds(wallMs).trim()}, ${(totalMs / wallMs).toFixed(1)} cores on average.`;
  if (!hasTable) return [total, ''];
  const share = ((100 * measuringMs) / wallMs).toFixed(1);
  return [
    'Processor time by step and program:',
    ...groups(rows, ({ step }) => step).flatMap(([step, ofStep]) => [
      line(sumOf(ofStep), step),
      ...programLines(ofStep),
    ]),
    line(totalMs, 'all steps'),
    ...programLines(rows),
    '',
    `${total} ${share} % of a core measured it.`,
    '',
  ];
}

function programLines(rows: readonly CostRow[]): string[] {
  const programs = groups(rows, ({ program }) => program).map(([program, of]) => [program, sumOf(of)] as const);
  const large = programs.filter(([, ms]) => ms >= leastMs);
  const othersMs = programs.reduce((sum, [, ms]) => (ms < leastMs ? sum + ms : sum), 0);
  const lines = large.map(([program, ms]) => line(ms, `  ${program}`));
  return othersMs === 0 ? lines : [...lines, line(othersMs, '  others')];
}

/** The rows by a name, the group that used most first. */
function groups(rows: readonly CostRow[], nameOf: (row: CostRow) => string): (readonly [string, CostRow[]])[] {
  return [...Map.groupBy(rows, nameOf)].toSorted(([, a], [, b]) => sumOf(b) - sumOf(a));
}

function sumOf(rows: readonly CostRow[]): number {
  return rows.reduce((sum, { ms }) => sum + ms, 0);
}

function line(ms: number, name: string): string {
  return `  ${seconds(ms)}  ${name}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`.padStart(9);
}
