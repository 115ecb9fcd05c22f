import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { ChangeEvent } from '../domain/changes.ts';
import { DomainError } from '../domain/errors/domain-error.ts';
import { backoffMs } from '../lib/backoff.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { Interrupt } from '../lib/interrupt.ts';
import { errorFields, type Logger } from '../observability/logger.ts';
import { type DatabaseAddress, connectionOptions } from './address.ts';
import { notifyChannel, parseMessage } from './notify.ts';
import { describedError } from './store-error.ts';
import { setUpSession } from './session.ts';

/** Its address is a direct one: through a pooler in transaction mode nothing is heard, and `onReady` is never called. */
export interface ListenerDeps extends DatabaseAddress {
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Time between two proofs that notifications arrive; default 5 s. */
  readonly heartbeatMs?: number;
  /** How long connecting, or such a proof, may take; default 5 s. */
  readonly limitMs?: number;
}

export interface ListenerHandlers {
  /** Listening, and proven: every later commit is reported. What came before was not. */
  onReady(): void;
  onMessage(message: ChangeEvent): void;
  /** Nothing is heard any more, until the next `onReady`. */
  onLost(): void;
}

const reconnect = { initialMs: 100, maxMs: 5_000 };

/**
 * Listens for commits on a separate connection, for ever: it connects again whenever the connection breaks or falls
 * silent. Every few seconds it notifies itself, because a connection that died without a word looks like one on which
 * nothing happens.
 */
export class Listener {
  readonly #address: DatabaseAddress;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #heartbeatMs: number;
  readonly #limitMs: number;
  readonly #closing = new Interrupt();
  #closed = false;
  #running: Promise<void> | undefined;

  constructor({ url, caFile, logger, clock = systemClock, heartbeatMs = 5_000, limitMs = 5_000 }: ListenerDeps) {
    this.#address = { url, caFile };
    this.#logger = logger;
    this.#clock = clock;
    this.#heartbeatMs = heartbeatMs;
    this.#limitMs = limitMs;
  }

  /** Begins. Handlers must not throw. Call once. */
  start(handlers: ListenerHandlers): void {
    this.#running ??= this.#run(handlers);
  }

  /** Ends the connection and calls no handler any more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#closing.fire();
    await this.#running;
  }

  async #run(handlers: ListenerHandlers): Promise<void> {
    let failures = 0;
    while (!this.#closed) {
      const session = new Session(this.#address, this.#limitMs, this.#clock);
      let ready = false;
      try {
        await this.#closing.during(session.open((message) => this.#closed || handlers.onMessage(message)));
        if (this.#closed) break;
        ready = true;
        failures = 0;
        this.#logger.info('listening for changes');
        handlers.onReady();
        await this.#keep(session);
      } catch (error) {
        if (this.#closed) break;
        failures += 1;
        this.#logger.warn(
          { ...errorFields(describedError(error)), failures },
          'listening for changes was interrupted; connecting again',
        );
      } finally {
        session.destroy();
        if (ready && !this.#closed) handlers.onLost();
      }
      await this.#pause(backoffMs(Math.max(failures, 1), reconnect));
    }
  }

  /** Proves the session alive again and again; throws when it is not, comes back when the listener is closed. */
  async #keep(session: Session): Promise<void> {
    while (!this.#closed) {
      await session.lost.during(this.#pause(this.#heartbeatMs));
      if (!this.#closed) await this.#closing.during(session.prove());
    }
  }

  /** Comes back early when the listener is closed. */
  async #pause(delayMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#clock.after(delayMs, resolve);
    await this.#closing.during(promise);
    cancel();
  }
}

/** One connection of the listener. */
class Session {
  /** Fired with the reason when the connection is lost. */
  readonly lost = new Interrupt();
  readonly #address: DatabaseAddress;
  readonly #client: pg.Client;
  readonly #limitMs: number;
  readonly #clock: Clock;
  readonly #proofs = new Map<string, () => void>();

  constructor(address: DatabaseAddress, limitMs: number, clock: Clock) {
    this.#address = address;
    this.#limitMs = limitMs;
    this.#clock = clock;
    this.#client = this.#newClient();
    this.#client.on('error', (error) => this.lost.fire(error));
    this.#client.on('end', () => this.lost.fire(new DomainError('store_unavailable', 'the connection ended')));
  }

  async open(onMessage: (message: ChangeEvent) => void): Promise<void> {
    this.#client.on('notification', ({ payload = '' }) => {
      const proven = this.#proofs.get(payload);
      if (proven !== undefined) return proven();
      const message = parseMessage(payload);
      if (message !== undefined) onMessage(message);
    });
    await this.#within(async () => {
      await this.#client.connect();
      await setUpSession(this.#client);
      await this.#client.query(`LISTEN ${notifyChannel}`);
    });
    await this.#proveFromOutside();
  }

  /** Notifies itself and waits until that arrives. */
  async prove(sender = this.#client): Promise<void> {
    const payload = JSON.stringify({ h: randomUUID() });
    const { promise: arrived, resolve } = Promise.withResolvers<void>();
    this.#proofs.set(payload, resolve);
    let late = this.#silence;
    try {
      await this.#within(
        async () => {
          await sender.query('SELECT pg_notify($1, $2)', [notifyChannel, payload]);
          late = this.#deafness;
          await arrived;
        },
        () => late,
      );
    } finally {
      this.#proofs.delete(payload);
    }
  }

  /**
   * Proves that notifications of other connections arrive. A pooler in transaction mode passes on a notification only
   * while its client runs a statement, so one from itself arrives there, and no other.
   */
  async #proveFromOutside(): Promise<void> {
    const sender = this.#newClient();
    // The statement under way fails as well.
    sender.on('error', () => {});
    try {
      await this.#within(async () => void (await sender.connect()));
      await this.prove(sender);
    } finally {
      sender.connection.stream.destroy();
    }
  }

  /** Breaks the connection at once: an orderly end would wait for a peer that may be gone. */
  destroy(): void {
    this.#client.connection.stream.destroy();
  }

  #newClient(): pg.Client {
    return new pg.Client({
      ...connectionOptions(this.#address),
      application_name: 'keyframe-listener',
      connectionTimeoutMillis: this.#limitMs,
      keepAlive: true,
    });
  }

  get #silence(): string {
    return `PostgreSQL did not respond within ${this.#limitMs} ms`;
  }

  get #deafness(): string {
    return `PostgreSQL responds, but no notification arrived within ${this.#limitMs} ms: give KEYFRAME_DATABASE_DIRECT_URL an address without a pooler (database.directKey of the chart)`;
  }

  async #within(work: () => Promise<void>, tooLate = (): string => this.#silence): Promise<void> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const cancel = this.#clock.after(this.#limitMs, () => reject(new DomainError('store_unavailable', tooLate())));
    try {
      await this.lost.during(Promise.race([work(), late]));
    } finally {
      cancel();
    }
  }
}
