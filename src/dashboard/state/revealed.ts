import { useCallback, useEffect, useRef, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { ApiError } from '../api/client.ts';
import { meQuery } from '../api/me.ts';

const shownMs = 30_000;

export interface Revealed<Value> {
  /** Undefined while it is hidden. */
  readonly value: Value | undefined;
  readonly isBusy: boolean;
  /** Why the last attempt failed. */
  readonly error: string | undefined;
  readonly reveal: () => void;
  readonly hide: () => void;
}

/**
 * A value that is read when the user asks for it, shown for 30 seconds and hidden as soon as the page is. It is in the state
 * of this component alone: in no cache, and gone with the component.
 */
export function useRevealed<Value>(read: () => Promise<Value>): Revealed<Value> {
  const [value, setValue] = useState<Value>();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const attempt = useRef(0);
  const refusedBy = useRefusal();
  const hide = useCallback(() => {
    attempt.current += 1;
    setBusy(false);
    setValue(undefined);
  }, []);
  useEffect(() => {
    if (value === undefined) return undefined;
    const timer = setTimeout(hide, shownMs);
    return () => clearTimeout(timer);
  }, [value, hide]);
  useEffect(() => {
    const onVisibility = (): void => void (document.hidden && hide());
    document.addEventListener('visibilitychange', onVisibility);
    window.addEventListener('pagehide', hide);
    return () => {
      document.removeEventListener('visibilitychange', onVisibility);
      window.removeEventListener('pagehide', hide);
    };
  }, [hide]);
  const reveal = (): void => {
    // A second click reads nothing: each read is audited.
    if (isBusy) return;
    attempt.current += 1;
    const own = attempt.current;
    setBusy(true);
    setError(undefined);
    const finish = (act: () => void): void => {
      if (own !== attempt.current) return;
      setBusy(false);
      act();
    };
    read().then(
      (found) => finish(() => setValue(() => found)),
      (cause: unknown) => finish(() => setError(refusedBy(cause))),
    );
  };
  return { value, isBusy, error, reveal, hide };
}

/** Returns a function that makes a sentence of an error, and notices the end of the session. */
export function useRefusal(): (error: unknown) => string {
  const client = useQueryClient();
  return (error) => {
    if (!(error instanceof ApiError)) return 'The browser refused. Try again.';
    if (error.status === 401) void client.invalidateQueries({ queryKey: meQuery.queryKey });
    return error.message;
  };
}
