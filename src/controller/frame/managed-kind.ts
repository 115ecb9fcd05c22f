import type { KubeClient } from '../../kube/client/client.ts';
import type { FailureKind } from '../../kube/informer/watch-failure.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { EventLog } from './event-log.ts';
import type { NamespaceShares } from './namespace-shares.ts';
import type { Namespaces } from './namespaces.ts';
import type { NamedWatch } from './named-watch.ts';

/** One kind's controller, as the manager starts and stops it. */
export interface ManagedKind {
  /** The watch of the kind's resources: they are reconciled once it has listed them. */
  readonly watch: NamedWatch;
  /** This watch, and all others that the kind needs. The manager starts and stops them. */
  readonly watches: readonly NamedWatch[];
  /** How many keys wait for a worker. */
  readonly queueLength: number;
  /**
   * Reconciles everything once, and then what events ask for. Call it when the kind's watch has its first list and
   * this process leads.
   */
  startLeading(): void;
  /** Begins no further reconcile until `startLeading`. */
  stopLeading(): void;
  /**
   * Reconciles what is stale although no event said so, and what failed and may succeed by now. Throws DomainError
   * store_unavailable.
   */
  resync(): Promise<void>;
  /** Takes nothing more on; resolves when the reconciles under way have ended, or after the limit. */
  drain(limitMs: number): Promise<void>;
  /** Ends what is beyond the watches; called after `drain`. */
  close(): Promise<void>;
}

/** What the manager gives each kind. */
export interface KindContext {
  /** Writes only while this process leads. */
  readonly kube: Pick<KubeClient, 'request' | 'watch'>;
  /** The events of this controller, for all kinds. */
  readonly events: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'reconciled' | 'secretWrite' | 'orphanedTokenSuspended'>;
  /** The process, for Events. */
  readonly instance: string;
  /** Empty for all namespaces. Kinds of the cluster's are watched whatever it says. */
  readonly watchNamespaces: readonly string[];
  /** What the work of each namespace uses, in all queues. */
  readonly shares: NamespaceShares;
  /** All of the cluster's; they are listed before any kind works. */
  readonly namespaces: Pick<
    Namespaces,
    'watch' | 'find' | 'all' | 'isEnding' | 'isGone' | 'onChange' | 'onEnding' | 'clusterUid'
  >;
  /**
   * Asks the database whether this cluster still goes by its name there, and no other. To be asked before something is done
   * to what this cluster does not have. Throws DomainError store_unavailable.
   */
  readonly hasName: () => Promise<boolean>;
  /** Called for each list and watch of a custom resource that failed. */
  readonly onWatchFailure: (kind: FailureKind) => void;
  /** Called when a watch works again after the API server did not answer: what failed meanwhile is tried again. */
  readonly onRecovered: () => void;
}
