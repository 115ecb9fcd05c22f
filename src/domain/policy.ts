import type { BearerPrincipal, KeylessPrincipal, Role, ServiceTokenPrincipal, TenantPrincipal } from './principal.ts';

/**
 * All permissions of users and service tokens in one table; resource-policy.ts has those of custom resources. Pure: services look up the target and the role of the caller, and turn the decision into
 * not_found (`hidden`) or forbidden (`denied`).
 */

/** Actions on an organization and its contents, by the level of their target. */
export const actionLevels = {
  'organization.read': 'organization',
  'organization.update': 'organization',
  'organization.delete': 'organization',
  'organization.set_impersonation': 'organization',
  'member.list': 'organization',
  'member.set': 'organization',
  'member.remove': 'organization',
  'organization.list_roles': 'organization',
  'organization.set_role': 'organization',
  'organization.remove_role': 'organization',
  'invitation.list': 'organization',
  'invitation.create': 'organization',
  'invitation.withdraw': 'organization',
  'audit.list': 'organization',
  'fleet.list': 'organization',
  'cluster.list': 'organization',
  'cluster.set_rules': 'organization',
  'trusted_issuer.list': 'organization',
  'project.list': 'organization',
  'project.list_deleted': 'organization',
  'project.create': 'organization',
  'service_token.list': 'organization',
  'service_token.create': 'organization',
  'service_token.rotate': 'organization',
  'service_token.revoke': 'organization',
  'service_token.reinstate': 'organization',
  'service_token.accept_issuer': 'organization',
  'service_token.explain': 'organization',
  'project.read': 'project',
  'project.update': 'project',
  'project.delete': 'project',
  'project.undelete': 'project',
  'project.list_roles': 'project',
  'project.set_role': 'project',
  'project.remove_role': 'project',
  'environment.list': 'project',
  'environment.list_deleted': 'project',
  'environment.create': 'project',
  'environment.read': 'environment',
  'environment.update': 'environment',
  'environment.delete': 'environment',
  'environment.copy': 'environment',
  'environment.undelete': 'environment',
  'environment.list_roles': 'environment',
  'environment.set_role': 'environment',
  'environment.remove_role': 'environment',
  'secret.list': 'environment',
  'secret.read': 'environment',
  'secret.write': 'environment',
  'secret.delete': 'environment',
  'version.list': 'environment',
  'version.read': 'environment',
  'version.rollback': 'environment',
  'version.destroy': 'environment',
  'snapshot.list': 'environment',
  'snapshot.read': 'environment',
  'snapshot.create': 'environment',
  'snapshot.restore': 'environment',
  'snapshot.delete': 'environment',
  'change.list': 'environment',
  'change.revert': 'environment',
  'consumer.list': 'environment',
  'consumer.locate': 'environment',
} as const;

export type Action = keyof typeof actionLevels;
type ActionsOf<Level> = { [A in Action]: (typeof actionLevels)[A] extends Level ? A : never }[Action];
export type OrganizationAction = ActionsOf<'organization'>;
export type ServiceTokenAction = Extract<OrganizationAction, `service_token.${string}`>;
/** Admins of a project manage the service tokens for it and its environments. */
export type ProjectAction = ActionsOf<'project'> | ServiceTokenAction;
export type EnvironmentAction = ActionsOf<'environment'>;

export type Decision = 'allowed' | 'denied' | 'hidden';

/** The target of a decision: ids from the organization down to the level of the action. */
export interface PolicyTarget {
  readonly organizationId: string;
  readonly projectId?: string;
  readonly environmentId?: string;
  /** Of an environment: whether it is protected. */
  readonly isProtected?: boolean;
}

/** The role of a user at a target. `beneath`: the user has roles only at places beneath it; null: none at all. */
export type HeldRole = Role | 'beneath' | null;

/** Highest first. */
export const everyRole: readonly Role[] = ['owner', 'admin', 'developer', 'viewer'];
const writers: readonly Role[] = ['owner', 'admin', 'developer'];
export const admins: readonly Role[] = ['owner', 'admin'];
const owners: readonly Role[] = ['owner'];

interface Rule {
  readonly roles: readonly Role[];
  /** Permission that a service token in scope requires; `never` if service tokens may not do it. */
  readonly serviceToken: 'read' | 'read_write' | 'never';
}

