import type { NameHolder } from '../../domain/clusters.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { ClusterBackend } from '../backend/cluster.ts';
import { clusterNameFree, clusterNameTaken, clusterNameUnconfirmed } from './messages.ts';
import { type Next, WorkQueue } from './work-queue.ts';

export interface ClusterClaimDeps {
  readonly backend: ClusterBackend;
  /** The configured name of the cluster in the database; undefined if its uid is used, which is unique. */
  readonly name: string | undefined;
  /** The uid of the cluster's namespace kube-system. Throws DomainError cluster_unavailable before it is listed. */
  readonly uid: () => string;
  /** Called when this process may start to work under the name, and when it must stop. */
  readonly onChange: (mayWork: boolean) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

const intervalMs = 60_000;
// The name is free 10 minutes after its cluster was last seen.
const refusedIntervalMs = 10_000;
// This process works during an outage of the database, so the name must be checked soon after it.
const maxRetryMs = 10_000;
// The queue has only this key.
const claimKey = 'claim';

/**
 * Claims the configured name for this cluster, once a minute while this process leads. Two clusters with one name would
 * share the service tokens and resources of one database, and each would suspend the other's tokens as orphans. So a
 * controller does no work if its name belongs to another cluster.
 */
export class ClusterClaim {
  readonly #deps: ClusterClaimDeps;
  readonly #queue: WorkQueue;
  #isLeading = false;
  #mayWork = false;
  /** The message if another cluster has the name. */
  #refusal: string | undefined;

  constructor(deps: ClusterClaimDeps) {
    this.#deps = deps;
    const { clock, logger } = deps;
    const process = async (): Promise<Next> => await this.#claim();
    const backoff = { initialMs: 500, maxMs: maxRetryMs };
    this.#queue = new WorkQueue({ clock, logger, workers: 1, process, backoff });
  }

  /** Whether this process leads, and no other cluster is known to have the name. */
  get mayWork(): boolean {
    return this.#mayWork;
  }

  /** Why this process is not ready although it leads; undefined if it is. */
  get error(): string | undefined {
    if (this.#refusal !== undefined) return this.#refusal;
    const isWaiting = this.#isLeading && !this.#mayWork;
    return isWaiting ? clusterNameUnconfirmed(this.#deps.name ?? '') : undefined;
  }

  /** Call it when this process starts to lead. Without a name it may work at once. */
  start(): void {
    this.#isLeading = true;
    if (this.#deps.name === undefined) {
      this.#settle('ours');
      return;
    }
    this.#queue.add(claimKey);
    this.#queue.start();
  }

  /** Call it when this process stops leading. */
  pause(): void {
    this.#queue.pause();
    this.#isLeading = false;
    this.#refusal = undefined;
    this.#allow(false);
  }

  async stop(limitMs: number): Promise<void> {
    await this.#queue.stop(limitMs);
  }

  /** Claims the name now. Returns whether this process may work under it. Throws DomainError store_unavailable. */
  async confirm(): Promise<boolean> {
    this.#settle(await this.#ask());
    return this.#mayWork;
  }

  async #claim(): Promise<Next> {
    let claimed: Claimed = 'unknown';
    try {
      claimed = await this.#ask();
    } catch (error) {
      // Readiness reports the outage of the database. Some work needs no database, such as removing finalizers by force.
      if (!(error instanceof DomainError)) throw error;
    } finally {
      this.#settle(claimed);
    }
    if (claimed === 'unknown') return { kind: 'retry' };
    return { kind: 'after', delayMs: claimed === 'ours' ? intervalMs : refusedIntervalMs };
  }

  /** Returns `unknown` if the namespaces are not listed, because they identify the cluster. */
  async #ask(): Promise<Claimed> {
    const { name, backend } = this.#deps;
    if (name === undefined) return 'ours';
    const uid = this.#findUid();
    return uid === undefined ? 'unknown' : await backend.claim(uid);
  }

  #findUid(): string | undefined {
    try {
      return this.#deps.uid();
    } catch (error) {
      if (error instanceof DomainError) return undefined;
      throw error;
    }
  }

  #settle(claimed: Claimed): void {
    if (!this.#isLeading) return;
    const { name = '', logger } = this.#deps;
    const isKnown = this.#refusal !== undefined;
    if (claimed === 'unknown' && isKnown) return;
    this.#refusal = typeof claimed === 'string' ? undefined : clusterNameTaken(name, claimed.heldBy);
    if (this.#refusal !== undefined && !isKnown) logger.error(this.#refusal);
    if (this.#refusal === undefined && isKnown) logger.info({ name }, clusterNameFree);
    this.#allow(this.#refusal === undefined);
  }

  #allow(mayWork: boolean): void {
    if (this.#mayWork === mayWork) return;
    this.#mayWork = mayWork;
    this.#deps.onChange(mayWork);
  }
}

type Claimed = 'ours' | NameHolder | 'unknown';
