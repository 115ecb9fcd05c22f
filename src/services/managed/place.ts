import type { ClusterCeiling } from '../../domain/cluster-ceiling.ts';
import type { GrantPlace } from '../../domain/grants.ts';
import {
  findEnvironmentTargets,
  findOrganizationTarget,
  findProjectTarget,
  type TargetIds,
} from '../../store/access.ts';
import type { Database } from '../../store/database.ts';
import type { AuditTarget } from '../audit/audit-log.ts';

/** What a resource asks for, with what its organization allows the cluster. */
export interface PlaceTarget extends TargetIds {
  readonly isProtected?: boolean;
  readonly ceiling?: ClusterCeiling | null;
}

/** Finds what a resource of a cluster asks for: an organization, a project or an environment; undefined if it is not there. */
export async function findPlace(
  pool: Database['pool'],
  { organization, project, environment }: GrantPlace,
  cluster: string,
): Promise<PlaceTarget | undefined> {
  if (project === null) return findOrganizationTarget(pool, null, organization, cluster);
  if (environment === null) return findProjectTarget(pool, null, [organization, project], cluster);
  const [found] = await findEnvironmentTargets(pool, [{ userId: null, organization, project, environment, cluster }]);
  return found;
}

/** What the audit says of a place. */
export function placeTarget({ organization, project, environment }: GrantPlace): AuditTarget {
  return {
    organization,
    ...(project === null ? {} : { project }),
    ...(environment === null ? {} : { environment }),
  };
}