export const rules: Readonly<Record<Action, Rule>> = {
  'organization.read': { roles: everyRole, serviceToken: 'read' },
  'organization.update': { roles: admins, serviceToken: 'never' },
  'organization.delete': { roles: owners, serviceToken: 'never' },
  'organization.set_impersonation': { roles: owners, serviceToken: 'never' },
  'member.list': { roles: everyRole, serviceToken: 'never' },
  'member.set': { roles: admins, serviceToken: 'never' },
  // Every member may leave; `memberChangeError` (role-changes.ts) decides whom else a role may remove.
  'member.remove': { roles: everyRole, serviceToken: 'never' },
  'organization.list_roles': { roles: everyRole, serviceToken: 'never' },
  'organization.set_role': { roles: admins, serviceToken: 'never' },
  'organization.remove_role': { roles: admins, serviceToken: 'never' },
  'invitation.list': { roles: admins, serviceToken: 'never' },
  'invitation.create': { roles: admins, serviceToken: 'never' },
  'invitation.withdraw': { roles: admins, serviceToken: 'never' },
  'audit.list': { roles: admins, serviceToken: 'never' },
  // A service token sees what reads the environments of its scope.
  'fleet.list': { roles: everyRole, serviceToken: 'read' },
  'cluster.list': { roles: admins, serviceToken: 'never' },
  'cluster.set_rules': { roles: admins, serviceToken: 'never' },
  // Names for those who create service tokens.
  'trusted_issuer.list': { roles: admins, serviceToken: 'never' },
  'project.list': { roles: everyRole, serviceToken: 'read' },
  'project.list_deleted': { roles: admins, serviceToken: 'never' },
  'project.create': { roles: admins, serviceToken: 'never' },
  'project.read': { roles: everyRole, serviceToken: 'read' },
  'project.update': { roles: admins, serviceToken: 'never' },
  'project.delete': { roles: admins, serviceToken: 'never' },
  'project.undelete': { roles: admins, serviceToken: 'never' },
  'project.list_roles': { roles: everyRole, serviceToken: 'never' },
  'project.set_role': { roles: admins, serviceToken: 'never' },
  // Users may give up a role of their own; `roleBindingChangeError` (role-changes.ts) decides who withdraws others.
  'project.remove_role': { roles: everyRole, serviceToken: 'never' },
  'environment.list': { roles: everyRole, serviceToken: 'read' },
  'environment.list_deleted': { roles: admins, serviceToken: 'never' },
  'environment.create': { roles: admins, serviceToken: 'never' },
  'environment.read': { roles: everyRole, serviceToken: 'read' },
  'environment.update': { roles: admins, serviceToken: 'never' },
  'environment.delete': { roles: admins, serviceToken: 'never' },
  // Into this environment; reading the source is an action on that.
  'environment.copy': { roles: writers, serviceToken: 'read_write' },
  'environment.undelete': { roles: admins, serviceToken: 'never' },
  'environment.list_roles': { roles: everyRole, serviceToken: 'never' },
  'environment.set_role': { roles: admins, serviceToken: 'never' },
  'environment.remove_role': { roles: everyRole, serviceToken: 'never' },
  'secret.list': { roles: everyRole, serviceToken: 'read' },
  'secret.read': { roles: everyRole, serviceToken: 'read' },
  'secret.write': { roles: writers, serviceToken: 'read_write' },
  'secret.delete': { roles: writers, serviceToken: 'read_write' },
  'version.list': { roles: everyRole, serviceToken: 'read' },
  'version.read': { roles: everyRole, serviceToken: 'read' },
  'version.rollback': { roles: writers, serviceToken: 'read_write' },
  // It cannot be undone, so write permission must not include it.
  'version.destroy': { roles: admins, serviceToken: 'never' },
  'snapshot.list': { roles: everyRole, serviceToken: 'read' },
  'snapshot.read': { roles: everyRole, serviceToken: 'read' },
  'snapshot.create': { roles: writers, serviceToken: 'read_write' },
  'snapshot.restore': { roles: writers, serviceToken: 'read_write' },
  // A machine that can write must not be able to delete the backup.
  'snapshot.delete': { roles: admins, serviceToken: 'never' },
  'change.list': { roles: everyRole, serviceToken: 'read' },
  'change.revert': { roles: writers, serviceToken: 'read_write' },
  'consumer.list': { roles: everyRole, serviceToken: 'read' },
  // To see the namespaces of consumers. Readers need not know how a cluster is divided.
  'consumer.locate': { roles: writers, serviceToken: 'read_write' },
  'service_token.list': { roles: admins, serviceToken: 'never' },
  'service_token.create': { roles: admins, serviceToken: 'never' },
  'service_token.rotate': { roles: admins, serviceToken: 'never' },
  'service_token.revoke': { roles: admins, serviceToken: 'never' },
  'service_token.reinstate': { roles: admins, serviceToken: 'never' },
  'service_token.accept_issuer': { roles: admins, serviceToken: 'never' },
  'service_token.explain': { roles: admins, serviceToken: 'never' },
};

/**
 * Actions that also find a target which is deleted or lies beneath something deleted. Only callers who may do them see
 * that it exists.
 */
export const actionsOnDeleted: ReadonlySet<Action> = new Set<Action>(['project.undelete', 'environment.undelete']);

