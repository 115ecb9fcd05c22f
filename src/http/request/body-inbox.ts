import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { ignore } from './parser.ts';

// Of a body that no route reads yet. A socket delivers 64 KiB at once, so it may become as many more.
const unclaimedBytes = 16 * 1024;
const firstBytes = 1024;
// Each chunk of a body without Content-Length costs as much as a kilobyte. Some may be small.
const minChunkBytes = 64;
const maxTinyChunks = 1_000;
// How long a refused client may take to read the response.
const lingerMs = 1_000;

const inboxes = new WeakMap<IncomingMessage, BodyInbox>();
/** Of each connection whose parser skips the rest of a body: what undoes that. */
const skipping = new WeakMap<Socket, () => void>();

/** Called for each part of a body that arrives, with its bytes. What it throws ends the body. */
type OnBytes = (bytes: number) => void;

/**
 * The body of a request, as it arrives, in one buffer. Node would keep a body that is not read yet in the chunks in which it
 * was sent. These may have one byte each and cost some hundred, before the client has shown a token.
 */
export class BodyInbox {
  readonly #request: IncomingMessage;
  readonly #done = Promise.withResolvers<void>();
  #buffer = Buffer.alloc(0);
  #length = 0;
  #chunks = 0;
  #onBytes: OnBytes | undefined;
  #isDropped = false;
  #isAbandoned = false;

  private constructor(request: IncomingMessage) {
    this.#request = request;
    this.#done.promise.catch(() => {});
    // Node would read on from the socket: this class decides when it is read.
    Object.assign(request, { _read: () => {} });
    // `close` follows each error of the connection.
    request.on('error', () => {});
    request.on('data', (chunk: Buffer) => this.#take(chunk));
    request.on('end', () => this.#done.resolve());
    request.on('close', () => {
      if (!request.complete) this.fail(incomplete());
    });
    // From now on, chunks are not queued but go to the listener.
    request.read(0);
  }

  /** Must be called when the head of a request has arrived, before anything else can happen. */
  static open(request: IncomingMessage): void {
    // One read of the socket may deliver the end of a skipped body and all of this request.
    skipping.get(request.socket)?.();
    skipping.delete(request.socket);
    if (hasBody(request)) inboxes.set(request, new BodyInbox(request));
  }

  static of(request: IncomingMessage): BodyInbox {
    const inbox = inboxes.get(request);
    if (inbox === undefined) throw new Error('the body of this request was not opened');
    return inbox;
  }

  get length(): number {
    return this.#length;
  }

  /** Reads all of the body. `capacity` is its expected length. Throws what `onBytes` throws, and the error of `fail`. */
  async read(capacity: number, onBytes: OnBytes): Promise<Buffer> {
    this.#onBytes = onBytes;
    if (capacity > this.#length) this.#grow(capacity);
    try {
      onBytes(this.#length);
      if (!this.#request.complete) this.#request.socket.resume();
      await this.#done.promise;
      return this.#buffer.subarray(0, this.#length);
    } finally {
      this.#drop();
    }
  }

  fail(error: Error): void {
    this.#done.reject(error);
    this.#drop();
  }

  /**
   * Ends the connection after the response, because reading and dropping a large body would cost more than the request. The
   * connection stays open for a moment without being read, so that the client receives the response before the reset.
   */
  static abandon(request: IncomingMessage, response: ServerResponse): void {
    const inbox = inboxes.get(request);
    if (inbox === undefined || request.complete) return;
    inbox.#drop();
    const { socket, headers } = request;
    const left = Number(headers['content-length'] ?? Infinity) - inbox.#length;
    if (left <= unclaimedBytes) {
      socket.resume();
      return;
    }
    inbox.#isAbandoned = true;
    response.setHeader('Connection', 'close');
    socket.pause();
    // Node calls this when the response was written.
    socket.destroySoon = () => {
      socket.end();
      const linger = setTimeout(() => socket.destroy(), lingerMs);
      socket.once('close', () => clearTimeout(linger));
    };
  }

  /** Must be called after the response. What has not arrived of a body that no route has read is dropped. */
  static release(request: IncomingMessage): void {
    const inbox = inboxes.get(request);
    if (inbox === undefined || request.complete || inbox.#isAbandoned) return;
    inbox.#drop();
    request.socket.resume();
  }

  #take(chunk: Buffer): void {
    if (this.#isDropped) return;
    this.#chunks += 1;
    try {
      this.#checkChunks();
      this.#onBytes?.(chunk.length);
    } catch (error) {
      this.fail(error as Error);
      const { socket } = this.#request;
      skipping.set(socket, ignore(socket, ['kOnBody']));
      return;
    }
    const needed = this.#length + chunk.length;
    if (needed > this.#buffer.length) this.#grow(Math.max(needed, 2 * this.#length, firstBytes));
    chunk.copy(this.#buffer, this.#length);
    this.#length = needed;
    if (this.#onBytes === undefined && needed > unclaimedBytes) this.#request.socket.pause();
  }

  #checkChunks(): void {
    const isDeclared = this.#request.headers['content-length'] !== undefined;
    if (!isDeclared && this.#chunks > maxTinyChunks + this.#length / minChunkBytes) throw tinyChunks();
  }

  #grow(capacity: number): void {
    const larger = Buffer.allocUnsafeSlow(capacity);
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }

  #drop(): void {
    this.#isDropped = true;
    this.#buffer = Buffer.alloc(0);
  }
}

/** RFC 9112 section 6.3: a request has a body exactly when one of these headers says so. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function incomplete(): DomainError {
  return new DomainError('malformed_request', 'the body is incomplete: the connection closed early');
}

function tinyChunks(): DomainError {
  return new DomainError(
    'malformed_request',
    `the chunks of the body have fewer than ${minChunkBytes} bytes; send Content-Length or larger chunks`,
  );
}
