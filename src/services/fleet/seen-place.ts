import type { SeenPlace } from '../../store/consumers.ts';
import type { OrganizationAccess } from '../access/access.ts';

/**
 * The environments of an organization that a caller sees: those in the scope of a service token, those in which a user has a
 * role, and deleted ones only for callers who may list these.
 */
export function placeSeenBy(access: OrganizationAccess<'fleet.list'>): SeenPlace {
  const { organizationId, caller, visibleTo } = access;
  const { projectId, environmentId } =
    caller.principal.type === 'service_token' ? caller.principal : { projectId: null, environmentId: null };
  const includesDeleted = access.allows('environment.list_deleted');
  return { organizationId, projectId, environmentId, includesDeleted, visibleTo };
}
