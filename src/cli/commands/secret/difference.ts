import type { SecretTable } from '../../../wire/formats/secret-table.ts';

/** What leads from one state to another; keys alone, each list sorted. */
export interface Difference {
  readonly added: string[];
  readonly changed: string[];
  readonly removed: string[];
  readonly unchanged: string[];
}

/** Compares two states by their keys and values. */
export function differenceOf(before: SecretTable, after: SecretTable): Difference {
  const kept = [...after.keys()].filter((key) => before.has(key)).sort();
  return {
    added: [...after.keys()].filter((key) => !before.has(key)).sort(),
    changed: kept.filter((key) => before.get(key) !== after.get(key)),
    removed: [...before.keys()].filter((key) => !after.has(key)).sort(),
    unchanged: kept.filter((key) => before.get(key) === after.get(key)),
  };
}

/** A line of a difference: its sign and what follows it. */
export interface DifferenceLine {
  readonly sign: '+' | '~' | '-';
  readonly key: string;
}

/** One line for each key that differs, by key. */
export function differenceLines({ added, changed, removed }: Omit<Difference, 'unchanged'>): DifferenceLine[] {
  const lines: DifferenceLine[] = [
    ...added.map((key) => ({ sign: '+', key }) as const),
    ...changed.map((key) => ({ sign: '~', key }) as const),
    ...removed.map((key) => ({ sign: '-', key }) as const),
  ];
  return lines.sort((one, other) => (one.key < other.key ? -1 : 1));
}
