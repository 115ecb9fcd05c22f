import { type ReactNode, useSyncExternalStore } from 'react';
import { relativeTime } from '../text/relative-time.ts';

const tickMs = 30_000;

let now = Date.now();
const listeners = new Set<() => void>();
setInterval(() => {
  now = Date.now();
  for (const listener of listeners) listener();
}, tickMs);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
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
