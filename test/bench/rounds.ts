import { percentile } from './statistics.ts';

/** One side of a comparison: does the work once for a round and answers its figure. */
export type Contestant = () => Promise<number>;

export interface Comparison {
  readonly title: string;
  readonly rounds: number;
  /** The unit of the figures; more is better for `/s`, less for `ms`. */
  readonly unit: '/s' | 'ms';
  readonly floor: Contestant;
  readonly keyframe: Contestant;
  /** What the median ratio keyframe / floor should be: at least it for `/s`, at most for `ms`. */
  readonly aim?: number;
}

/** Runs both in turn, the first of each round changing, after one unmeasured round; prints medians and their ratio. */
export async function compare({ title, rounds, unit, floor, keyframe, aim }: Comparison): Promise<void> {
  await floor();
  await keyframe();
  const samples = { floor: [] as number[], keyframe: [] as number[], ratio: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    const first = round % 2 === 0 ? floor : keyframe;
    const second = first === floor ? keyframe : floor;
    const figures = [await first(), await second()] as const;
    const [floorFigure, keyframeFigure] = first === floor ? figures : [figures[1], figures[0]];
    samples.floor.push(floorFigure);
    samples.keyframe.push(keyframeFigure);
    samples.ratio.push(keyframeFigure / floorFigure);
  }
  const median = (values: readonly number[]): number => percentile(values, 0.5);
  const shown = (values: readonly number[]): string => `${median(values).toFixed(1).padStart(9)} ${unit}`;
  const ratio = median(samples.ratio);
  const spread = `${Math.min(...samples.ratio).toFixed(2)}–${Math.max(...samples.ratio).toFixed(2)}`;
  console.log(
    `${title.padEnd(44)}floor ${shown(samples.floor)}  keyframe ${shown(samples.keyframe)}  ` +
      `ratio ${ratio.toFixed(2)} (${spread})${aim === undefined ? '' : aimed(ratio, { unit, aim })}`,
  );
}

function aimed(ratio: number, { unit, aim }: { readonly unit: Comparison['unit']; readonly aim: number }): string {
  const isMet = unit === '/s' ? ratio >= aim : ratio <= aim;
  return `  aim ${unit === '/s' ? '≥' : '≤'} ${aim}${isMet ? '' : '  MISSED'}`;
}

/** Milliseconds that some work takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Does `count` pieces of work, `atOnce` at a time, and answers how many it did in a second. */
export async function throughput(
  count: number,
  atOnce: number,
  work: (worker: number) => Promise<unknown>,
): Promise<number> {
  let begun = 0;
  const worker = async (_: unknown, index: number): Promise<void> => {
    while (begun < count) {
      begun += 1;
      await work(index);
    }
  };
  const durationMs = await timed(() => Promise.all(Array.from({ length: atOnce }, worker)));
  return (count * 1000) / durationMs;
}
