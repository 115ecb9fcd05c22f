import type { Principal, Role, ServiceTokenPrincipal } from './principal.ts';

/**
 * The one table of who may do what. Pure: the services look up the target and the caller's role, ask here, and turn
 * the answer into not_found (`hidden`) or forbidden (`denied`).
 */

/** Actions on an organization and what is in it, by the level of their target. */
export const actionLevels = {
  'organization.read': 'organization',
  'project.list': 'organization',
  'project.create': 'organization',
  'service_token.list': 'organization',
  'service_token.create': 'organization',
  'service_token.revoke': 'organization',
  'project.read': 'project',
  'environment.list': 'project',
  'environment.create': 'project',
  'environment.read': 'environment',
  'secret.list': 'environment',
  'secret.read': 'environment',
  'secret.write': 'environment',
  'secret.delete': 'environment',
  'version.list': 'environment',
  'version.read': 'environment',
  'version.rollback': 'environment',
} as const;

export type Action = keyof typeof actionLevels;
type ActionsOf<Level> = { [A in Action]: (typeof actionLevels)[A] extends Level ? A : never }[Action];
export type OrganizationAction = ActionsOf<'organization'>;
export type ProjectAction = ActionsOf<'project'>;
export type EnvironmentAction = ActionsOf<'environment'>;

export type Decision = 'allowed' | 'denied' | 'hidden';

/** What the decision is about: ids from the organization down to the level of the action. */
export interface PolicyTarget {
  readonly organizationId: string;
  readonly projectId?: string;
  readonly environmentId?: string;
}

const everyRole: readonly Role[] = ['owner', 'admin', 'developer', 'viewer'];
const writers: readonly Role[] = ['owner', 'admin', 'developer'];
const admins: readonly Role[] = ['owner', 'admin'];

interface Rule {
  readonly roles: readonly Role[];
  /** What a service token in scope needs; `never` where no service token may. */
  readonly serviceToken: 'read' | 'read_write' | 'never';
}

export const rules: Readonly<Record<Action, Rule>> = {
  'organization.read': { roles: everyRole, serviceToken: 'read' },
  'project.list': { roles: everyRole, serviceToken: 'read' },
  'project.create': { roles: admins, serviceToken: 'never' },
  'project.read': { roles: everyRole, serviceToken: 'read' },
  'environment.list': { roles: everyRole, serviceToken: 'read' },
  'environment.create': { roles: admins, serviceToken: 'never' },
  'environment.read': { roles: everyRole, serviceToken: 'read' },
  'secret.list': { roles: everyRole, serviceToken: 'read' },
  'secret.read': { roles: everyRole, serviceToken: 'read' },
  'secret.write': { roles: writers, serviceToken: 'read_write' },
  'secret.delete': { roles: writers, serviceToken: 'read_write' },
  'version.list': { roles: everyRole, serviceToken: 'read' },
  'version.read': { roles: everyRole, serviceToken: 'read' },
  'version.rollback': { roles: writers, serviceToken: 'read_write' },
  'service_token.list': { roles: admins, serviceToken: 'never' },
  'service_token.create': { roles: admins, serviceToken: 'never' },
  'service_token.revoke': { roles: admins, serviceToken: 'never' },
};

/**
 * Decides an action on a target that exists. `role` is the caller's in the target's organization, null for none and
 * for service tokens. A service token sees what is in its scope and its own ancestors' names.
 */
export function decide(principal: Principal, role: Role | null, action: Action, target: PolicyTarget): Decision {
  const rule = rules[action];
  if (principal.type === 'user') {
    if (role === null) return 'hidden';
    return rule.roles.includes(role) ? 'allowed' : 'denied';
  }
  if (!isVisible(principal, target)) return 'hidden';
  if (rule.serviceToken === 'never') return 'denied';
  return rule.serviceToken === 'read' || principal.permission === 'read_write' ? 'allowed' : 'denied';
}

/** Actions on the instance itself, which everybody sees. */
export type InstanceAction = 'organization.create';

/** Decides an action on the instance: instance admins create organizations, and become their owners. */
export function decideInstance(principal: Principal, action: InstanceAction): Exclude<Decision, 'hidden'> {
  const allowed: Readonly<Record<InstanceAction, boolean>> = {
    'organization.create': principal.type === 'user' && principal.instanceAdmin,
  };
  return allowed[action] ? 'allowed' : 'denied';
}

/** Whether a target is in a token's scope or one of its scope's ancestors. */
function isVisible(token: ServiceTokenPrincipal, target: PolicyTarget): boolean {
  if (token.organizationId !== target.organizationId) return false;
  if (target.projectId === undefined || token.scope === 'organization') return true;
  if (token.projectId !== target.projectId) return false;
  if (target.environmentId === undefined || token.scope === 'project') return true;
  return token.environmentId === target.environmentId;
}
