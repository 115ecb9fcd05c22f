import { syncsPerEnvironment } from './fleet.ts';

const variable = 'KEYFRAME_BENCH_SIZE';

/** How many SecretSyncs a bench makes, by KEYFRAME_BENCH_SIZE. Throws if that is no multiple of an environment's, or too few. */
export function readSize({ usual, min }: { readonly usual: number; readonly min: number }): number {
  const text = process.env[variable];
  const size = text === undefined ? usual : Number(text);
  if (isSize(size) && size >= min) return size;
  throw new Error(`${variable} must be a multiple of ${syncsPerEnvironment}, and at least ${min}`);
}

/** The sizes that a bench measures, by KEYFRAME_BENCH_SIZE: some with commas between them, ascending, or `full`. */
export function readSizes({ usual, full }: Readonly<Record<'usual' | 'full', readonly number[]>>): readonly number[] {
  const text = process.env[variable];
  if (text === undefined) return usual;
  if (text === 'full') return full;
  const sizes = text.split(',').map(Number);
  if (sizes.every((size, index) => isSize(size) && size > (sizes[index - 1] ?? 0))) return sizes;
  throw new Error(`${variable} must be \`full\`, or ascending multiples of ${syncsPerEnvironment} such as 100,400`);
}

function isSize(size: number): boolean {
  return Number.isSafeInteger(size) && size > 0 && size % syncsPerEnvironment === 0;
}
