import type { GrantRule, TokenPermission } from './grants.ts';
import type { GrantedKindName, ResourceKindName } from './kinds.ts';

/** Principals. Each authorized operation takes one as its first argument. */

export type Role = 'owner' | 'admin' | 'developer' | 'viewer';
export type TokenScope = 'organization' | 'project' | 'environment';
export type ActorType = 'user' | 'service_token' | 'resource' | 'system';

/** Name and id of an actor in history and audit. */
export interface Actor {
  readonly type: ActorType;
  readonly id: string;
  readonly name: string;
}

/** An actor as history and audit record it. */
export interface RecordedActor extends Actor {
  /** The cluster that vouched for the actor, by its name as of then; null if none did. */
  readonly cluster: string | null;
}

/** The server, for work that it does by itself or for an operator. `name` identifies the part of the server. */
export function systemActor(name: string): Actor {
  return { type: 'system', id: '00000000-0000-0000-0000-000000000000', name };
}

/** The other person, or the server, that created a personal token or the token that its user created it with. */
export interface TokenCreator {
  /** Null if unknown: a server that recorded no creators created the token. */
  readonly actor: Actor | null;
  /** When the user created the token, or an ancestor of it, with a token of that creator; null if the creator made it. */
  readonly derivedAt: Date | null;
}

export interface UserPrincipal extends Actor {
  readonly type: 'user';
  readonly instanceAdmin: boolean;
  /** The personal token or session that was presented. */
  readonly credentialId: string;
  /** Null for a token that only its user created. */
  readonly tokenCreator: TokenCreator | null;
  readonly expiresAt: Date | null;
  /** Set if a browser's session was presented instead of a personal token. */
  readonly session?: SessionFacts;
}

/** What a session may do besides what its user may do. */
export interface SessionFacts {
  /** Whether the user signed in within the last minutes, so that it may do what needs a recent sign-in. */
  readonly isRecent: boolean;
  /** When tokens that are created with it end at the latest. */
  readonly tokensEndAt: Date;
  /**
   * When the personal token of its user ends that it goes back to: it began with the token, or with a link that was
   * created with it. Null for a token without an end, and without such a token.
   */
  readonly tokenExpiresAt: Date | null;
}

export interface ServiceTokenPrincipal extends Actor {
  readonly type: 'service_token';
  readonly organizationId: string;
  readonly scope: TokenScope;
  /** The project of project and environment scope. */
  readonly projectId: string | null;
  /** The environment of environment scope. */
  readonly environmentId: string | null;
  readonly permission: TokenPermission;
  readonly credentialId: string;
  /** With a JWT at the latest when that expires. */
  readonly expiresAt: Date | null;
  /** When the JWT that was presented is no longer accepted; absent for a token with a value. */
  readonly jwtEndsAt?: Date;
}

/**
 * The keyless service token of a namespace. Only the controller acts as it, for SecretSyncs of that namespace. It has no
 * credential, so it cannot be used over HTTP. Only `cluster-access.ts` makes one.
 */
export interface KeylessPrincipal extends Actor {
  readonly type: 'service_token';
  readonly isKeyless: true;
  readonly organizationId: string;
  readonly scope: 'environment';
  readonly projectId: string;
  readonly environmentId: string;
  readonly permission: 'read';
  /** The namespace that the controller acts for; replaces a credential. */
  readonly claim: { readonly cluster: string; readonly namespace: string };
}

/**
 * A custom resource of a cluster. The controller acts for it. It has no credential and cannot be used over HTTP. Only the
 * grants of its namespace decide what it may do.
 */
export interface ResourcePrincipal extends Actor {
  readonly type: 'resource';
  /** Its uid in the cluster, a UUID. */
  readonly id: string;
  /** Such as `ServiceToken team-a/ci`; without a namespace for cluster-scoped kinds. */
  readonly name: string;
  readonly cluster: string;
  readonly kind: ResourceKindName;
  readonly namespace: string | null;
  /**
   * The grants of its namespace. They are read again for each decision, also at the end of a change, so that a getter can
   * report a grant that was withdrawn meanwhile.
   */
  readonly grants: readonly GrantRule[];
  /** Name of an AccessGrant that covers only its namespace and has room for another rule, if any. For messages. */
  readonly ownGrant?: string | undefined;
}

/** The name of a custom resource in history and audit. */
export function resourceName({
  kind,
  namespace,
  name,
}: {
  readonly kind: GrantedKindName;
  readonly namespace: string | null;
  readonly name: string;
}): string {
  return `${kind} ${namespace === null ? '' : `${namespace}/`}${name}`;
}

/** The name of a custom resource in its namespace, from its name in history and audit. */
export function plainName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** A principal that presented a token. */
export type BearerPrincipal = UserPrincipal | ServiceTokenPrincipal;

/** When tokens that a principal creates end at the latest; null for no bound. */
export function tokensEndAtOf(principal: BearerPrincipal): Date | null {
  const session = principal.type === 'user' ? principal.session : undefined;
  return session === undefined ? principal.expiresAt : session.tokensEndAt;
}

/**
 * Whether a way to sign in that a user sets up may outlast the credential that was presented: not with a personal token
 * that expires. One that the server created is an exception: an operator gives it to an instance admin who has no other
 * way in.
 */
export function maySetUpSignIn({ session, tokenCreator }: UserPrincipal): boolean {
  return (session?.tokenExpiresAt ?? null) === null || tokenCreator?.actor?.type === 'system';
}

/** Principals that `decide` of policy.ts accepts. */
export type TenantPrincipal = BearerPrincipal | KeylessPrincipal;

export type Principal = TenantPrincipal | ResourcePrincipal;

/** A principal with the facts of its request that the audit records. The default is a principal with a token. */
export interface Caller<P extends Principal = BearerPrincipal> {
  readonly principal: P;
  readonly requestId: string;
  readonly sourceAddress: string | null;
  /** The SecretSync that reads with the token; absent for a request of a client. */
  readonly through?: ClusterAsker;
}

/** A custom resource, for which its cluster vouches, as messages name it. */
export interface ClusterAsker {
  readonly cluster: string;
  /** Such as `SecretSync team-a/app`. */
  readonly name: string;
}

export type ResourceCaller = Caller<ResourcePrincipal>;

export type AnyCaller = Caller<Principal>;

/** Who acts, with the cluster that vouches for the custom resource, the keyless token or the SecretSync. */
export function recordedActor({ principal, through }: Pick<AnyCaller, 'principal' | 'through'>): RecordedActor {
  const { type, id, name } = principal;
  return { type, id, name, cluster: through?.cluster ?? vouchingCluster(principal) };
}

function vouchingCluster(principal: Principal): string | null {
  if (principal.type === 'resource') return principal.cluster;
  return 'claim' in principal ? principal.claim.cluster : null;
}
