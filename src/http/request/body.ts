import type { IncomingMessage } from 'node:http';
import { DomainError, invalidField } from '../../domain/errors/domain-error.ts';
import { limits } from '../../domain/limits.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { maxDepth, scanJson } from './json-scan.ts';

/** Reading of request bodies: after the caller is known and allowed, and never more than the limit. */

/** How much of a body is read. */
export interface BodyBounds {
  /** Gets the number of bytes that wait in memory, and throws if that are too many. */
  readonly hold: (bytes: number) => void;
  /** Members of objects and elements of arrays, together. */
  readonly maxEntries: number;
}

// What takes more than a millisecond to decode or to parse.
const largeBytes = 256 * 1024;

const jsonMediaType = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*"?utf-8"?[ \t]*)?;?[ \t]*$/i;

/**
 * The JSON text of a body, parsed. Nothing of a refused body is repeated. A large body is read in time slices.
 *
 * @throws DomainError unsupported_media_type, payload_too_large (over 8 MiB or `maxEntries`), malformed_request;
 *   invalid_input if a name stands twice in one object; what `hold` throws.
 */
export async function readJson(request: IncomingMessage, bounds: BodyBounds): Promise<unknown> {
  const text = await readText(request, bounds);
  if (text === undefined) throw new DomainError('malformed_request', 'this request needs a body: a JSON object');
  return parseJson(text, bounds);
}

/** Like `readJson`, but undefined for a request whose body is absent or empty. */
export async function readOptionalJson(request: IncomingMessage, bounds: BodyBounds): Promise<unknown> {
  const text = await readText(request, bounds);
  return text === undefined || text === '' ? undefined : parseJson(text, bounds);
}

/** The text of a body; undefined where there is none. */
async function readText(request: IncomingMessage, { hold }: BodyBounds): Promise<string | undefined> {
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
  const bytes = await readBytes(request, limits.requestBytes, hold);
  // Many bodies may end in one turn.
  if (bytes.length > largeBytes) await new TimeSlice().next();
  return decodeUtf8(bytes);
}

/** @throws DomainError malformed_request when a request that takes no body has one. */
export function refuseBody(request: IncomingMessage): void {
  if (hasBody(request)) throw new DomainError('malformed_request', 'this request takes no body');
}

// RFC 9112 section 6.3: a request has a body exactly when one of these headers says so.
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

async function readBytes(request: IncomingMessage, maxBytes: number, hold: BodyBounds['hold']): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  await new Promise<void>((resolve, reject) => {
    const settle = (act: () => void): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      act();
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      const fault = bytes > maxBytes ? tooLarge() : refusalOf(hold, chunk.length);
      if (fault !== undefined) settle(() => reject(fault));
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(resolve);
    const onClose = (): void => settle(() => reject(new DomainError('malformed_request', 'the body ended too early')));
    // An error of the connection is followed by its close.
    request.on('error', () => {});
    request.on('data', onData).on('end', onEnd).on('close', onClose);
    if (request.destroyed) onClose();
  });
  return Buffer.concat(chunks, bytes);
}

function refusalOf(hold: BodyBounds['hold'], bytes: number): Error | undefined {
  try {
    hold(bytes);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

function tooLarge(): DomainError {
  const megabytes = limits.requestBytes / 1024 / 1024;
  return new DomainError('payload_too_large', `the body must be at most ${megabytes} MiB; send the change in parts`);
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new DomainError('malformed_request', 'the body is not valid UTF-8; encode binary data as base64');
  }
}

async function parseJson(text: string, { maxEntries }: BodyBounds): Promise<unknown> {
  const slice = new TimeSlice();
  if (text.length > largeBytes) await slice.next();
  const { excess, repeated } = await scanJson(text, maxEntries, slice);
  // Not given to JSON.parse, which would keep all other requests waiting for a second.
  if (excess === 'depth')
    throw new DomainError('malformed_request', `the body must be nested at most ${maxDepth} levels deep`);
  if (excess === 'entries') {
    throw new DomainError(
      'payload_too_large',
      `the body must hold at most ${maxEntries} fields and list entries; send the change in parts`,
    );
  }
  if (slice.isOver) await slice.next();
  const parsed = parsedJson(text);
  // JSON.parse would let the last one win: half of what was asked for would be lost in silence.
  if (repeated !== undefined) throw invalidField(repeated, 'is given twice');
  // What the schema does is a turn of its own.
  if (slice.isOver) await slice.next();
  return parsed;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The engine's message quotes the text around the fault.
    throw new DomainError('malformed_request', 'the body is not valid JSON');
  }
}
