import type { KubeObject } from '../client/objects.ts';
import { WatchFormatError } from './watch-failure.ts';

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

export type WatchEvent<T extends KubeObject> =
  | { readonly type: Exclude<WatchEventType, 'ERROR'>; readonly object: T }
  /** The server gave up the watch; `status` is the HTTP status of the Status object it sent. */
  | { readonly type: 'ERROR'; readonly status: number };

// etcd holds nothing over 1.5 MiB by default; what is ten times that is no object.
const maxLineLength = 16 * 1024 * 1024;

/**
 * The events of a watch's body, one JSON object a line. Ends where the body ends; a line that was cut off there is
 * dropped, for the server sends it again after the last resource version. Throws WatchFormatError.
 */
export async function* watchEvents<T extends KubeObject>(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<WatchEvent<T>> {
  const decoder = new TextDecoder();
  let pending = '';
  for await (const chunk of body) {
    const lines = (pending + decoder.decode(chunk, { stream: true })).split('\n');
    pending = lines.pop() ?? '';
    if (pending.length > maxLineLength) throw new WatchFormatError('a watch event is longer than any object can be');
    for (const line of lines) {
      if (line !== '') yield parseEvent<T>(line);
    }
  }
}

interface EventLine {
  readonly type?: unknown;
  readonly object?: { readonly code?: unknown; readonly metadata?: { readonly resourceVersion?: unknown } };
}

const objectEvents: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);

function parseEvent<T extends KubeObject>(line: string): WatchEvent<T> {
  const { type, object } = (parseJson(line) ?? {}) as EventLine;
  if (type === 'ERROR') return { type, status: typeof object?.code === 'number' ? object.code : 500 };
  if (!objectEvents.has(type) || typeof object?.metadata?.resourceVersion !== 'string') {
    throw new WatchFormatError('a line of a watch is no watch event');
  }
  return { type, object } as unknown as WatchEvent<T>;
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // JSON.parse quotes what it could not read; that may be data.
    throw new WatchFormatError('a line of a watch is not JSON');
  }
}
