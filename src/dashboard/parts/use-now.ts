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

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // The timer of a hidden page is slow.
  if (Date.now() - now > maxLagMs) tick();
  return () => void listeners.delete(listener);
}

/** The time in milliseconds, which moves on every half minute. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}
