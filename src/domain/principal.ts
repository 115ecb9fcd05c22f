import type { GrantRule, TokenPermission } from './grants.ts';
import type { ResourceKindName } from './kinds.ts';

/** Who acts. One of these is the first argument of everything that is authorised. */

export type Role = 'owner' | 'admin' | 'developer' | 'viewer';
export type TokenScope = 'organization' | 'project' | 'environment';
export type ActorType = 'user' | 'service_token' | 'resource' | 'system';

/** The name and id under which history and audit remember who acted. */
export interface Actor {
  readonly type: ActorType;
  readonly id: string;
  readonly name: string;
}

/** The server itself, for what it does by itself or at an operator's command; `name` tells which part of it. */
export function systemActor(name: string): Actor {
  return { type: 'system', id: '00000000-0000-0000-0000-000000000000', name };
}

/** Another person, or the server itself, who created a personal token or the token that its user created it with. */
export interface TokenCreator {
  /** Null if unknown: a server that recorded no creators created the token. */
  readonly actor: Actor | null;
  /** When the user created the token, or an ancestor of it, with a token of that creator; null if the creator did. */
  readonly derivedAt: Date | null;
}

export interface UserPrincipal extends Actor {
  readonly type: 'user';
  readonly instanceAdmin: boolean;
  /** The personal token that was presented. */
  readonly credentialId: string;
  /** Null for a token that goes back to the user alone. */
  readonly tokenCreator: TokenCreator | null;
  readonly expiresAt: Date | null;
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
  readonly expiresAt: Date | null;
}

/**
 * The keyless service token of a namespace: the controller alone acts as it, for SecretSyncs of that namespace. It has
 * no credential, so it never comes over HTTP. Only `KeylessAccess` makes one.
 */
export interface KeylessPrincipal extends Actor {
  readonly type: 'service_token';
  readonly isKeyless: true;
  readonly organizationId: string;
  readonly scope: 'environment';
  readonly projectId: string;
  readonly environmentId: string;
  readonly permission: 'read';
  /** Whom the controller vouches for; in place of a credential. */
  readonly claim: { readonly cluster: string; readonly namespace: string };
}

/**
 * A custom resource of a cluster, whom the controller acts for. It has no credential and never comes over HTTP: what it
 * may do rests on the grants of its namespace alone.
 */
export interface ResourcePrincipal extends Actor {
  readonly type: 'resource';
  /** Its uid in the cluster, a UUID. */
  readonly id: string;
  /** `ServiceToken team-a/ci`; without the namespace for kinds that have none. */
  readonly name: string;
  readonly cluster: string;
  readonly kind: ResourceKindName;
  readonly namespace: string | null;
  /**
   * What its namespace is granted. Read anew at each judgement, also at the end of a change: a getter tells a withdrawal
   * that comes in between.
   */
  readonly grants: readonly GrantRule[];
  /** Name of an AccessGrant that is for its namespace alone and takes another rule, if there is one. For messages. */
  readonly ownGrant?: string | undefined;
}

/** Whoever presented a token. */
export type BearerPrincipal = UserPrincipal | ServiceTokenPrincipal;

/** Principals of which the policy decides by service tokens' and people's rules. */
export type TenantPrincipal = BearerPrincipal | KeylessPrincipal;

export type Principal = TenantPrincipal | ResourcePrincipal;

/** A principal with the circumstances of its call, for the audit: whoever presented a token, unless told. */
export interface Caller<P extends Principal = BearerPrincipal> {
  readonly principal: P;
  readonly requestId: string;
  readonly sourceAddress: string | null;
}

export type ResourceCaller = Caller<ResourcePrincipal>;

/** Whoever acts. */
export type AnyCaller = Caller<Principal>;
