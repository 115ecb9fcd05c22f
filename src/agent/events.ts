import type { ChangeSubscriber } from '../domain/changes.ts';
import { DomainError } from '../domain/errors/domain-error.ts';
import type { Clock } from '../lib/clock.ts';
import { Subscribers } from '../lib/subscribers.ts';
import { errorFields, type Logger } from '../observability/logger.ts';
import { type ClusterMessage, readClusterEvent } from '../wire/cluster/events.ts';
import { EventParser } from '../wire/event-parser.ts';

export interface ServerEventsDeps {
  readonly transport: {
    /**
     * Sends `GET /api/v1/cluster<path>` on a connection of its own. Returns the text of the answer, in whatever parts it
     * arrives. The signal closes the connection. Throws DomainError.
     */
    stream(path: string, signal: AbortSignal): Promise<AsyncIterable<string>>;
  };
  readonly clock: Clock;
  readonly logger: Logger;
  /** A number in [0, 1); Math.random by default. */
  readonly random?: () => number;
}

// The server sends a comment every 10 s.
const silenceMs = 25_000;
const maxPauseMs = 5_000;
// A controller without a configured name learns it from the API server of its cluster, a moment after its start.
const namelessPauseMs = 250;
// A stream that ended sooner counts as one that could not be opened.
const settledMs = 5_000;
// How long both streams are read after a renewal: what the former server still has to report arrives meanwhile.
const overlapMs = 15_000;
// A message has ids only.
const maxMessageLength = 16 * 1024;

/**
 * What the server reports of commits (docs/internals/change-feed.md). It is connected while there are subscribers, and
 * connects again after each loss. A loss is a gap, and the next connection calls `onReady`. Before the server ends a stream as
 * planned, another one is opened: a commit may then be reported twice.
 */
export class ServerEvents {
  readonly #deps: ServerEventsDeps;
  readonly #subscribers: Subscribers<ChangeSubscriber>;
  #connection: Connection | undefined;

  constructor(deps: ServerEventsDeps) {
    this.#deps = deps;
    this.#subscribers = new Subscribers((error) => {
      deps.logger.error(errorFields(error), 'a subscriber of changes failed');
    });
  }

  /** Whether every commit is reported now. */
  get isReady(): boolean {
    return this.#connection?.isReady === true;
  }

  /** See `ChangesBackend.subscribe`. */
  subscribe(subscriber: ChangeSubscriber): () => void {
    const own = this.#subscribers.add(subscriber);
    if (this.#connection === undefined) this.#connect();
    else if (this.isReady) queueMicrotask(() => own.notify((notified) => notified.onReady()));
    return () => {
      own.remove();
      if (this.#subscribers.size === 0) this.#disconnect();
    };
  }

  #connect(): void {
    this.#connection = new Connection(this.#deps, {
      onEvent: (event) => this.#subscribers.notifyAll((subscriber) => subscriber.onEvent(event)),
      onReady: () => this.#subscribers.notifyAll((subscriber) => subscriber.onReady()),
    });
  }

  #disconnect(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }
}

/** Keeps a stream open until it is closed. */
class Connection {
  readonly #deps: ServerEventsDeps;
  readonly #subscriber: ChangeSubscriber;
  /** Those that are open or being opened: one, or two during a renewal. */
  readonly #streams = new Set<Stream>();
  #failures = 0;
  /** Cancels the timer that opens the next stream; undefined without one. */
  #cancelNext: (() => void) | undefined;
  #isClosed = false;

  constructor(deps: ServerEventsDeps, subscriber: ChangeSubscriber) {
    this.#deps = deps;
    this.#subscriber = subscriber;
    this.#open();
  }

  /** Whether every commit is reported now. */
  get isReady(): boolean {
    return [...this.#streams].some(({ isReady }) => isReady);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelNext?.();
    for (const stream of this.#streams) stream.close();
  }

  #open(): void {
    const stream: Stream = new Stream(this.#deps, {
      onMessage: (message) => this.#take(stream, message),
      onEnd: (fault) => this.#ended(stream, fault),
    });
    this.#streams.add(stream);
  }

