import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { jsonPieces } from './json-pieces.ts';
import type { Answer, EventStream } from './route.ts';

export interface SendOptions {
  /** How long an event may wait for its reader to take some of it; 30 s unless told, as for a whole answer. */
  readonly stallTimeoutMs?: number;
  /** Is told how many bytes of a body wait for the reader, and throws where that are too many. */
  readonly hold?: (bytes: number) => void;
}

/**
 * Writes what a route answered. Resolves when it is handed over; a stream of events, when it has ended. Throws what
 * `hold` throws, before anything is written.
 */
export async function sendAnswer(
  response: ServerResponse,
  answer: Answer,
  { stallTimeoutMs = 30_000, hold }: SendOptions = {},
): Promise<void> {
  // Before anything is set that an error would inherit.
  const pieces = 'body' in answer ? await serialised(answer.body, hold) : undefined;
  setHead(response, answer);
  if ('stream' in answer) {
    await sendEvents(response, answer.stream, stallTimeoutMs);
  } else if (pieces === undefined) {
    response.end();
  } else {
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader(
      'Content-Length',
      pieces.reduce((sum, { length }) => sum + length, 0),
    );
    // One write for the head and all pieces.
    response.cork();
    for (const piece of pieces.slice(0, -1)) response.write(piece);
    response.end(pieces.at(-1));
    response.uncork();
  }
}

/** A body as JSON, of which each piece is held before the next is made. */
async function serialised(body: object, hold: SendOptions['hold']): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  for await (const text of jsonPieces(body)) {
    const piece = Buffer.from(text);
    hold?.(piece.length);
    pieces.push(piece);
  }
  return pieces;
}

function setHead(response: ServerResponse, answer: Answer): void {
  response.statusCode = answer.status;
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  if (answer.status === 201 && answer.location !== undefined) response.setHeader('Location', answer.location);
}

/** One event at a time: what the reader does not take is not fetched either. */
async function sendEvents(response: ServerResponse, stream: EventStream, stallTimeoutMs: number): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  // Gone already, or asking for the headers alone: the stream is begun all the same, so that it gives its place back.
  if (response.destroyed || response.req.method === 'HEAD') gone.abort();
  response.setHeader('Content-Type', 'text/event-stream; charset=utf-8');
  // A stream ends when the server does: nobody shall send the next request on its connection just then.
  response.setHeader('Connection', 'close');
  response.flushHeaders();
  for await (const text of stream(gone.signal)) {
    if (response.destroyed) return;
    if (!response.write(text)) await taken(response, { gone: gone.signal, stallTimeoutMs });
  }
  response.end();
}

/** Waits until the reader has taken what was written. Node destroys the connection of one that takes nothing for long. */
async function taken(
  response: ServerResponse,
  { gone, stallTimeoutMs }: { readonly gone: AbortSignal; readonly stallTimeoutMs: number },
): Promise<void> {
  response.socket?.setTimeout(stallTimeoutMs);
  await once(response, 'drain', { signal: gone }).catch(() => {});
  response.socket?.setTimeout(0);
}
