import type { SeenRules } from '../cluster-ceiling.ts';
import type { GrantPlace, TokenPermission } from '../grants.ts';
import type { Plaintext } from '../plaintext.ts';

/** What the services and the controller say to each other about the service tokens of ServiceTokens. */

/** What a token of a custom resource is presented with: a secret string, or JWTs. */
export interface ResourceCredential {
  readonly serial: number;
  /** The audience of the JWTs that prove it; null for a secret string, and for what no JWT proves any more. */
  readonly audience: string | null;
  /** A pending one does not work: it is not known to be stored yet. */
  readonly state: 'pending' | 'active';
  readonly createdAt: Date;
  /** Null for never; by the database's clock. */
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly firstUsedAt: Date | null;
  readonly lastUsedAt: Date | null;
}

/** The ids of an organization, a project or an environment. */
export interface PlaceIds {
  readonly organizationId: string;
  /** Null for a whole organization. */
  readonly projectId: string | null;
  /** Null for a whole project or organization. */
  readonly environmentId: string | null;
}

/** What a place names now, and what its organization allows the cluster. */
export interface AllowedPlace extends PlaceIds {
  readonly clusterRules: SeenRules;
}

/** The token of a custom resource. */
export interface ResourceToken extends PlaceIds {
  readonly tokenId: string;
  readonly permission: TokenPermission;
  readonly suspendedAt: Date | null;
  /** Set once it has ended for good, by any cause. */
  readonly revokedAt: Date | null;
  /** By serial, oldest first. */
  readonly credentials: readonly ResourceCredential[];
}

/** `gone`: what it was for was purged, and the token with it. */
export type TokenOrGone = ResourceToken | 'gone';

export interface MintInput {
  /** The token's name in the lists of the API; kept from the first serial. */
  readonly name: string;
  /** Null for never; by the database's clock, like every expiry. */
  readonly expiresAt: Date | null;
  /** Greater than every serial before, or that of a pending one, which is replaced. 1 is the first. */
  readonly serial: number;
}

/** As `MintInput`, for a credential that JWTs of ServiceAccounts prove. */
export interface FederateInput extends MintInput {
  /** 1 to 10 names in the namespace of the resource. */
  readonly serviceAccountNames: readonly string[];
}

/** A new secret string. It does not work before it is activated. */
export interface MintedToken {
  readonly tokenId: string;
  readonly serial: number;
  /** Shown this once: only its hash is kept. */
  readonly token: Plaintext;
}

/** A new end of one serial; null for never. */
export interface MovedExpiry {
  readonly serial: number;
  readonly expiresAt: Date | null;
}

/**
 * Why a token is suspended: its AccessGrant is withdrawn, its ServiceToken does not exist any more, or its cluster is
 * disabled or not allowed the place.
 */
export type SuspensionCause = 'grant_gone' | 'resource_gone' | 'cluster_refused';

/** A token that works, with its ServiceToken as the database knows it. */
export interface LiveToken extends GrantPlace {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly permission: TokenPermission;
}

/** Which live tokens of a cluster are asked for. */
export interface LiveTokensAsked {
  /** Only those of these namespaces, however new they are; null for all that are older than 5 minutes. */
  readonly namespaces: readonly string[] | null;
  /** The uid that the page begins after; null for the first page. */
  readonly after: string | null;
}

/** A page of live tokens, by the uids of their ServiceTokens. */
export interface LiveTokensPage<Token = LiveToken> {
  readonly tokens: readonly Token[];
  /** The uid that the next page begins after; null for the last page. */
  readonly next: string | null;
}
