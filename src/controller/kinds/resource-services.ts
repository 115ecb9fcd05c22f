import type { ResourceAccess } from '../../services/managed/access.ts';
import type { ResourceEnvironments } from '../../services/managed/environments.ts';
import type { ResourceRestores } from '../../services/managed/restores.ts';
import type { ResourceSchedules } from '../../services/managed/schedules.ts';
import type { ResourceSnapshots } from '../../services/managed/snapshots.ts';
import type { ResourceTokens } from '../../services/managed/tokens.ts';
import type { GrantIndex } from './access-grant/grant-index.ts';

/** The services that act for custom resources. */
export interface ResourceServices {
  readonly resourceAccess: ResourceAccess;
  readonly resourceTokens: ResourceTokens;
  readonly resourceSnapshots: ResourceSnapshots;
  readonly resourceRestores: ResourceRestores;
  readonly resourceSchedules: ResourceSchedules;
  readonly resourceEnvironments: ResourceEnvironments;
}

/** What the kinds that act in their own name are given beside their context. */
export interface ResourceKindDeps<S extends keyof ResourceServices> {
  readonly services: Pick<ResourceServices, S>;
  readonly grants: GrantIndex;
  /**
   * What the database knows this cluster by, as part of who a resource is. Known once the watches of `grants` are synced;
   * throws DomainError cluster_unavailable where it is not.
   */
  readonly cluster: () => string;
}
