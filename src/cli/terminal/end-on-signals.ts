import { constants } from 'node:os';
import { endNow } from './end-now.ts';

/**
 * Makes signals end the command with 128 and their number, as a shell reports it. Without this, the first process of a
 * container would ignore them.
 */
export function endOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => endNow(128 + constants.signals[signal]));
  }
}
