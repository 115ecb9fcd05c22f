import { DomainError } from '../../domain/errors/domain-error.ts';
import type { ServiceTokenAction } from '../../domain/policy.ts';
import type { TokenHome } from '../../store/token-home.ts';
import type { OrganizationAccess, ProjectAccess } from '../access/access.ts';

/** Access to the tokens of an organization, or to those for one of its projects and its environments. */
export type TokenAccess<A extends ServiceTokenAction = ServiceTokenAction> = OrganizationAccess<A> | ProjectAccess<A>;

export function homeOf(access: TokenAccess): TokenHome {
  return { organizationId: access.organizationId, projectId: 'projectId' in access ? access.projectId : null };
}

export function absentToken(id: string): DomainError {
  return new DomainError('not_found', `service token ${id} does not exist here`);
}
