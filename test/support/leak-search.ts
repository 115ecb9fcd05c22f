import type { Canary } from './canary.ts';

/** A piece of a place, such as one table's rows or one process's output. */
export interface SearchedPiece {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Somewhere a value could leak to. */
export interface LeakPlace {
  readonly name: string;
  /** All that is there now. */
  contents(): AsyncIterable<SearchedPiece>;
  /** Positive control: puts a text there as a leak would come there. The answer takes it away again. */
  plant(text: string): Promise<() => Promise<void>>;
}

export interface Leak {
  readonly place: string;
  readonly piece: string;
  readonly encoding: string;
}

/** Every form of the canary in these places; empty is what a test hopes for. */
export async function findLeaks(canary: Canary, places: readonly LeakPlace[]): Promise<Leak[]> {
  const leaks: Leak[] = [];
  for (const place of places) {
    for await (const { name, bytes } of place.contents()) {
      for (const { encoding } of canary.traces(bytes)) leaks.push({ place: place.name, piece: name, encoding });
    }
  }
  return leaks;
}
