import { DomainError } from '../../domain/errors/domain-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { ClusterRegistry } from '../../services/managed/cluster-registry.ts';
import { type Next, WorkQueue } from './work-queue.ts';

export interface ClusterClaimDeps {
  readonly registry: Pick<ClusterRegistry, 'claim'>;
  /** What the database knows the cluster by, as configured; undefined for the uid, which no other cluster has. */
  readonly name: string | undefined;
  /** The uid of the cluster's namespace kube-system. Throws DomainError cluster_unavailable before it was listed. */
  readonly uid: () => string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const intervalMs = 60_000;
// The one key of the queue that claims.
const claimKey = 'claim';

/**
 * Records, once a minute while this process leads, that its cluster goes by the configured name. Two clusters of one name
 * would share the service tokens and resources of one database.
 */
export class ClusterClaim {
  readonly #deps: ClusterClaimDeps;
  readonly #queue: WorkQueue;
  #error: string | undefined;

  constructor(deps: ClusterClaimDeps) {
    this.#deps = deps;
    const { clock, logger } = deps;
    const process = async (): Promise<Next> => await this.#claim();
    this.#queue = new WorkQueue({ clock, logger, workers: 1, process });
  }

  /** Why this process is not ready: another cluster goes by the name. Undefined if none does. */
  get error(): string | undefined {
    return this.#error;
  }

  start(): void {
    if (this.#deps.name === undefined) return;
    this.#queue.add(claimKey);
    this.#queue.start();
  }

  pause(): void {
    this.#queue.pause();
    this.#error = undefined;
  }

  async stop(limitMs: number): Promise<void> {
    await this.#queue.stop(limitMs);
  }

  async #claim(): Promise<Next> {
    const { registry, name = '', uid, logger } = this.#deps;
    let claimed;
    try {
      claimed = await registry.claim(name, uid());
    } catch (error) {
      // The database is away, or the namespaces have not been listed: readiness reports both by itself.
      if (!(error instanceof DomainError)) throw error;
      return { kind: 'retry' };
    }
    const error = claimed === 'ours' ? undefined : sharedName(name, claimed.heldBy);
    if (error !== undefined && this.#error === undefined) logger.error(error);
    this.#error = error;
    return { kind: 'after', delayMs: intervalMs };
  }
}

function sharedName(name: string, heldBy: string): string {
  return (
    `another cluster, whose namespace kube-system has the uid ${heldBy}, goes by the name ${name} in this database; ` +
    'set another KEYFRAME_CLUSTER_NAME in one of the two'
  );
}
