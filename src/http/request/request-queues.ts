import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { ignore } from './parser.ts';

type Exchange = Parameters<RequestListener>;

// Clients of today wait for a response before they send the next request.
const maxWaiting = 8;

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
    if (waiting === undefined) {
      this.#waiting.set(socket, []);
      this.#begin(exchange);
    } else if (waiting.length < maxWaiting) {
      waiting.push(exchange);
    } else {
      socket.destroy();
      ignore(socket, ['kOnHeaders', 'kOnHeadersComplete', 'kOnBody', 'kOnMessageComplete']);
    }
  }

  #begin(exchange: Exchange): void {
    const [{ socket }, response] = exchange;
    response.once('close', () => {
      const next = this.#waiting.get(socket)?.shift();
      if (next === undefined) this.#waiting.delete(socket);
      // Other connections go first.
      else setImmediate(() => void (socket.writable && this.#begin(next)));
    });
    this.#handle(...exchange);
  }
}
