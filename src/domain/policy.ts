import { covers, type GrantPlace, type TokenPermission } from './grants.ts';
import type { ResourceKindName } from './kinds.ts';
import type {
  BearerPrincipal,
  KeylessPrincipal,
  ResourcePrincipal,
  Role,
  ServiceTokenPrincipal,
  TenantPrincipal,
} from './principal.ts';

/**
 * The one table of who may do what. Pure: the services look up the target and the caller's role, ask here, and turn
 * the answer into not_found (`hidden`) or forbidden (`denied`).
 */

/** Actions on an organization and what is in it, by the level of their target. */
export const actionLevels = {
  'organization.read': 'organization',
  'organization.update': 'organization',
  'organization.delete': 'organization',
  'organization.set_impersonation': 'organization',
  'member.list': 'organization',
  'member.set': 'organization',
  'member.remove': 'organization',
  'audit.list': 'organization',
  'project.list': 'organization',
  'project.create': 'organization',
  'service_token.list': 'organization',
  'service_token.create': 'organization',
  'service_token.rotate': 'organization',
  'service_token.revoke': 'organization',
  'service_token.reinstate': 'organization',
  'project.read': 'project',
  'project.update': 'project',
  'project.delete': 'project',
  'environment.list': 'project',
  'environment.create': 'project',
  'environment.read': 'environment',
  'environment.update': 'environment',
  'environment.delete': 'environment',
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
const owners: readonly Role[] = ['owner'];

interface Rule {
  readonly roles: readonly Role[];
  /** What a service token in scope needs; `never` where no service token may. */
  readonly serviceToken: 'read' | 'read_write' | 'never';
}

export const rules: Readonly<Record<Action, Rule>> = {
  'organization.read': { roles: everyRole, serviceToken: 'read' },
  'organization.update': { roles: admins, serviceToken: 'never' },
  'organization.delete': { roles: owners, serviceToken: 'never' },
  'organization.set_impersonation': { roles: owners, serviceToken: 'never' },
  'member.list': { roles: everyRole, serviceToken: 'never' },
  'member.set': { roles: admins, serviceToken: 'never' },
  // Everybody may leave; whom else a role may remove is `memberChangeError`'s to tell.
  'member.remove': { roles: everyRole, serviceToken: 'never' },
  'audit.list': { roles: admins, serviceToken: 'never' },
  'project.list': { roles: everyRole, serviceToken: 'read' },
  'project.create': { roles: admins, serviceToken: 'never' },
  'project.read': { roles: everyRole, serviceToken: 'read' },
  'project.update': { roles: admins, serviceToken: 'never' },
  'project.delete': { roles: admins, serviceToken: 'never' },
  'environment.list': { roles: everyRole, serviceToken: 'read' },
  'environment.create': { roles: admins, serviceToken: 'never' },
  'environment.read': { roles: everyRole, serviceToken: 'read' },
  'environment.update': { roles: admins, serviceToken: 'never' },
  'environment.delete': { roles: admins, serviceToken: 'never' },
  'secret.list': { roles: everyRole, serviceToken: 'read' },
  'secret.read': { roles: everyRole, serviceToken: 'read' },
  'secret.write': { roles: writers, serviceToken: 'read_write' },
  'secret.delete': { roles: writers, serviceToken: 'read_write' },
  'version.list': { roles: everyRole, serviceToken: 'read' },
  'version.read': { roles: everyRole, serviceToken: 'read' },
  'version.rollback': { roles: writers, serviceToken: 'read_write' },
  // Nothing brings it back, so what may write must not be able to do it.
  'version.destroy': { roles: admins, serviceToken: 'never' },
  'snapshot.list': { roles: everyRole, serviceToken: 'read' },
  'snapshot.read': { roles: everyRole, serviceToken: 'read' },
  'snapshot.create': { roles: writers, serviceToken: 'read_write' },
  'snapshot.restore': { roles: writers, serviceToken: 'read_write' },
  // A machine that can write must not be able to take away the way back.
  'snapshot.delete': { roles: admins, serviceToken: 'never' },
  'change.list': { roles: everyRole, serviceToken: 'read' },
  'service_token.list': { roles: admins, serviceToken: 'never' },
  'service_token.create': { roles: admins, serviceToken: 'never' },
  'service_token.rotate': { roles: admins, serviceToken: 'never' },
  'service_token.revoke': { roles: admins, serviceToken: 'never' },
  'service_token.reinstate': { roles: admins, serviceToken: 'never' },
};

/** What a keyless token allows: the controller reads secrets as it, and does nothing else. */
const keylessActions: readonly Action[] = ['secret.list'];

/**
 * Decides an action on a target that exists. `role` is the caller's in the target's organization, null for none and
 * for service tokens. A service token sees what is in its scope and its own ancestors' names.
 */
export function decide(principal: TenantPrincipal, role: Role | null, action: Action, target: PolicyTarget): Decision {
  const rule = rules[action];
  if (principal.type === 'user') {
    if (role === null) return 'hidden';
    return rule.roles.includes(role) ? 'allowed' : 'denied';
  }
  if (!isVisible(principal, target)) return 'hidden';
  if ('isKeyless' in principal) return keylessActions.includes(action) ? 'allowed' : 'denied';
  if (rule.serviceToken === 'never') return 'denied';
  return rule.serviceToken === 'read' || principal.permission === 'read_write' ? 'allowed' : 'denied';
}

/** Actions on what is a person's own: no service token has any such thing. */
export const personActions = ['personal_token.list', 'personal_token.create', 'personal_token.revoke'] as const;

export type PersonAction = (typeof personActions)[number];

/** Decides an action on the caller's own things. */
export function decidePerson(principal: BearerPrincipal, _action: PersonAction): Exclude<Decision, 'hidden'> {
  return principal.type === 'user' ? 'allowed' : 'denied';
}

/** Actions on the instance itself, which everybody sees: all of them are for instance admins. */
export const instanceActions = [
  'organization.create',
  'organization.purge',
  'organization.appoint_owner',
  'project.purge',
  'environment.purge',
  'user.list',
  'user.read',
  'user.create',
  'user.update',
  'audit.list_instance',
] as const;

export type InstanceAction = (typeof instanceActions)[number];

/** Decides an action on the instance. Who creates an organization becomes its owner. */
export function decideInstance(principal: BearerPrincipal, _action: InstanceAction): Exclude<Decision, 'hidden'> {
  return principal.type === 'user' && principal.instanceAdmin ? 'allowed' : 'denied';
}

/**
 * What a custom resource needs for an action: a grant for the permission it asks for, a grant for this permission,
 * nothing but that the thing is its own, or nothing at all (whoever may create that kind outranks every owner).
 */
export type ResourceRule = 'asked' | TokenPermission | 'own' | 'cluster';

export type ResourceAction =
  | 'service_token.create'
  | 'service_token.resume'
  | 'service_token.update'
  | 'service_token.read'
  | 'service_token.activate'
  | 'service_token.suspend'
  | 'service_token.revoke'
  | 'snapshot.create'
  | 'snapshot.read'
  | 'snapshot.find'
  | 'snapshot.delete'
  | 'snapshot.restore'
  | 'restore.find'
  | 'schedule.run'
  | 'schedule.find'
  | 'environment.create'
  | 'environment.read'
  | 'environment.delete';

/** What each kind does; what is not here it may not. Making something smaller or ending it never needs a grant. */
export const resourceRules: Readonly<
  Record<ResourceKindName, Partial<Readonly<Record<ResourceAction, ResourceRule>>>>
> = {
  ServiceToken: {
    'service_token.create': 'asked',
    'service_token.resume': 'asked',
    'service_token.update': 'asked',
    'service_token.read': 'own',
    'service_token.activate': 'own',
    'service_token.suspend': 'own',
    'service_token.revoke': 'own',
  },
  SecretSnapshot: {
    'snapshot.create': 'read_write',
    'snapshot.read': 'read',
    'snapshot.find': 'own',
    'snapshot.delete': 'own',
  },
  SnapshotRestore: { 'snapshot.restore': 'read_write', 'restore.find': 'own' },
  SnapshotSchedule: { 'schedule.run': 'read_write', 'schedule.find': 'own' },
  SecretEnvironment: { 'environment.create': 'cluster', 'environment.read': 'own', 'environment.delete': 'own' },
};

/** Decides an action of a custom resource, by what its namespace is granted now; `asked` where the action is at a place. */
export function decideResource(
  { kind, grants }: ResourcePrincipal,
  action: ResourceAction,
  asked?: GrantPlace & { readonly permission: TokenPermission },
): Exclude<Decision, 'hidden'> {
  const rule = resourceRules[kind][action];
  if (rule === undefined) return 'denied';
  if (rule === 'own' || rule === 'cluster') return 'allowed';
  if (asked === undefined) return 'denied';
  const permission = rule === 'asked' ? asked.permission : rule;
  return covers(grants, { ...asked, kind, permission }) ? 'allowed' : 'denied';
}

/** What is to become of one membership; null stands for none. */
export interface MemberChange {
  /** The role of whoever asks, and whether it is their own membership. */
  readonly byRole: Role;
  readonly isSelf: boolean;
  readonly from: Role | null;
  readonly to: Role | null;
  /** How many owners who are not disabled the organization has besides this member. */
  readonly otherOwners: number;
}

/**
 * Why a change of a membership is refused, or undefined: everybody may leave, admins and owners change others, nobody
 * hands out or takes away more than they hold, and the last owner stays.
 */
export function memberChangeError({
  byRole,
  isSelf,
  from,
  to,
  otherOwners,
}: MemberChange): MemberChangeError | undefined {
  const leaves = isSelf && to === null;
  if (!leaves && !admins.includes(byRole)) return 'not_admin';
  if (byRole !== 'owner' && (from === 'owner' || to === 'owner')) return 'owner_only';
  if (from === 'owner' && to !== 'owner' && otherOwners === 0) return 'last_owner';
  return undefined;
}

export type MemberChangeError = 'not_admin' | 'owner_only' | 'last_owner';

/** Whether a target is in a token's scope or one of its scope's ancestors. */
function isVisible(token: ServiceTokenPrincipal | KeylessPrincipal, target: PolicyTarget): boolean {
  if (token.organizationId !== target.organizationId) return false;
  if (target.projectId === undefined || token.scope === 'organization') return true;
  if (token.projectId !== target.projectId) return false;
  if (target.environmentId === undefined || token.scope === 'project') return true;
  return token.environmentId === target.environmentId;
}
