import type { IncomingMessage } from 'node:http';
import { DomainError, invalidField } from '../../domain/errors/domain-error.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { type BodyLimits, sizeText } from './body-limits.ts';
import { maxDepth, scanJson } from './json-scan.ts';

/** Reads request bodies, after the caller was authorized, and never more than the limit. */

/** Limits for reading a body. */
export interface BodyBounds {
  /** Gets the number of bytes that wait in memory. Throws if they are too many. */
  readonly hold: (bytes: number) => void;
  readonly limits: BodyLimits;
}

// Larger bodies need more than a millisecond to decode or parse.
const largeBytes = 256 * 1024;

const jsonMediaType = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*"?utf-8"?[ \t]*)?;?[ \t]*$/i;

/**
 * Reads and parses a JSON body. Errors never quote the body. A large body is parsed in time slices.
 *
 * @throws DomainError unsupported_media_type, payload_too_large, malformed_request;
 *   invalid_input if an object repeats a name; what `hold` throws.
 */
export async function readJson(request: IncomingMessage, bounds: BodyBounds): Promise<unknown> {
  const text = await readText(request, bounds);
  if (text === undefined) throw new DomainError('malformed_request', 'this request requires a body: a JSON object');
  return parseJson(text, bounds);
}

/** Like `readJson`, but returns undefined if the body is absent or empty. */
export async function readOptionalJson(request: IncomingMessage, bounds: BodyBounds): Promise<unknown> {
  const text = await readText(request, bounds);
  return text === undefined || text === '' ? undefined : parseJson(text, bounds);
}

/** The text of a body; undefined if the request has none. */
async function readText(request: IncomingMessage, { hold, limits }: BodyBounds): Promise<string | undefined> {
  if (!hasBody(request)) return undefined;
  const { 'content-type': mediaType = '', 'content-encoding': encoding = 'identity' } = request.headers;
  if (!jsonMediaType.test(mediaType)) {
    throw new DomainError(
      'unsupported_media_type',
      'send the body as JSON in UTF-8, with Content-Type: application/json',
    );
  }
  if (encoding.toLowerCase() !== 'identity') {
    throw new DomainError('unsupported_media_type', 'send the body without Content-Encoding');
  }
  const bytes = await readBytes(request, limits, hold);
  // Many bodies may end in one turn of the event loop.
  if (bytes.length > largeBytes) await new TimeSlice().next();
  return decodeUtf8(bytes);
}

/** @throws DomainError malformed_request if the request has a body. */
export function refuseBody(request: IncomingMessage): void {
  if (hasBody(request)) throw new DomainError('malformed_request', 'this request must not have a body');
}

// RFC 9112 section 6.3: a request has a body exactly when one of these headers says so.
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

async function readBytes(request: IncomingMessage, limits: BodyLimits, hold: BodyBounds['hold']): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limits.maxBytes) throw tooLarge(limits);
  const chunks: Buffer[] = [];
  let bytes = 0;
  await new Promise<void>((resolve, reject) => {
    const settle = (act: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      act();
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      const error = bytes > limits.maxBytes ? tooLarge(limits) : errorOf(hold, chunk.length);
      if (error !== undefined) settle(() => reject(error));
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(resolve);
    const onClose = (): void =>
      settle(() => reject(new DomainError('malformed_request', 'the body is incomplete: the connection closed early')));
    // `close` follows each error of the connection.
    request.on('error', () => {});
    request.on('data', onData).on('end', onEnd).on('close', onClose);
    if (request.destroyed) onClose();
  });
  return Buffer.concat(chunks, bytes);
}

function errorOf(hold: BodyBounds['hold'], bytes: number): Error | undefined {
  try {
    hold(bytes);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

function tooLarge({ maxBytes, advice }: BodyLimits): DomainError {
  return new DomainError('payload_too_large', `the body must be at most ${sizeText(maxBytes)}; ${advice}`);
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new DomainError('malformed_request', 'the body is not valid UTF-8; encode binary data as base64');
  }
}

async function parseJson(text: string, { limits: { maxEntries, advice } }: BodyBounds): Promise<unknown> {
  const slice = new TimeSlice();
  if (text.length > largeBytes) await slice.next();
  const { excess, repeated } = await scanJson(text, maxEntries, slice);
  // JSON.parse would block all other requests for a second.
  if (excess === 'depth')
    throw new DomainError('malformed_request', `the body must be nested at most ${maxDepth} levels deep`);
  if (excess === 'entries') {
    throw new DomainError(
      'payload_too_large',
      `the body must hold at most ${maxEntries} fields and list entries; ${advice}`,
    );
  }
  if (slice.isOver) await slice.next();
  const parsed = parsedJson(text);
  // JSON.parse keeps only the last value of a repeated name, and the others would be lost silently.
  if (repeated !== undefined) throw invalidField(repeated, 'must be given once');
  // The schema runs in another turn of the event loop.
  if (slice.isOver) await slice.next();
  return parsed;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The message of the engine quotes the text around the error.
    throw new DomainError('malformed_request', 'the body is not valid JSON');
  }
}
