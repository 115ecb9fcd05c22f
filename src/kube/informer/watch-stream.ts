import type { KubeObject } from '../client/objects.ts';
import { WatchFormatError } from './watch-failure.ts';

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

export type WatchEvent<T extends KubeObject> =
  | { readonly type: Exclude<WatchEventType, 'ERROR'>; readonly object: T }
  /** The server ended the watch; `status` is the HTTP status of its Status object. */
  | { readonly type: 'ERROR'; readonly status: number };

// The default limit of etcd is 1.5 MiB, so a line of ten times that size is not an object.
const maxLineLength = 16 * 1024 * 1024;

/**
 * The events in the body of a watch, one JSON object on each line. Ends with the body. A truncated last line is dropped, because
 * the server sends it again after the last resource version. Throws WatchFormatError.
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
    throw new WatchFormatError('a line of a watch is not a watch event');
  }
  return { type, object } as unknown as WatchEvent<T>;
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // The error of JSON.parse quotes the text, which may be data.
    throw new WatchFormatError('a line of a watch is not JSON');
  }
}
