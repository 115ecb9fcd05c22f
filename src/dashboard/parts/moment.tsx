import { type ReactNode, useSyncExternalStore } from 'react';
import { relativeTime } from '../text/relative-time.ts';

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
  // Else what has just happened would seem to be in the future until the next tick.
  if (Date.now() - now > maxLagMs) tick();
  return () => void listeners.delete(listener);
}

/** A time relative to now, such as "3 hours ago". The exact time is in its title. */
export function Moment({ at }: { readonly at: string }): ReactNode {
  const shown = useSyncExternalStore(subscribe, () => now);
  const date = new Date(at);
  return (
    <time dateTime={at} title={date.toLocaleString()}>
      {relativeTime(date.getTime() - shown)}
    </time>
  );
}
