import type { SteadyNow } from '../../lib/clock.ts';

/** A registered cluster whose controller is refused. */
export interface RefusedCluster {
  readonly cluster: string;
  /** Its token does not prove the cluster, or its uid is another one. */
  readonly reason: 'credential' | 'uid';
}

// Its controller tries again every 10 seconds.
const keptMs = 120_000;

/** The registered clusters that this process refused within the last two minutes, for a metric. */
export class RefusedClusters {
  readonly #now: SteadyNow;
  readonly #noted = new Map<string, { readonly refused: RefusedCluster; readonly atMs: number }>();

  constructor(now: SteadyNow) {
    this.#now = now;
  }

  note(refused: RefusedCluster): void {
    this.#noted.set(`${refused.reason} ${refused.cluster}`, { refused, atMs: this.#now() });
  }

  recent(): readonly RefusedCluster[] {
    const since = this.#now() - keptMs;
    for (const [key, { atMs }] of this.#noted) if (atMs < since) this.#noted.delete(key);
    return [...this.#noted.values()].map(({ refused }) => refused);
  }
}
