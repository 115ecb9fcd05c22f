import { type ReactNode, useLayoutEffect } from 'react';
import { relativeTime } from '../text/relative-time.ts';
import { catchUp, useNow } from './use-now.ts';

/** A time relative to now, such as "3 hours ago". The exact time is in its title. */
export function Moment({ at }: { readonly at: string }): ReactNode {
  const shown = useNow();
  const date = new Date(at);
  const isLater = date.getTime() > shown;
  // What has just happened is not in the future.
  useLayoutEffect(() => {
    if (isLater) catchUp();
  }, [isLater]);
  return (
    <time dateTime={at} title={date.toLocaleString()}>
      {relativeTime(date.getTime() - shown)}
    </time>
  );
}
