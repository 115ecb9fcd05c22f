import type { GrantPlace } from '../../domain/grants.ts';
import {
  findEnvironmentTargets,
  findOrganizationTarget,
  findProjectTarget,
  type TargetIds,
} from '../../store/access.ts';
import type { Database } from '../../store/database.ts';
import type { AuditTarget } from '../audit/audit-log.ts';

/** Finds what a resource asks for: an organization, a project or an environment; undefined if it is not there. */
export async function findPlace(
  pool: Database['pool'],
  { organization, project, environment }: GrantPlace,
): Promise<(TargetIds & { readonly isProtected?: boolean }) | undefined> {
  if (project === null) return findOrganizationTarget(pool, null, organization);
  if (environment === null) return findProjectTarget(pool, null, [organization, project]);
  const [found] = await findEnvironmentTargets(pool, [{ userId: null, organization, project, environment }]);
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
