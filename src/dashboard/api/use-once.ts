import { useRef } from 'react';

/** Sends a request under a key for the header `Idempotency-Key`. */
export type SendOnce = <Result>(request: object, send: (idempotencyKey: string) => Promise<Result>) => Promise<Result>;

/**
 * Sends a request that creates something, so that repeating it creates nothing more: after a failure, such as a lost
 * response, the same request has the same key. Another request, and one after a success, has a new key.
 */
export function useOnce(): SendOnce {
  const failed = useRef<{ readonly text: string; readonly key: string }>(undefined);
  return async (request, send) => {
    const text = JSON.stringify(request);
    const key = failed.current?.text === text ? failed.current.key : crypto.randomUUID();
    failed.current = { text, key };
    const result = await send(key);
    failed.current = undefined;
    return result;
  };
}
