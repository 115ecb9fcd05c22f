import type { ClusterState } from './cluster-ceiling.ts';

/**
 * Something that was committed: only ids and names of clusters, to be looked up. A user belongs to no single organization.
 */
export type ChangeEvent =
  | OrganizationEvent
  | { readonly kind: 'user'; readonly userId: string }
  | {
      readonly kind: 'cluster';
      readonly cluster: string;
      readonly state: ClusterState;
      readonly isHome: boolean;
    };

type OrganizationEvent = { readonly organizationId: string } & (
  | {
      readonly kind: 'environment';
      readonly environmentId: string;
      readonly revisionId: string;
      /** It, or something above it, was deleted or purged; absent at every other commit. */
      readonly ended?: true;
      /** The value of a version of its past was destroyed; the present is the same. */
      readonly destroyed?: true;
      /** It did not exist before; absent at every other commit. */
      readonly appeared?: true;
    }
  | { readonly kind: 'service_token'; readonly serviceTokenId: string }
  | { readonly kind: 'snapshot'; readonly snapshotId: string }
  | {
      readonly kind: 'cluster_rules';
      readonly cluster: string;
      readonly version: number;
      /** Whether the organization allows the cluster nothing now. */
      readonly isNothing: boolean;
    }
);

export interface ChangeSubscriber {
  onEvent(event: ChangeEvent): void;
  /**
   * From now on every commit is reported. What was committed before, or while the connection was lost, was not:
   * `compare` now. Called at each (re)connection, and once to each subscriber that subscribes while connected. To a
   * cluster also when it may know of an organization again.
   */
  onReady(): void;
}

/** What is asked about, by ids. */
export interface StateQuestion {
  readonly environmentIds?: readonly string[];
  readonly credentialIds?: readonly string[];
  readonly serviceTokenIds?: readonly string[];
  /** Revisions and snapshots, whose environments are asked for beside them. */
  readonly keptIds?: readonly string[];
  /** Organizations whose rules for the cluster are asked for. */
  readonly rulesOf?: readonly string[];
}

/** What exists, of what was asked about, and of organizations that the cluster may know of. */
export interface PresentState {
  /** The newest revision's id of each environment that exists. */
  readonly environments: ReadonlyMap<string, string>;
  /** Those of the service tokens' credentials asked for that open something now. */
  readonly liveCredentials: ReadonlySet<string>;
  /**
   * Those of the service tokens asked for, keyless or not, that are neither revoked nor suspended nor of a deleted
   * scope.
   */
  readonly liveTokens: ReadonlySet<string>;
  /** Those of the revisions and snapshots asked for that are there, with no value of theirs destroyed. */
  readonly kept: ReadonlySet<string>;
  /** Of the cluster that asks. */
  readonly clusterState: ClusterState;
  /** The versions of the rules that were asked for, by organization; without an entry for one that never set any. */
  readonly clusterRules: ReadonlyMap<string, number>;
}
