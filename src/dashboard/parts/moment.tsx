import type { ReactNode } from 'react';
import { relativeTime } from '../text/relative-time.ts';
import { useNow } from './use-now.ts';

/**
 * A past time relative to now, such as "3 hours ago". What seems to be in the future happened just now: the time of the page
 * moves on in steps, and the clock of the server may be ahead of it.
 */
export function Moment({ at }: { readonly at: string }): ReactNode {
  const now = useNow();
  return <Time at={at} distanceMs={Math.min(0, Date.parse(at) - now)} />;
}

/** A time at which something ends, relative to now, such as "in 20 minutes". It may have passed. */
export function Deadline({ at }: { readonly at: string }): ReactNode {
  const now = useNow();
  return <Time at={at} distanceMs={Date.parse(at) - now} />;
}

/** The exact time is in its title. */
function Time({ at, distanceMs }: { readonly at: string; readonly distanceMs: number }): ReactNode {
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {relativeTime(distanceMs)}
    </time>
  );
}
