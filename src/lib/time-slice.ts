/**
 * Cuts long computations into slices, so that one large request does not block all others. In each turn of the event
 * loop, only one computation of the process continues, however many wait.
 */

// Small requests never wait for a turn.
const firstSliceMs = 2;
const sliceMs = 3;

/** The time until a computation must yield to others. Starts on construction. */
export class TimeSlice {
  #endMs = performance.now() + firstSliceMs;

  /** Whether the computation must await `next` before it continues. */
  get isOver(): boolean {
    return performance.now() >= this.#endMs;
  }

  /** Resolves in a later turn of the event loop, after the computations that already wait. */
  async next(): Promise<void> {
    await nextTurn();
    this.#endMs = performance.now() + sliceMs;
  }
}

/** Maps items in order like `Array.map`, in slices. */
export async function mapInSlices<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
  slice = new TimeSlice(),
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    if (slice.isOver) await slice.next();
    results.push(map(item));
  }
  return results;
}

const waiting = new Set<() => void>();

/** Resolves when all earlier computations have continued once. */
function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.add(resolve);
  if (waiting.size === 1) setImmediate(continueFirst);
  return promise;
}

/** An immediate set by an immediate runs in the next turn, after new events. */
function continueFirst(): void {
  const [first] = waiting;
  if (first === undefined) return;
  waiting.delete(first);
  if (waiting.size > 0) setImmediate(continueFirst);
  first();
}
