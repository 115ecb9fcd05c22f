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

/** The dependencies of the kinds whose resources are principals. */
export interface ResourceKindDeps<S extends keyof ResourceServices> {
  readonly services: Pick<ResourceServices, S>;
  readonly grants: GrantIndex;
  /**
   * The name of this cluster in the database, which is part of a resource's identity. It is known once the watches of
   * `grants` are synced. Throws DomainError cluster_unavailable if it is not known.
   */
  readonly cluster: () => string;
}
