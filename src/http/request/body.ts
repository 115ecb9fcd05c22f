import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { DomainError, invalidField } from '../../domain/errors/domain-error.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { type Work, slowTransfer } from '../admission/work-limit.ts';
import { BodyInbox, hasBody } from './body-inbox.ts';
import { type BodyLimits, bodyLimits, sizeText } from '../../wire/contract/body-limits.ts';
import { maxDepth, scanJson } from './json-scan.ts';

/**
 * Reads request bodies, after the caller was authorized, and never more than the limit. Of a body, two copies exist at once
 * at most: the next one is made when the memory for it is free, and then the former one is dropped.
 */

/** The request, its limits, and its resources. */
export interface BodySource {
  readonly request: IncomingMessage;
  readonly limits: BodyLimits;
  /** Asks the client for the body, if it waits for that (Expect: 100-continue). */
  readonly invite: () => void;
  readonly work: Pick<Work, 'hold' | 'release' | 'compute' | 'awaitClient' | 'continue'>;
}

// Larger bodies need more than a millisecond to decode or parse.
const largeBytes = 256 * 1024;

const jsonMediaType = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*"?utf-8"?[ \t]*)?;?[ \t]*$/i;

// The text, which may have two bytes for each of the body, the parsed copy, ciphertexts, and what PostgreSQL gets.
const copiesOfBody = 8;

/**
 * Reads and parses a JSON body. Errors never quote the body. A large body is parsed in time slices.
 *
 * @throws DomainError unsupported_media_type, payload_too_large, malformed_request, request_timeout, overloaded;
 *   invalid_input if an object repeats a name.
 */
export async function readJson(source: BodySource): Promise<unknown> {
  const text = await readText(source);
  if (text === undefined) throw new DomainError('malformed_request', 'this request requires a body: a JSON object');
  return parseJson(text, source.limits);
}

/** Like `readJson`, but returns undefined if the body is absent or empty. */
export async function readOptionalJson(source: BodySource): Promise<unknown> {
  const text = await readText(source);
  return text === undefined || text === '' ? undefined : parseJson(text, source.limits);
}

/** The text of a body; undefined if the request has none. */
async function readText(source: BodySource): Promise<string | undefined> {
  const { request, work } = source;
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
  const bytes = await readBytes(source);
  if (bytes.length > bodyLimits.usual.maxBytes) await work.compute('write', bytes.length * copiesOfBody);
  // Many bodies may end in one turn of the event loop.
  if (bytes.length > largeBytes) await new TimeSlice().next();
  work.release(bytes.length);
  return decodeUtf8(bytes);
}

/** Asks the client for the body, if it waits for that. */
export function inviteBody({ headers, res }: { readonly headers: IncomingHttpHeaders; readonly res?: unknown }): void {
  if (/^100-continue$/i.test(headers.expect ?? '')) (res as ServerResponse | undefined)?.writeContinue();
}

/** @throws DomainError malformed_request if the request has a body. */
export function refuseBody(request: IncomingMessage): void {
  if (hasBody(request)) throw new DomainError('malformed_request', 'this request must not have a body');
}

async function readBytes({ request, limits, work, invite }: BodySource): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limits.maxBytes) throw tooLarge(limits);
  // Before anything is read, so that a client learns early that it has to wait.
  work.hold(declared);
  const inbox = BodyInbox.of(request);
  const pace = watchPace(inbox);
  try {
    invite();
    let received = 0;
    return await inbox.read(declared, (bytes) => {
      received += bytes;
      if (received > limits.maxBytes) throw tooLarge(limits);
      if (declared === 0) work.hold(bytes);
      work.awaitClient(bytes);
    });
  } finally {
    clearTimeout(pace.timer);
    work.continue();
  }
}

/** Ends a body that arrives too slowly. */
function watchPace(inbox: BodyInbox): { timer: NodeJS.Timeout | undefined } {
  const { graceMs, bytesPerSecond } = slowTransfer;
  const startedMs = performance.now();
  const pace: { timer: NodeJS.Timeout | undefined } = { timer: undefined };
  const check = (): void => {
    const leftMs = startedMs + graceMs + (inbox.length / bytesPerSecond) * 1000 - performance.now();
    if (leftMs > 0) pace.timer = setTimeout(check, leftMs);
    else inbox.fail(tooSlow());
  };
  check();
  return pace;
}

function tooSlow(): DomainError {
  const rate = sizeText(slowTransfer.bytesPerSecond);
  return new DomainError('request_timeout', `the body arrived more slowly than ${rate} a second; try again`);
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

async function parseJson(text: string, { maxEntries, advice }: BodyLimits): Promise<unknown> {
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
