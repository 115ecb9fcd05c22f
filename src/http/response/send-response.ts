import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Work } from '../admission/work-limit.ts';
import type { EventStream, RouteResponse } from '../route.ts';
import { jsonChunks } from './json-chunks.ts';

/** The resources of a request, as far as its response needs them. */
export type ResponseWork = Pick<Work, 'hold' | 'release' | 'awaitClient' | 'continue'>;

export interface SendOptions {
  /** How long the reader may read nothing. */
  readonly stallTimeoutMs?: number;
  readonly work: ResponseWork;
}

/** A response of which nothing has been sent. */
export type PreparedResponse = Pick<RouteResponse, 'status' | 'headers'> & {
  readonly location?: string;
  readonly content: Buffer[] | EventStream | undefined;
};

const defaultStallTimeoutMs = 30_000;
// Over TLS, each written piece is encrypted at once, and the copy stays until it is sent.
const pieceBytes = 64 * 1024;

/**
 * Makes the text of a response. Throws what `hold` throws. Only a body of a route that is in the result refers to it
 * afterwards, so that its values are freed when they have become text.
 */
export async function prepareResponse(result: RouteResponse, { hold }: Pick<Work, 'hold'>): Promise<PreparedResponse> {
  const { status, headers = {} } = result;
  const location = result.status === 201 && result.location !== undefined ? { location: result.location } : {};
  const content =
    'stream' in result ? result.stream : 'body' in result ? await serialize(result.body, hold) : undefined;
  return { status, headers, ...location, content };
}

/** Writes a response. Resolves when Node has it; for a stream of events, when the stream has ended. */
export async function sendResponse(
  response: ServerResponse,
  { content, ...head }: PreparedResponse,
  { stallTimeoutMs = defaultStallTimeoutMs, work }: SendOptions,
): Promise<void> {
  setHead(response, head);
  if (content === undefined) {
    response.end();
  } else if (typeof content === 'function') {
    await sendEvents(response, content, { stallTimeoutMs, work });
  } else {
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    await sendContent(response, content, { stallTimeoutMs, work });
  }
}

/**
 * Writes content that is complete, and removes each part from the list when it is written. Large content is written in
 * pieces, each after the reader has read the former one.
 */
export async function sendContent(
  response: ServerResponse,
  parts: Buffer[],
  { stallTimeoutMs = defaultStallTimeoutMs, work }: SendOptions,
): Promise<void> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  response.setHeader('Content-Length', length);
  // One write for the headers and all parts.
  if (response.req.method === 'HEAD' || length <= pieceBytes) {
    response.cork();
    for (const part of parts.splice(0)) response.write(part);
    response.end();
    response.uncork();
    return;
  }
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    for (let at = 0; at < part.length; at += pieceBytes) {
      const piece = part.subarray(at, at + pieceBytes);
      if (!response.write(piece)) await drained(response, { stallTimeoutMs, work, bytes: piece.length });
      if (response.destroyed) return;
    }
    work.release(part.length);
  }
  response.end();
}

/** A body as JSON. Each chunk is counted by `hold` before the next one is made. */
async function serialize(body: object, hold: Work['hold']): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const text of jsonChunks(body)) {
    const chunk = Buffer.from(text);
    hold(chunk.length);
    chunks.push(chunk);
  }
  return chunks;
}

function setHead(response: ServerResponse, { status, headers, location }: Omit<PreparedResponse, 'content'>): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value);
  if (location !== undefined) response.setHeader('Location', location);
}

/** Fetches the next event only after the reader has read the last one. */
async function sendEvents(
  response: ServerResponse,
  stream: EventStream,
  { stallTimeoutMs, work }: Required<SendOptions>,
): Promise<void> {
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
    const bytes = Buffer.byteLength(text);
    // An event can name ten thousand keys. If there is no memory for it, the reader reconnects and continues there.
    work.hold(bytes);
    if (!response.write(text)) await drained(response, { stallTimeoutMs, work, bytes });
    work.release(bytes);
  }
  response.end();
}

/** Waits until the reader has read what was written. Node destroys the connection if it reads nothing for too long. */
async function drained(
  response: ServerResponse,
  { stallTimeoutMs, work, bytes }: Required<SendOptions> & { readonly bytes: number },
): Promise<void> {
  if (response.destroyed) return;
  const gone = new AbortController();
  const abort = (): void => gone.abort();
  response.once('close', abort);
  response.socket?.setTimeout(stallTimeoutMs);
  work.awaitClient(bytes);
  await once(response, 'drain', { signal: gone.signal }).catch(() => {});
  work.continue();
  response.off('close', abort);
  response.socket?.setTimeout(0);
}
