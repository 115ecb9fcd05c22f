import type { ChangeEvent, ChangeSubscriber } from '../../domain/changes.ts';
import { type ClusterPrincipal, limitsOwner } from '../../domain/cluster-principal.ts';
import type { Clock } from '../../lib/clock.ts';

/** What a stream reports to a controller. */
export type ClusterStreamEvent =
  /** From now on every commit is reported: compare. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'change'; readonly change: ChangeEvent }
  /** The stream ends soon: open another one now. */
  | { readonly kind: 'renew' }
  /** Nothing happened for some time. */
  | { readonly kind: 'idle' };

/** Who reads a stream of a cluster. */
export interface StreamReader {
  /** A random id, as the reader says. */
  readonly processId: string;
  /** The network from which it reads. */
  readonly network: string;
}

export interface ClusterStreamDeps {
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** Frees the place of the stream. Called once. */
  readonly leave: () => void;
}

// About 1 MiB of text. A reader that is so far behind compares instead.
const maxWaiting = 5_000;
// More than one read of the connection to PostgreSQL delivers, so that a burst leaves as fast as it comes.
const batchSize = 1_000;
const idleMs = 10_000;
const lifetime = { meanMs: 3_600_000, spread: 0.1 } as const;
const maxRenewalMs = 60_000;

/** What one process of one cluster has not read yet of what was committed. */
export class ClusterStream implements ChangeSubscriber {
  /** Of the limits of streams. */
  readonly owner: string;
  readonly reader: StreamReader;
  readonly #deps: ClusterStreamDeps;
  #waiting: ClusterStreamEvent[] = [];
  /** `ending` after what waits. */
  #state: 'open' | 'ending' | 'ended' = 'open';
  #wake: () => void = () => {};
  readonly #cancels: (() => void)[] = [];

  constructor(cluster: ClusterPrincipal, reader: StreamReader, deps: ClusterStreamDeps) {
    const { acceptedUntil } = cluster;
    this.owner = limitsOwner(cluster);
    this.reader = reader;
    this.#deps = deps;
    const { clock, random } = deps;
    const longestMs = lifetime.meanMs * (1 + lifetime.spread * (2 * random() - 1));
    const acceptedMs = acceptedUntil === null ? longestMs : acceptedUntil.getTime() - clock.now();
    const lifeMs = Math.max(0, Math.min(longestMs, acceptedMs));
    this.#cancels.push(
      clock.after(lifeMs - Math.min(maxRenewalMs, lifeMs / 5), () => this.renew()),
      clock.after(lifeMs, () => this.end()),
    );
  }

  onReady(): void {
    this.#add({ kind: 'ready' });
  }

  onEvent(change: ChangeEvent): void {
    this.#add({ kind: 'change', change });
    // Its state changed, or what proves it: it may connect again, if its credential is still accepted.
    if (change.kind === 'cluster') this.#finish();
  }

  /** Lets the reader open another stream. */
  renew(): void {
    this.#add({ kind: 'renew' });
  }

  /** Ends it at once: the reader compares anyway. */
  end(): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#waiting = [];
    for (const cancel of this.#cancels) cancel();
    this.#deps.leave();
    this.#wake();
  }

  /** Lists of events, each after the reader has taken the one before. Call it once. */
  async *events(signal: AbortSignal): AsyncGenerator<readonly ClusterStreamEvent[], void> {
    const end = (): void => this.end();
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    try {
      while (this.#state !== 'ended') {
        if (this.#waiting.length > 0) yield this.#waiting.splice(0, batchSize);
        else if (this.#state === 'ending') return;
        else if (await this.#isIdle()) yield [{ kind: 'idle' }];
      }
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
  }

  #add(event: ClusterStreamEvent): void {
    if (this.#state !== 'open') return;
    this.#waiting.push(event);
    if (this.#waiting.length > maxWaiting) this.end();
    else this.#wake();
  }

  #finish(): void {
    if (this.#state === 'open') this.#state = 'ending';
    this.#wake();
  }

  /** Whether nothing came for a while. */
  async #isIdle(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const cancel = this.#deps.clock.after(idleMs, () => resolve(true));
    this.#wake = () => resolve(false);
    try {
      return await promise;
    } finally {
      cancel();
      this.#wake = () => {};
    }
  }
}
