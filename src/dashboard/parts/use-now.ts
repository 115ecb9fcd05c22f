import { useSyncExternalStore } from 'react';

const tickMs = 30_000;
const maxLagMs = 1_000;

let now = Date.now();
const listeners = new Set<() => void>();
setInterval(tick, tickMs);

function tick(): void {
  now = Date.now();
  for (const listener of listeners) listener();
}

/** Moves the time on if it lags. Else what has just happened would seem to be in the future until the next tick. */
export function catchUp(): void {
  if (Date.now() - now > maxLagMs) tick();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  catchUp();
  return () => void listeners.delete(listener);
}

/** The time in milliseconds, which moves on every half minute. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}