/** Actions of a user with a role beneath the target: to find the way there. What they list is filtered. */
const namingActions: ReadonlySet<Action> = new Set<Action>([
  'organization.read',
  'project.list',
  'project.read',
  'environment.list',
  'fleet.list',
]);

/** Actions that change the secrets of an environment. Protection restricts them. Snapshots change none. */
const protectedActions: ReadonlySet<Action> = new Set<Action>([
  'environment.copy',
  'environment.undelete',
  'secret.write',
  'secret.delete',
  'version.rollback',
  'version.destroy',
  'snapshot.restore',
  'change.revert',
]);

/** Whether a protected environment restricts an action at this target. */
export function isRestricted(action: Action, { isProtected = false }: Pick<PolicyTarget, 'isProtected'>): boolean {
  return isProtected && protectedActions.has(action);
}

/** Actions of a keyless token: the controller only reads secrets with it. */
const keylessActions: readonly Action[] = ['secret.list'];

/**
 * Decides an action on a target that exists. `role` is the role of the caller at the target; null for service tokens. A
 * service token sees its scope and the names of the ancestors of its scope. The secrets of a protected environment are
 * changed only by admins of it, and by tokens whose scope is this environment.
 */
export function decide(principal: TenantPrincipal, role: HeldRole, action: Action, target: PolicyTarget): Decision {
  if (principal.type === 'user') return decideByRole(role, action, target);
  if (!isVisible(principal, target)) return 'hidden';
  if ('isKeyless' in principal) return keylessActions.includes(action) ? 'allowed' : 'denied';
  const { serviceToken } = rules[action];
  if (serviceToken === 'never') return 'denied';
  if (isRestricted(action, target) && principal.scope !== 'environment') return 'denied';
  return serviceToken === 'read' || principal.permission === 'read_write' ? 'allowed' : 'denied';
}

function decideByRole(role: HeldRole, action: Action, target: PolicyTarget): Decision {
  if (role === null) return 'hidden';
  if (role === 'beneath') return namingActions.has(action) ? 'allowed' : 'denied';
  if (isRestricted(action, target) && !admins.includes(role)) return 'denied';
  return rules[action].roles.includes(role) ? 'allowed' : 'denied';
}

/** Actions on resources that a user owns, and on what waits for the user's consent. Service tokens own none. */
export const personActions = [
  'personal_token.list',
  'personal_token.create',
  'personal_token.revoke',
  'session.list',
  'session.create',
  'session.end',
  'login.read',
  'login.approve',
  'invitation.list_own',
  'invitation.accept',
  'invitation.decline',
  'identity.list',
  'identity.link',
  'identity.unlink',
  'passkey.list',
  'passkey.create',
  'passkey.remove',
  'passkey.confirm',
] as const;

export type PersonAction = (typeof personActions)[number];

/** Actions of a user in a browser: no token does them. */
export const sessionActions: ReadonlySet<PersonAction> = new Set<PersonAction>([
  'login.read',
  'login.approve',
  'passkey.create',
]);

/** Decides an action on resources that the caller owns. */
export function decidePerson(principal: BearerPrincipal, action: PersonAction): Exclude<Decision, 'hidden'> {
  if (principal.type !== 'user') return 'denied';
  return principal.session !== undefined || !sessionActions.has(action) ? 'allowed' : 'denied';
}

/** Actions on the instance, which is visible to all callers. They are reserved for instance admins. */
export const instanceActions = [
  'organization.create',
  'organization.list_all',
  'organization.list_deleted',
  'organization.undelete',
  'organization.purge',
  'organization.appoint_owner',
  'project.purge',
  'environment.purge',
  'user.list',
  'user.read',
  'user.create',
  'user.update',
  'sign_in.update',
  'sign_in_link.create',
  'audit.list_instance',
  'cluster.list_all',
  'cluster.update',
  'cluster.disable',
  'cluster.enable',
  'cluster.forget',
  'trusted_issuer.list_all',
  'trusted_issuer.set',
  'trusted_issuer.delete',
] as const;

export type InstanceAction = (typeof instanceActions)[number];

/** Decides an action on the instance. The creator of an organization becomes its owner. */
export function decideInstance(principal: BearerPrincipal, _action: InstanceAction): Exclude<Decision, 'hidden'> {
  return principal.type === 'user' && principal.instanceAdmin ? 'allowed' : 'denied';
}

/** Whether a target is in the scope of a token, or an ancestor of that scope. */
function isVisible(token: ServiceTokenPrincipal | KeylessPrincipal, target: PolicyTarget): boolean {
  if (token.organizationId !== target.organizationId) return false;
  if (target.projectId === undefined || token.scope === 'organization') return true;
  if (token.projectId !== target.projectId) return false;
  if (target.environmentId === undefined || token.scope === 'project') return true;
  return token.environmentId === target.environmentId;
}
