import type { CommandContext } from '../../core/command.ts';

/** Warns once for each error in a row, so that a long outage does not fill the terminal. */
export function noteOutage({ io }: CommandContext): (error: Error | undefined) => void {
  let last: string | undefined;
  return (error) => {
    // Without an error the server has ended the stream, as it does when it is replaced.
    const message = error?.message;
    if (message !== undefined && message !== last) io.warn(`${message}; reconnecting`);
    last = message;
  };
}
