import { DomainError } from '../../domain/errors/domain-error.ts';
import { grantPlaceText } from '../../domain/grant-refusal.ts';
import type { GrantPlace } from '../../domain/grants.ts';
import {
  type Action,
  type Decision,
  type HeldRole,
  type InstanceAction,
  isRestricted,
  type PersonAction,
  type PolicyTarget,
  rules,
  sessionActions,
} from '../../domain/policy.ts';
import type { ResourceAction } from '../../domain/resource-policy.ts';
import { limits } from '../../domain/limits.ts';
import type {
  Actor,
  Caller,
  Principal,
  ResourcePrincipal,
  TenantPrincipal,
  TokenCreator,
} from '../../domain/principal.ts';
import { needsRecentSignIn } from '../../domain/recent-sign-in.ts';
import type { Deletion } from '../../store/access.ts';
import type { EnvironmentSlugs } from '../../domain/slugs.ts';

/** The messages of refused access. */

/** `environment acme/web/prod` */
export function placeOf(slugs: object): string {
  const levels = Object.keys(slugs);
  return `${levels.at(-1)} ${Object.values(slugs).join('/')}`;
}

/** DomainError forbidden for callers who are not instance admins. */
export function instanceRefusal(action: InstanceAction): DomainError {
  return new DomainError('forbidden', `${action} is for instance admins; ask one`);
}

/**
 * DomainError recent_sign_in_required if a session does what needs a recent sign-in, and its own is too long ago. Personal
 * and service tokens need none.
 */
export function recentSignInError(principal: Principal, what: string): DomainError | undefined {
  if (principal.type !== 'user' || principal.session === undefined || principal.session.isRecent) return undefined;
  return new DomainError(
    'recent_sign_in_required',
    `in a session, ${what} needs a sign-in within the last ${limits.recentSignInMinutes} minutes; sign in again and repeat it`,
  );
}

interface JudgedByInput {
  readonly caller: Caller<Principal>;
  readonly action: Action | PersonAction | InstanceAction;
}

/**
 * Throws what `recentSignInError` returns, for a request that gives lasting access by its input: `what` it does. Of other
 * actions, the door has decided already.
 */
export function requireRecentSignIn({ caller, action }: JudgedByInput, what: string): void {
  if (needsRecentSignIn[action] !== 'by_input') throw new Error(`whether ${action} needs a recent sign-in is decided`);
  const error = recentSignInError(caller.principal, what);
  if (error !== undefined) throw error;
}

interface Refused {
  readonly place: string;
  readonly decision: Decision;
  readonly role: HeldRole;
  readonly target: Pick<PolicyTarget, 'isProtected'>;
}

/** DomainError not_found for what is hidden, forbidden for what is denied, saying what it needs. */
export function refusal(
  principal: TenantPrincipal,
  action: Action,
  { place, decision, role, target }: Refused,
): DomainError {
  if (decision === 'hidden')
    return new DomainError('not_found', `${place} does not exist, or is not visible with this access`);
  const needed = rules[action].serviceToken;
  const restricted = isRestricted(action, target) ? `; ${place} is protected` : '';
  if (principal.type === 'user' && role === 'beneath') {
    return new DomainError(
      'forbidden',
      `${action} needs a role on ${place}, and you have roles only at places within it; ask an owner or admin of the organization`,
    );
  }
  if (principal.type === 'user') {
    const whoMay = rules[action].roles.includes('admin') ? 'an owner or admin' : 'an owner';
    return new DomainError(
      'forbidden',
      `the role ${role} does not allow ${action} on ${place}${restricted}; ask ${whoMay} of the organization`,
    );
  }
  if (needed === 'never') {
    return new DomainError('forbidden', `no service token allows ${action} on ${place}; use a personal token`);
  }
  if (restricted !== '') {
    return new DomainError(
      'forbidden',
      `${place} is protected, so ${action} needs a service token with permission ${needed} whose scope is this environment`,
    );
  }
  return new DomainError('forbidden', `${action} on ${place} needs a service token with permission ${needed}`);
}

/** The same refusal for a user whose groups have ended. It says nothing of what their roles open. */
export function endedGroupsRefusal({ code, detail }: DomainError): DomainError {
  return new DomainError(
    code,
    `${detail}; the roles of your groups ended some time after your last sign-in: sign in again with your identity provider`,
  );
}

