import type { KubeClient } from '../../kube/client/client.ts';
import type { FailureKind } from '../../kube/informer/watch-failure.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { EventLog } from './event-log.ts';
import type { NamespaceShares } from './namespace-shares.ts';
import type { Namespaces } from './namespaces.ts';
import type { NamedWatch } from './named-watch.ts';

/** The controller of one kind, for the manager. */
export interface ManagedKind {
  /** The watch of the kind's resources. They are reconciled after it is synced. */
  readonly watch: NamedWatch;
  /** All watches that the kind needs, including `watch`. The manager starts and stops them. */
  readonly watches: readonly NamedWatch[];
  /** How many keys wait for a worker. */
  readonly queueLength: number;
  /**
   * Reconciles everything once, and then the resources that events enqueue. Call it when the kind's watch is synced and
   * this process leads.
   */
  startLeading(): void;
  /** Starts no further reconcile until `startLeading`. */
  stopLeading(): void;
  /**
   * Reconciles resources that are stale without an event, and resources that failed. Throws DomainError
   * store_unavailable.
   */
  resync(): Promise<void>;
  /** Starts no further reconcile. Resolves when the reconciles in progress have ended, or after the limit. */
  drain(limitMs: number): Promise<void>;
  /** Stops everything except the watches. Called after `drain`. */
  close(): Promise<void>;
}

/** The dependencies that the manager gives each kind. */
export interface KindContext {
  /** Writes only while this process leads. */
  readonly kube: Pick<KubeClient, 'request' | 'watch'>;
  /** The events of this controller, for all kinds. */
  readonly events: EventLog;
  readonly clock: Clock;
  /** The time by the database's clock, for statuses, and for what is compared with times of the database or sent to it. */
  readonly serverNow: () => number;
  /** Adds a listener for a step of that time. Before the first answer of the database it is by the clock of the process. */
  readonly onServerStep: (listener: () => void) => void;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'reconciled' | 'secretWrite' | 'orphanedTokenSuspended' | 'syncStatesReported'>;
  /** The name of the process, for Events. */
  readonly instance: string;
  /** Empty for all namespaces. Cluster-scoped kinds are always watched. */
  readonly watchNamespaces: readonly string[];
  /** The processor time that each namespace uses in all queues. */
  readonly shares: NamespaceShares;
  /** All namespaces of the cluster. They are listed before any kind works. */
  readonly namespaces: Pick<
    Namespaces,
    'watch' | 'find' | 'all' | 'isEnding' | 'isGone' | 'onChange' | 'onEnding' | 'clusterUid'
  >;
  /**
   * Asks the database whether this cluster, and no other, has its name. Call it before changing what belongs to resources
   * that this cluster does not have. Throws DomainError store_unavailable.
   */
  readonly hasName: () => Promise<boolean>;
  /** Whether this is a cluster of the installation itself; undefined before Keyframe has said it. */
  readonly isHome: () => boolean | undefined;
  /** Called for each list and watch of a custom resource that failed. */
  readonly onWatchFailure: (kind: FailureKind) => void;
  /** Called when a watch works again after an outage of the API server. Failed reconciles are retried then. */
  readonly onRecovered: () => void;
}
