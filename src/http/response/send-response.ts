import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { jsonChunks } from './json-chunks.ts';
import type { EventStream, RouteResponse } from '../route.ts';

export interface SendOptions {
  /** How long the reader of an event may read nothing; 30 s by default, as for a whole response. */
  readonly stallTimeoutMs?: number;
  /** Gets the number of bytes of a body that wait for the reader. Throws if they are too many. */
  readonly hold?: (bytes: number) => void;
}

/**
 * Writes the response of a route. Resolves when Node has it; for a stream of events, when the stream has ended. Throws
 * what `hold` throws, before anything is written.
 */
export async function sendResponse(
  response: ServerResponse,
  result: RouteResponse,
  { stallTimeoutMs = 30_000, hold }: SendOptions = {},
): Promise<void> {
  // First, because an error response would inherit the status and headers set below.
  const chunks = 'body' in result ? await serialize(result.body, hold) : undefined;
  setHead(response, result);
  if ('stream' in result) {
    await sendEvents(response, result.stream, stallTimeoutMs);
  } else if (chunks === undefined) {
    response.end();
  } else {
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader(
      'Content-Length',
      chunks.reduce((sum, { length }) => sum + length, 0),
    );
    // One write for the headers and all chunks.
    response.cork();
    for (const chunk of chunks.slice(0, -1)) response.write(chunk);
    response.end(chunks.at(-1));
    response.uncork();
  }
}

/** A body as JSON. Each chunk is counted by `hold` before the next one is made. */
async function serialize(body: object, hold: SendOptions['hold']): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const text of jsonChunks(body)) {
    const chunk = Buffer.from(text);
    hold?.(chunk.length);
    chunks.push(chunk);
  }
  return chunks;
}

function setHead(response: ServerResponse, result: RouteResponse): void {
  response.statusCode = result.status;
  for (const [name, value] of Object.entries(result.headers ?? {})) response.setHeader(name, value);
  if (result.status === 201 && result.location !== undefined) response.setHeader('Location', result.location);
}

/** Fetches the next event only after the reader has read the last one. */
async function sendEvents(response: ServerResponse, stream: EventStream, stallTimeoutMs: number): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  // The stream starts even if the reader is gone or wants headers only: only a started stream releases its slot.
  if (response.destroyed || response.req.method === 'HEAD') gone.abort();
  response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  // A stream ends when the server stops. The client must not send its next request on this connection.
  response.setHeader('Connection', 'close');
  response.flushHeaders();
  for await (const text of stream(gone.signal)) {
    if (response.destroyed) return;
    if (!response.write(text)) await drained(response, { gone: gone.signal, stallTimeoutMs });
  }
  response.end();
}

/** Waits until the reader has read what was written. Node destroys the connection if it reads nothing for too long. */
async function drained(
  response: ServerResponse,
  { gone, stallTimeoutMs }: { readonly gone: AbortSignal; readonly stallTimeoutMs: number },
): Promise<void> {
  response.socket?.setTimeout(stallTimeoutMs);
  await once(response, 'drain', { signal: gone }).catch(() => {});
  response.socket?.setTimeout(0);
}
