import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { ignore } from './parser.ts';

type Exchange = Parameters<RequestListener>;

// Clients of today wait for a response before they send the next request.
const maxWaiting = 8;
const everyCall = ['kOnHeaders', 'kOnHeadersComplete', 'kOnBody', 'kOnMessageComplete'] as const;

/**
 * Handles the requests of each connection one after the other. Node would handle all that one read of the socket delivers
 * in the same turn of the event loop: about 2,000. A connection with too many waiting requests is destroyed.
 */
export class RequestQueues {
  /** The waiting requests of each connection that has one in progress. */
  readonly #waiting = new WeakMap<Socket, Exchange[]>();
  readonly #handle: RequestListener;

  constructor(handle: RequestListener) {
    this.#handle = handle;
  }

  add(...exchange: Exchange): void {
    const [{ socket }] = exchange;
    const waiting = this.#waiting.get(socket);
    // The response before it closes the connection.
    if (!socket.writable) ignore(socket, everyCall);
    else if (waiting === undefined) {
      this.#waiting.set(socket, []);
      this.#begin(exchange);
    } else if (waiting.length < maxWaiting) {
      waiting.push(exchange);
      this.#pause(exchange);
    } else {
      socket.destroy();
      ignore(socket, everyCall);
    }
  }

  /** Whether a request waits for the one in progress, or for the next turn of the event loop. */
  hasWaiting(socket: Socket): boolean {
    return (this.#waiting.get(socket) ?? []).length > 0;
  }

  /** What the client sends next waits outside of this process. */
  #pause([request]: Exchange): void {
    const { socket } = request;
    // Node resumes the socket when a request is complete.
    const pause = (): void => queueMicrotask(() => void (this.hasWaiting(socket) && socket.pause()));
    pause();
    request.once('end', pause);
  }

  #begin(exchange: Exchange): void {
    const [{ socket }, response] = exchange;
    response.once('close', () => {
      // Other connections go first.
      if (this.hasWaiting(socket)) setImmediate(() => this.#next(socket));
      else this.#waiting.delete(socket);
    });
    this.#handle(...exchange);
  }

  #next(socket: Socket): void {
    const waiting = this.#waiting.get(socket) ?? [];
    const next = waiting.shift();
    if (next === undefined || !socket.writable) return;
    if (waiting.length === 0) socket.resume();
    this.#begin(next);
  }
}
