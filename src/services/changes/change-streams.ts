import type { ChangeEvent } from '../../domain/changes.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { limits } from '../../domain/limits.ts';
import { KeyedLimiter } from '../../lib/keyed-limiter.ts';
import type { EnvironmentAccess } from '../access/access.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { auditedTokenRead } from '../audit/audited.ts';
import type { ChangeFeed } from './change-feed.ts';
import { ChangeStream, type ChangeStreamDeps, type OpenStream, type StreamStart } from './change-stream.ts';
import { checkRevision } from '../kernel/checks.ts';

export interface ChangeStreamsDeps extends ChangeStreamDeps {
  readonly changes: Pick<ChangeFeed, 'subscribe' | 'ready'>;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
  /** Streams at a time; default `limits.changeStreams`. */
  readonly maxStreams?: number;
}

// A commit wakes all streams of its environment: they must not take the connections of other reads.
const maxConcurrentLooks = 3;

/**
 * The changes of environments as they are committed (docs/interface.md 4.10). A stream keeps nothing but where it
 * stands: each event is read, together with the caller's credential and right, at the moment the reader takes it.
 */
export class ChangeStreams {
  readonly #deps: ChangeStreamsDeps;
  readonly #streams = new Set<ChangeStream>();
  readonly #looks: KeyedLimiter;
  #closed = false;

  constructor(deps: ChangeStreamsDeps) {
    this.#deps = deps;
    this.#looks = new KeyedLimiter({
      concurrency: maxConcurrentLooks,
      maxWaiting: deps.maxStreams ?? limits.changeStreams,
      waitMs: 60_000,
      makeError: () => new DomainError('overloaded', 'too many streams wait for the database'),
    });
    deps.changes.subscribe({ onEvent: (event) => this.#wakeBy(event), onReady: () => this.#wake(() => true) });
  }

  /** Streams that are open, for the metrics. */
  get open(): number {
    return this.#streams.size;
  }

  /**
   * Opens a stream; a service token's is audited now. Throws DomainError overloaded or limit_exceeded beyond the limit
   * of streams, and store_unavailable while commits cannot be received.
   */
  async start(access: EnvironmentAccess<'change.list'>, from: StreamStart): Promise<OpenStream> {
    const stream = new ChangeStream(this.#deps, access, {
      looks: this.#looks,
      leave: () => this.#streams.delete(stream),
    });
    try {
      await auditedTokenRead(this.#deps.audit, access, async (note) => {
        note({ stream: true });
        if (from !== undefined && from !== null) checkRevision('since', from);
        this.#refuseTooMany(access);
        // Before the first look at the database: what is committed after that wakes it.
        this.#streams.add(stream);
        await stream.begin(from);
      });
    } catch (error) {
      this.#streams.delete(stream);
      throw error;
    }
    return (signal) => stream.events(signal);
  }

  /** Ends all streams, and opens no more. */
  close(): void {
    this.#closed = true;
    for (const stream of this.#streams) stream.end();
  }

  #refuseTooMany({ caller: { principal }, organizationId }: EnvironmentAccess<'change.list'>): void {
    const { changes, maxStreams = limits.changeStreams } = this.#deps;
    if (this.#closed) throw new DomainError('overloaded', 'this server is shutting down; connect again');
    if (!changes.ready) {
      throw new DomainError('store_unavailable', 'commits cannot be heard at the moment; connect again in a second');
    }
    if (this.#streams.size >= maxStreams) {
      throw new DomainError('overloaded', 'too many change streams are open on this server; connect again later');
    }
    const share = Math.floor(maxStreams * limits.changeStreamsShare);
    this.#refuseFrom(limits.changeStreamsPerCredential, 'with this token', (open) => {
      return open.credentialId === principal.credentialId;
    });
    this.#refuseFrom(share, 'with your tokens', (open) => open.principalId === principal.id);
    this.#refuseFrom(maxStreams - share, 'in this organization', (open) => open.organizationId === organizationId);
  }

  /** Refuses one more of the streams that count, if so many are open. */
  #refuseFrom(max: number, whose: string, counts: (open: ChangeStream) => boolean): void {
    if ([...this.#streams].filter(counts).length < max) return;
    throw new DomainError('limit_exceeded', `${max} change streams are open ${whose}; close one first`);
  }

  #wakeBy(event: ChangeEvent): void {
    switch (event.kind) {
      case 'environment':
        return this.#wake(({ environmentId }) => environmentId === event.environmentId);
      case 'service_token':
        return this.#wake(({ principalId }) => principalId === event.serviceTokenId);
      case 'user':
        return this.#wake(({ principalId }) => principalId === event.userId);
      case 'snapshot':
        // No change of the environment.
        return;
    }
  }

  #wake(isConcerned: (stream: ChangeStream) => boolean): void {
    for (const stream of this.#streams) if (isConcerned(stream)) stream.wake();
  }
}