/**
 * DomainError forbidden for a personal token that another person created, in an organization that accepts none.
 * Says how its user gets one that is accepted.
 */
export function impersonationRefusal({ name }: Actor, { actor, derivedAt }: TokenCreator, place: string): DomainError {
  const creator = actor?.name ?? 'a server that recorded no creators';
  const confirm =
    `ask an owner of the organization to confirm the tokens that you created: ` +
    `\`keyframe member set ${name} --role ROLE --confirm-tokens\``;
  const rule = `${place} is open only to tokens that their users created`;
  const detail =
    derivedAt === null
      ? `${creator} created this token, and ${rule}; create one with \`keyframe token create\`, then ${confirm}`
      : `this token was created with one that ${creator} had created, and ${rule}; ${confirm}`;
  return new DomainError('forbidden', detail);
}

/** DomainError forbidden for a service token, if only people may do it. */
export function personRefusal(action: PersonAction): DomainError {
  if (sessionActions.has(action)) {
    return new DomainError('forbidden', `no token allows ${action}; sign in in a browser and do it there`);
  }
  return new DomainError('forbidden', `no service token allows ${action}; use a personal token`);
}

/** DomainError forbidden for a kind of custom resource that may not do it. */
export function resourceRefusal({ kind }: ResourcePrincipal, action: ResourceAction): DomainError {
  return new DomainError('forbidden', `no ${kind} may do ${action}`);
}

/**
 * DomainError not_found for a snapshot of an environment that a custom resource may not know of, if it exists.
 */
export function snapshotRefusal({ kind, cluster }: ResourcePrincipal, snapshotId: string): DomainError {
  return new DomainError(
    'not_found',
    `snapshot ${snapshotId} does not exist, or no AccessGrant for ${kind} covers its environment, ` +
      `or its organization does not allow cluster ${cluster} to use it: check the id, or have an admin of the cluster ` +
      'grant the environment, and an admin of the organization allow it',
  );
}

/** Why a keyless token does not work: it was revoked. Names the command that reinstates it. */
export function keylessRevocation({
  organization,
  project,
  environment,
  namespace,
  tokenId,
}: EnvironmentSlugs & { readonly namespace: string; readonly tokenId: string }): string {
  return (
    `the service token that SecretSyncs of namespace ${namespace} read environment ${organization}/${project}/${environment} ` +
    `with was revoked. If they should read it again, an admin of the organization runs ` +
    `\`keyframe token reinstate -o ${organization} --id ${tokenId}\``
  );
}

/**
 * DomainError not_found for a place that is granted and does not exist; `deletion` is that of the place, or of what it lies in.
 */
export function absentPlace(place: GrantPlace, deletion: Deletion | undefined): DomainError {
  const { organization, project, environment } = place;
  const absent = `${grantPlaceText({ organization, project, environment })} does not exist`;
  return new DomainError(
    'not_found',
    `${absent}${deletion === undefined ? neverMade(place) : undeletion(place, deletion)}`,
  );
}

/** DomainError conflict for an environment that is no longer the one that was found at its slugs. */
export function replacedMeanwhile({ organization, project, environment }: EnvironmentSlugs): DomainError {
  return new DomainError(
    'conflict',
    `environment ${organization}/${project}/${environment} was deleted or replaced meanwhile; try again`,
  );
}

/** DomainError not_found for a cluster that Keyframe does not know. */
export function absentCluster(cluster: string): DomainError {
  return new DomainError(
    'not_found',
    `cluster ${cluster} is not known; \`keyframe cluster list\` shows those that are`,
  );
}

function neverMade({ environment }: GrantPlace): string {
  return environment === null
    ? '. Correct the slugs, or create it'
    : '. Correct the slugs, or create it with `keyframe env create` or a SecretEnvironment';
}

function undeletion({ organization, project, environment }: GrantPlace, { level, at }: Deletion): string {
  const time = at.toISOString().replace(/\.\d+Z$/, 'Z');
  const [what, who, command] = {
    organization: ['its organization', 'an instance admin', `org undelete ${organization}`],
    project: ['its project', 'an admin of the organization', `project undelete ${project} -o ${organization}`],
    environment: ['it', 'an admin of the organization', `env undelete ${environment} -o ${organization} -p ${project}`],
  }[level];
  return `: ${what} was deleted at ${time}. To take the deletion back, ${who} runs \`keyframe ${command}\``;
}
