import type { ReactNode } from 'react';
import { relativeTime } from '../text/relative-time.ts';
import { useNow } from './use-now.ts';

/** A time relative to now, such as "3 hours ago". The exact time is in its title. */
export function Moment({ at }: { readonly at: string }): ReactNode {
  const shown = useNow();
  const date = new Date(at);
  return (
    <time dateTime={at} title={date.toLocaleString()}>
      {relativeTime(date.getTime() - shown)}
    </time>
  );
}
