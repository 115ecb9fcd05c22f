import { inspect } from 'node:util';

/** One server-sent event as a client gets it. */
export interface ReadEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: unknown;
}

const limitMs = 90_000;
// Less than the time after which a stream of these tests looks by itself whether it may go on.
const atOnceMs = 10_000;

/** Reads a stream of server-sent events over HTTP; what is not asked for stays unread. */
export class EventReader {
  readonly response: Response;
  /** Lines that were comments, so far. */
  comments = 0;
  readonly #abort: AbortController;
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = '';

  private constructor(response: Response, abort: AbortController) {
    this.response = response;
    this.#abort = abort;
    this.#chunks = (response.body as unknown as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  }

  /** Throws an Error where the answer is no stream. */
  static async open(
    url: string,
    token: { reveal(): string } | undefined,
    headers: Record<string, string> = {},
  ): Promise<EventReader> {
    const abort = new AbortController();
    const authorization: Record<string, string> =
      token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` };
    const response = await fetch(url, {
      signal: abort.signal,
      headers: { accept: 'text/event-stream', ...authorization, ...headers },
    });
    if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) {
      return new EventReader(response, abort);
    }
    throw new Error(`${response.status}: ${await response.text()}`);
  }

  /** The next event, comments passed over; undefined at the end of the stream. Throws after 90 s. */
  async next(): Promise<ReadEvent | undefined> {
    return this.#next(limitMs);
  }

  /** Like `next`, for an event or an end that must not come from a fallback: throws after 10 s. */
  async nextAtOnce(): Promise<ReadEvent | undefined> {
    return this.#next(atOnceMs);
  }

  async #next(withinMs: number): Promise<ReadEvent | undefined> {
    for (;;) {
      const block = await this.#block(withinMs);
      if (block === undefined) return undefined;
      if (block.startsWith(':')) this.comments += 1;
      const fields = new Map(block.split('\n').map((line) => [line.split(': ', 1)[0], line.replace(/^[^:]*: ?/, '')]));
      const data = fields.get('data');
      if (data !== undefined) {
        return { event: fields.get('event') ?? 'message', id: fields.get('id'), data: JSON.parse(data) as unknown };
      }
    }
  }

  /** The next so many events. */
  async take(count: number): Promise<ReadEvent[]> {
    const events: ReadEvent[] = [];
    while (events.length < count) {
      const event = await this.next();
      if (event === undefined) throw new Error(`the stream ended after ${inspect(events)}`);
      events.push(event);
    }
    return events;
  }

  /** Goes away without a word. */
  close(): void {
    this.#abort.abort();
  }

  async #block(withinMs: number): Promise<string | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end !== -1) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        return block;
      }
      const { done, value } = await this.#chunk(withinMs);
      if (done === true) return undefined;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  async #chunk(withinMs: number): Promise<IteratorResult<Uint8Array>> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error('no event came in time')), withinMs);
    try {
      return await Promise.race([this.#chunks.next(), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}
