/** Who acts. One of these is the first argument of everything that is authorised. */

export type Role = 'owner' | 'admin' | 'developer' | 'viewer';
export type TokenScope = 'organization' | 'project' | 'environment';
export type TokenPermission = 'read' | 'read_write';
export type ActorType = 'user' | 'service_token' | 'resource' | 'system';

/** The name and id under which history and audit remember who acted. */
export interface Actor {
  readonly type: ActorType;
  readonly id: string;
  readonly name: string;
}

export interface UserPrincipal extends Actor {
  readonly type: 'user';
  readonly instanceAdmin: boolean;
  /** The personal token that was presented. */
  readonly credentialId: string;
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

export type Principal = UserPrincipal | ServiceTokenPrincipal;

/** A principal with the circumstances of its call, for the audit. */
export interface Caller {
  readonly principal: Principal;
  readonly requestId: string;
  readonly sourceAddress: string | null;
}
