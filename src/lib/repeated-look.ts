export interface RepeatedLookOptions {
  /** Returns whether a fault that was reported before is over. Throws if the present file or key cannot be used. */
  readonly look: () => Promise<boolean>;
  /** Called with what `look` threw: once for the same message, until it is over. */
  readonly onFault: (error: unknown) => void;
  /** Default 10 s. */
  readonly intervalMs?: number | undefined;
}

export interface RepeatedLook {
  /** Looks now, or waits for the look that is under way. */
  readonly look: () => Promise<void>;
  readonly end: () => void;
}

const defaultIntervalMs = 10_000;

/**
 * Looks again and again for something new, because watches of files miss the exchange of a mounted Secret, and timers miss
 * the time that a machine slept. There is one look at a time.
 */
export function lookRepeatedly({ look, onFault, intervalMs = defaultIntervalMs }: RepeatedLookOptions): RepeatedLook {
  let reported = '';
  let looking: Promise<void> | undefined;
  const lookOnce = async (): Promise<void> => {
    try {
      if (await look()) reported = '';
    } catch (error) {
      const { message } = error as Error;
      if (message !== reported) onFault(error);
      reported = message;
    }
  };
  const lookNow = (): Promise<void> => (looking ??= lookOnce().finally(() => (looking = undefined)));
  const timer = setInterval(() => void lookNow(), intervalMs);
  timer.unref();
  return { look: lookNow, end: () => clearInterval(timer) };
}
