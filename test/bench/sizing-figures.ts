import type { Curve, Plot } from './plot.ts';
import type { DiskFigures } from './sizing-disk.ts';
import type { Beside, Measurement } from './sizing-measure.ts';

/** A line of a plot, and a row of the table. */
interface CurveOf {
  readonly name: string;
  readonly isFloor?: boolean;
  /** Undefined where there is none, such as a takeover of no SecretSync. */
  readonly of: (measurement: Measurement) => number | undefined;
}

interface Figure {
  /** Of the plot, without `.svg`. */
  readonly file: string;
  readonly title: string;
  readonly unit: string;
  readonly digits: number;
  readonly curves: readonly CurveOf[];
}

const mebibyte = 1024 * 1024;
const xLabel = 'SecretSyncs';

/** A figure of Keyframe and its floor. */
function both(of: (measurement: Measurement) => Beside | undefined, unit = 1, name = 'Keyframe'): readonly CurveOf[] {
  const scaled = (side: keyof Beside) => (measurement: Measurement) => {
    const beside = of(measurement);
    return beside === undefined ? undefined : beside[side] / unit;
  };
  const floorName = name === 'Keyframe' ? 'floor' : `${name}, floor`;
  return [
    { name, of: scaled('keyframe') },
    { name: floorName, isFloor: true, of: scaled('floor') },
  ];
}

function megabytes(name: string, of: (measurement: Measurement) => number | undefined): CurveOf {
  return {
    name,
    of: (measurement) => {
      const bytes = of(measurement);
      return bytes === undefined ? undefined : bytes / mebibyte;
    },
  };
}

const figures: readonly Figure[] = [
  {
    file: 'controller-memory',
    title: 'Resident memory of a controller',
    unit: 'MiB',
    digits: 0,
    curves: [
      megabytes('leader that made them', ({ leader }) => leader.residentBytes),
      megabytes('stand-by', ({ work }) => work?.standby.residentBytes),
      megabytes('new leader, at most', ({ work }) => work?.successor.peakBytes),
    ],
  },
  {
    file: 'controller-heap',
    title: 'Heap of a controller after a collection',
    unit: 'MiB',
    digits: 1,
    curves: [
      megabytes('leader that made them', ({ leader }) => leader.heapBytes),
      megabytes('stand-by', ({ work }) => work?.standby.heapBytes),
      megabytes('new leader', ({ work }) => work?.successor.heapBytes),
    ],
  },
  {
    file: 'api-server-memory',
    title: 'Resident memory of kube-apiserver',
    unit: 'MiB',
    digits: 0,
    curves: [megabytes('kube-apiserver', ({ apiServerBytes }) => apiServerBytes)],
  },
  {
    file: 'database-size',
    title: 'Size of the database',
    unit: 'MiB',
    digits: 1,
    curves: [megabytes('database', ({ databaseBytes }) => databaseBytes)],
  },
  {
    file: 'connections',
    title: 'Connections',
    unit: 'number',
    digits: 0,
    curves: [
      { name: 'sockets of the leader', of: ({ sockets }) => sockets },
      { name: 'sessions of PostgreSQL', of: ({ connections }) => connections },
    ],
  },
  {
    file: 'time-to-ready',
    title: 'Time until all SecretSyncs are Ready',
    unit: 's',
    digits: 1,
    curves: both(({ work }) => work?.readyMs, 1_000),
  },
  {
    file: 'takeover',
    title: 'Time until a new leader has verified all',
    unit: 's',
    digits: 2,
    curves: both(({ work }) => work?.takeoverMs, 1_000),
  },
  {
    file: 'change-latency',
    title: 'From the commit of a change to its Secret',
    unit: 'ms',
    digits: 1,
    curves: [
      ...both(({ work }) => work?.changeMs.median, 1, 'median'),
      ...both(({ work }) => work?.changeMs.p99, 1, '99 of 100'),
    ],
  },
  {
    file: 'audit-rows',
    title: 'Audit entries of one change',
    unit: 'entries',
    digits: 1,
    curves: [
      ...both(({ work }) => work?.auditRows.one, 1, 'for 1 Secret'),
      ...both(({ work }) => work?.auditRows.hundred, 1, 'for 100 Secrets'),
    ],
  },
];

/** The plots, by the names of their files. */
export function plotsOf(measurements: readonly Measurement[]): ReadonlyMap<string, Plot> {
  return new Map(
    figures.map(({ file, title, unit, curves }) => [
      `${file}.svg`,
      { title, unit, xLabel, curves: curves.map((curve) => drawable(curve, measurements)) },
    ]),
  );
}

function drawable({ name, isFloor = false, of }: CurveOf, measurements: readonly Measurement[]): Curve {
  const points = measurements.flatMap((measurement) => {
    const y = of(measurement);
    return y === undefined ? [] : [{ x: measurement.size, y }];
  });
  return { name, isFloor, points };
}

/** A table in Markdown: a column for each number of SecretSyncs; a row for each figure, for its floor, and for their ratio. */
export function tableOf(measurements: readonly Measurement[]): string {
  const rows = figures.flatMap(({ title, unit, digits, curves }) =>
    curves.flatMap((curve, index) => {
      const cells = (of: CurveOf['of'], places: number): string[] =>
        measurements.map((measurement) => of(measurement)?.toFixed(places) ?? '');
      const shownUnit = unit === 'number' || unit === 'entries' ? '' : ` (${unit})`;
      const row = [`${title}: ${curve.name}${shownUnit}`, ...cells(curve.of, digits)];
      const kept = curves[index - 1];
      if (curve.isFloor !== true || kept === undefined) return [row];
      return [row, ['ratio', ...cells((measurement) => ratioOf(kept.of(measurement), curve.of(measurement)), 2)]];
    }),
  );
  return markdownTable([xLabel, ...measurements.map(({ size }) => String(size))], rows);
}

function ratioOf(figure: number | undefined, floor: number | undefined): number | undefined {
  return figure === undefined || floor === undefined ? undefined : figure / floor;
}

/** The table of what one thing of each kind takes. */
export function diskTableOf({ secret, version, auditEntry }: DiskFigures): string {
  const rows = [
    ['a new secret with a value of 50 bytes', secret.toFixed(0)],
    ['a further version of it', version.toFixed(0)],
    ['an entry of the audit', auditEntry.toFixed(0)],
  ];
  return markdownTable(['disk of PostgreSQL for', 'bytes'], rows);
}

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((each) => '-'.repeat(each))), ...rows.map(line), ''].join('\n');
}
