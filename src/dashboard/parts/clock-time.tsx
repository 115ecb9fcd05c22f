import type { ReactNode } from 'react';

/** The time of a day, such as "14:03". The exact time is in its title. */
export function ClockTime({ at }: { readonly at: string }): ReactNode {
  const date = new Date(at);
  return (
    <time className="clock" dateTime={at} title={date.toLocaleString()}>
      {date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}
    </time>
  );
}