  #take(stream: Stream, message: ClusterMessage): void {
    switch (message.kind) {
      case 'change':
        return this.#subscriber.onEvent(message.change);
      case 'ready':
        return this.#ready(stream);
      case 'renew':
        if (!stream.isLeaving) this.#openAfter(stream);
    }
  }

  #ready(stream: Stream): void {
    // The cluster may know of more.
    if (stream.isReady) return this.#subscriber.onReady();
    const others = [...this.#streams].filter(({ isReady }) => isReady);
    stream.isReady = true;
    this.#deps.logger.info('listening for changes of the server');
    // The others still report what was committed before.
    if (others.length === 0) this.#subscriber.onReady();
    for (const other of others) other.closeLater();
  }

  #ended(stream: Stream, fault: unknown): void {
    this.#streams.delete(stream);
    if (this.#isClosed || stream.isReplaced) return;
    const hasSuccessor = [...this.#streams].some(({ isReady, isLeaving }) => isReady && !isLeaving);
    if (stream.isReady && hasSuccessor) {
      // It may have ended before it reported what the newer stream does not report.
      this.#subscriber.onReady();
      return;
    }
    if (isNameless(fault)) return this.#openIn(namelessPauseMs);
    this.#openAfter(stream, fault);
    if (this.#failures <= 1) this.#warn(fault);
  }

  #warn(fault: unknown): void {
    const fields = fault === undefined ? {} : errorFields(fault);
    this.#deps.logger.warn(fields, 'listening for changes of the server was interrupted; connecting again');
  }

  /** At once after a stream that worked, else after a pause that spreads the controllers of all clusters. */
  #openAfter(stream: Stream, fault?: unknown): void {
    this.#failures = stream.isSettled ? 0 : this.#failures + 1;
    const { random = Math.random } = this.#deps;
    this.#openIn(this.#failures === 0 ? 0 : askedPauseMs(fault) + maxPauseMs * random());
  }

  #openIn(pauseMs: number): void {
    const isOpening = [...this.#streams].some(({ isReady }) => !isReady);
    if (isOpening || this.#cancelNext !== undefined) return;
    this.#cancelNext = this.#deps.clock.after(pauseMs, () => {
      this.#cancelNext = undefined;
      this.#open();
    });
  }
}

interface StreamHandlers {
  readonly onMessage: (message: ClusterMessage) => void;
  /** Called once. `fault` is undefined if the server ended it in order. */
  readonly onEnd: (fault: unknown) => void;
}

/** One stream, from its opening to its end. */
class Stream {
  /** Whether its first message has come. */
  isReady = false;
  readonly #deps: ServerEventsDeps;
  readonly #handlers: StreamHandlers;
  readonly #abort = new AbortController();
  readonly #openedMs: number;
  #isLeaving = false;
  #isReplaced = false;
  #cancelSilence = (): void => {};
  #cancelOverlap = (): void => {};

  constructor(deps: ServerEventsDeps, handlers: StreamHandlers) {
    this.#deps = deps;
    this.#handlers = handlers;
    this.#openedMs = deps.clock.now();
    void this.#run();
  }

  /** Whether another one replaces it. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /** Whether it was closed because another one has replaced it. */
  get isReplaced(): boolean {
    return this.#isReplaced;
  }

  /** Whether it has worked for some time. */
  get isSettled(): boolean {
    return this.isReady && this.#deps.clock.now() - this.#openedMs >= settledMs;
  }

  close(): void {
    this.#cancelOverlap();
    this.#abort.abort();
  }

  /** Closes it after what the server has still to report has come. */
  closeLater(): void {
    this.#isLeaving = true;
    this.#cancelOverlap();
    this.#cancelOverlap = this.#deps.clock.after(overlapMs, () => {
      this.#isReplaced = true;
      this.close();
    });
  }

  async #run(): Promise<void> {
    let fault: unknown;
    this.#expect();
    try {
      await this.#read();
    } catch (error) {
      fault = error;
    }
    this.#cancelSilence();
    this.close();
    this.#handlers.onEnd(fault);
  }

  async #read(): Promise<void> {
    const parser = new EventParser(maxMessageLength);
    for await (const part of await this.#deps.transport.stream('/events', this.#abort.signal)) {
      this.#expect();
      for (const sent of parser.read(part)) {
        const message = readClusterEvent(sent);
        if (message !== undefined && !this.#abort.signal.aborted) this.#handlers.onMessage(message);
      }
    }
  }

  /** The server must send something in time. */
  #expect(): void {
    this.#cancelSilence();
    this.#cancelSilence = this.#deps.clock.after(silenceMs, () => {
      this.#abort.abort(new DomainError('store_unavailable', 'the server was silent for 25 seconds'));
    });
  }
}

/** Whether the stream could not be asked for, because the name of the cluster is unknown. */
function isNameless(fault: unknown): boolean {
  return fault instanceof DomainError && fault.code === 'cluster_unavailable';
}

/** How long the server wants a controller to wait. */
function askedPauseMs(fault: unknown): number {
  return fault instanceof DomainError ? (fault.retryAfterSeconds ?? 0) * 1000 : 0;
}
