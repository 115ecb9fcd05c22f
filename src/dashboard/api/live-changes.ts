import { useEffect } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { streamOf } from '../../client/call.ts';
import { type Place, paramsOf, pathOf } from '../text/place.ts';
import { ApiError, api } from './client.ts';
import { meQuery } from './me.ts';
import { keysQuery } from './secrets.ts';
import { hasNewestChange, timelineKey } from './timeline.ts';

const [firstPauseMs, maxPauseMs] = [1_000, 30_000];
/** Several changes at once lead to one request. */
const gatherMs = 250;

/**
 * Requests the keys and the history of an environment again after each change of any user, which its stream reports. While
 * the page is hidden the stream is closed: a browser has few connections to a server.
 */
export function useLiveChanges(place: Place): void {
  const client = useQueryClient();
  const path = pathOf(place);
  useEffect(() => {
    const [organization = '', project = '', environment = ''] = path.split('/');
    const followed = { organization, project, environment };
    const { queryKey } = keysQuery(followed);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onRevision = (revisionId: string): void => {
      if (client.getQueryData(queryKey)?.revisionId === revisionId && hasNewestChange(client, path, revisionId)) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        void client.invalidateQueries({ queryKey });
        void client.invalidateQueries({ queryKey: timelineKey(path) });
      }, gatherMs);
    };
    const onEnd = (error: unknown): void => {
      if (error instanceof ApiError && error.status === 401) {
        void client.invalidateQueries({ queryKey: meQuery.queryKey });
      }
    };
    const stop = follow(followed, onRevision, onEnd);
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [client, path]);
}

/** Reads a stream while the page is visible, and opens it again whenever it ends. Returns a function that stops it. */
function follow(place: Place, onRevision: (id: string) => void, onEnd: (error: unknown) => void): () => void {
  const params = paramsOf(place);
  const stopped = new AbortController();
  let current: AbortController | undefined;
  const onVisibility = (): void => {
    if (document.hidden) current?.abort();
  };
  document.addEventListener('visibilitychange', onVisibility);
  stopped.signal.addEventListener('abort', () => {
    document.removeEventListener('visibilitychange', onVisibility);
    current?.abort();
  });
  const run = async (): Promise<void> => {
    let lastEventId: string | undefined;
    let pauseMs = firstPauseMs;
    while (!stopped.signal.aborted) {
      await visible(stopped.signal);
      if (stopped.signal.aborted) return;
      current = new AbortController();
      try {
        const request = { params, lastEventId, signal: current.signal };
        for await (const { id, data } of streamOf(api, 'GET /changes/{org}/{project}/{env}', request)) {
          pauseMs = firstPauseMs;
          lastEventId = id ?? lastEventId;
          onRevision(data.revisionId);
        }
      } catch (error) {
        if (!current.signal.aborted) onEnd(error);
      }
      await passed(pauseMs, stopped.signal);
      pauseMs = Math.min(pauseMs * 2, maxPauseMs);
    }
  };
  void run();
  return () => stopped.abort();
}

/** Resolves when the page is visible, or at the end. */
function visible(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const onChange = (): void => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', onChange);
      resolve();
    };
    document.addEventListener('visibilitychange', onChange);
    signal.addEventListener('abort', onChange, { once: true });
  });
}

function passed(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
