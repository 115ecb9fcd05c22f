import { DomainError } from '../../domain/errors/domain-error.ts';
import { backoffMs } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import type { KeyedLimiter } from '../../lib/keyed-limiter.ts';
import type { Database } from '../../store/database.ts';
import {
  lookForStream,
  type StreamedRevision,
  type StreamLook,
  type StreamPosition,
} from '../../store/revision-log.ts';
import { findRevision, type RevisionIds, type RevisionRef } from '../../store/revisions.ts';
import type { EnvironmentAccess } from '../access/access.ts';

/** What a stream of changes reports. */
export type StreamEvent =
  /**
   * The first of a stream: what is committed after the present revision, or after where the reader left off, follows.
   */
  | ({ readonly kind: 'ready'; readonly resumed: boolean } & RevisionIds)
  /** Where the reader left off is no longer known: read everything again; what follows is after this revision. */
  | ({ readonly kind: 'reset' } & RevisionIds)
  | ({ readonly kind: 'change' } & StreamedRevision)
  /** Nothing happened for some time. */
  | { readonly kind: 'idle' };

/** Begins a stream that was opened. Call it once; it ends with the signal, and then frees its place. */
export type OpenStream = (signal: AbortSignal) => AsyncIterable<StreamEvent>;

/** Where a reader left off: a revision, null where what it says cannot be one; undefined to begin at the present. */
export type StreamStart = RevisionRef | null | undefined;

export interface ChangeStreamDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly clock: Clock;
  /** How often an idle stream looks whether it may go on, in milliseconds; default 15 s. */
  readonly checkMs?: number;
}

const retry = { initialMs: 250, maxMs: 5_000 };

interface StreamPlace {
  readonly looks: KeyedLimiter;
  leave(): void;
}

/** One reader of one environment. */
export class ChangeStream {
  readonly #deps: ChangeStreamDeps;
  readonly #access: EnvironmentAccess<'change.list'>;
  readonly #place: StreamPlace;
  #position: StreamPosition;
  #first: StreamEvent;
  #ended = false;
  #woken = false;
  #interrupt: (() => void) | undefined;

  constructor(deps: ChangeStreamDeps, access: EnvironmentAccess<'change.list'>, place: StreamPlace) {
    this.#deps = deps;
    this.#access = access;
    this.#place = place;
    // The present, as of the authorisation.
    const { revision, revisionId } = access;
    this.#position = positionAt({ revision, revisionId });
    this.#first = { kind: 'ready', resumed: false, revision, revisionId };
  }

  get environmentId(): string {
    return this.#access.environmentId;
  }

  get principalId(): string {
    return this.#access.caller.principal.id;
  }

  get organizationId(): string {
    return this.#access.organizationId;
  }

  get credentialId(): string {
    return this.#access.caller.principal.credentialId;
  }

  /** Finds where to begin. */
  async begin(from: StreamStart): Promise<void> {
    if (from === undefined) return;
    const { environmentId, revision, revisionId } = this.#access;
    const found = await this.#positionOf(environmentId, from);
    if (found === undefined) this.#first = { kind: 'reset', revision, revisionId };
    else {
      this.#position = found;
      this.#first = { kind: 'ready', resumed: true, revision, revisionId };
    }
  }

  /** There may be a change, or the stream may have to end. */
  wake(): void {
    this.#woken = true;
    this.#interrupt?.();
  }

  end(): void {
    this.#ended = true;
    this.#interrupt?.();
  }

  /** Looks for the next event when the reader has taken the one before. */
  async *events(signal: AbortSignal): AsyncGenerator<StreamEvent> {
    const first = this.#first;
    const end = (): void => this.end();
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    try {
      if (!this.#ended) yield first;
      let failures = 0;
      let isIdle = false;
      while (!this.#ended) {
        this.#woken = false;
        const look = await this.#look();
        if (look === 'over') return;
        failures = look === 'unavailable' ? failures + 1 : 0;
        const event = look === 'unavailable' ? undefined : this.#advance(look);
        if (event !== undefined) yield event;
        else if (isIdle) yield { kind: 'idle' };
        isIdle = event === undefined && (await this.#pause(failures));
      }
    } finally {
      signal.removeEventListener('abort', end);
      this.#place.leave();
    }
  }

  /** The present state; `over` if the caller may receive no more, `unavailable` if that is not known. */
  async #look(): Promise<StreamLook | 'over' | 'unavailable'> {
    const { environmentId } = this;
    const { principal } = this.#access.caller;
    try {
      const look = await this.#place.looks.run('look', () =>
        lookForStream(this.#deps.database.pool, { environmentId, principal, position: this.#position }),
      );
      if (look === undefined || !look.credentialIsLive || this.#ended) return 'over';
      this.#access.confirmAs(look.standing);
      return look;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      if (error.code === 'not_found' || error.code === 'forbidden') return 'over';
      if (error.description.isOutage === true) return 'unavailable';
      throw error;
    }
  }

  #advance({ present, positionIsKnown, next }: StreamLook): StreamEvent | undefined {
    if (!positionIsKnown) {
      this.#position = positionAt(present);
      return { kind: 'reset', ...present };
    }
    if (next === undefined) return undefined;
    this.#position = positionAt(next);
    return { kind: 'change', ...next };
  }

  async #positionOf(environmentId: string, from: RevisionRef | null): Promise<StreamPosition | undefined> {
    if (from === null) return undefined;
    if (from === 0) return { revision: 0, revisionId: null };
    const found = await findRevision(this.#deps.database.pool, environmentId, from);
    return found === undefined ? undefined : positionAt(found);
  }

  /** Whether the time until the next look has passed without anything that wakes or ends the stream. */
  async #pause(failures: number): Promise<boolean> {
    if (this.#woken || this.#ended) return false;
    const { checkMs = 15_000 } = this.#deps;
    // Up to a fifth less, so that streams that were woken together do not stay together.
    const delayMs = failures === 0 ? checkMs * (1 - Math.random() / 5) : backoffMs(failures, retry);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const cancel = this.#deps.clock.after(delayMs, () => resolve(true));
    this.#interrupt = () => resolve(false);
    try {
      return await promise;
    } finally {
      cancel();
      this.#interrupt = undefined;
    }
  }
}

/** Revision 0 has no record, so that its id is no longer known after the first change. */
function positionAt({ revision, revisionId }: RevisionIds): StreamPosition {
  return { revision, revisionId: revision === 0 ? null : revisionId };
}
