import { type AskedPlace, covers, type TokenPermission } from './grants.ts';
import type { ResourceKindName } from './kinds.ts';
import type { Decision } from './policy.ts';
import type { ResourcePrincipal } from './principal.ts';

/** The permissions of custom resources, by the AccessGrants of their namespaces. policy.ts has those of users and tokens. */

/**
 * What a custom resource requires for an action. `asked`: a grant for the permission that it asks for. A permission: a
 * grant for that permission. `own`: ownership of the target. `cluster`: nothing, because users who can create this kind
 * have more rights than every owner.
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
  | 'environment.delete'
  | 'environment.hand_over';

/** Allowed actions of each kind. Reducing or ending access never requires a grant. */
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
  SecretEnvironment: {
    'environment.create': 'cluster',
    'environment.read': 'own',
    'environment.delete': 'own',
    'environment.hand_over': 'own',
  },
};

/** Actions with which a custom resource changes secrets, or gets a token that can. */
const protectedResourceActions: ReadonlySet<ResourceAction> = new Set<ResourceAction>([
  'service_token.create',
  'service_token.resume',
  'service_token.update',
  'snapshot.restore',
]);

/** What a custom resource asks for at a place. */
export interface AskedAtPlace extends AskedPlace {
  /** Whether the place is a protected environment. */
  readonly isProtected?: boolean;
}

/** Whether only a rule that names the environment covers an action of a custom resource there. */
export function needsName(action: ResourceAction, { permission, isProtected = false }: AskedAtPlace): boolean {
  return isProtected && permission === 'read_write' && protectedResourceActions.has(action);
}

/**
 * Decides an action of a custom resource by the present grants of its namespace. `asked` is the place of the action, if
 * any. To write a protected environment, a rule must name it.
 */
export function decideResource(
  { kind, grants }: ResourcePrincipal,
  action: ResourceAction,
  asked?: AskedAtPlace,
): Exclude<Decision, 'hidden'> {
  const rule = resourceRules[kind][action];
  if (rule === undefined) return 'denied';
  if (rule === 'own' || rule === 'cluster') return 'allowed';
  if (asked === undefined) return 'denied';
  const permission = rule === 'asked' ? asked.permission : rule;
  const byName = needsName(action, { ...asked, permission });
  return covers(grants, { ...asked, kind, permission, byName }) ? 'allowed' : 'denied';
}
