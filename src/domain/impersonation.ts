import {
  type Actor,
  type BearerPrincipal,
  type Role,
  systemActor,
  type TokenCreator,
  type UserPrincipal,
} from './principal.ts';

/**
 * Who created a personal token. An instance admin can create one for another user and act with it as that user. So an
 * organization may forbid tokens that another person created (docs/security-model.md, "Impersonation"). Pure.
 */

/** How a user stands at a place in an organization; looked up together with the target of each request. */
export interface MemberStanding {
  /** The highest role of the user at the place; null for none, and for service tokens. */
  readonly role: Role | null;
  /** Whether the organization accepts only tokens that their users created. */
  readonly impersonationForbidden: boolean;
  /** Tokens that the user derived from another person's until then count as the user's; null without a role. */
  readonly confirmedAt: Date | null;
}

/** The creator of a token in the audit and in lists of tokens. */
export interface ShownTokenCreator extends Actor {
  /** Whether the user created the token with one that this creator had created. */
  readonly derived: boolean;
}

const unknownCreator = systemActor('unknown');

export function shownTokenCreator(creator: TokenCreator | null): ShownTokenCreator | null {
  if (creator === null) return null;
  const { type, id, name } = creator.actor ?? unknownCreator;
  return { type, id, name, derived: creator.derivedAt !== null };
}

/** The creator of a new token, as it is stored. */
export interface NewTokenCreator {
  /** Null if unknown. */
  readonly actor: Actor | null;
  /** `now` if the user creates it with a token that another person created. */
  readonly derivedAt: Date | 'now' | null;
}

/** The creator of the token, if the organization forbids impersonation and the token does not count as its user's. */
export function refusedCreator(principal: BearerPrincipal, standing: MemberStanding): TokenCreator | null {
  if (!standing.impersonationForbidden || principal.type !== 'user') return null;
  return isOwnToken(principal.tokenCreator, standing) ? null : principal.tokenCreator;
}

/**
 * Whether an organization that forbids impersonation counts a token as its user's. A token that the server created
 * counts, because operators of the server can read everything without it. A token that the user derived from another
 * person's counts if the organization has confirmed the member since then.
 */
export function isOwnToken(
  creator: TokenCreator | null,
  { confirmedAt }: Pick<MemberStanding, 'confirmedAt'>,
): boolean {
  if (creator === null || creator.actor?.type === 'system') return true;
  return creator.derivedAt !== null && confirmedAt !== null && creator.derivedAt <= confirmedAt;
}

/**
 * The other user that a token goes back to, who may have kept it; null for any other token. What such a token accepts
 * counts as the consent of its user only if that other user is an instance admin who is not disabled (ADR 29).
 */
export function otherCreatorId(creator: TokenCreator | null): string | null {
  return creator?.actor?.type === 'user' ? creator.actor.id : null;
}

/**
 * Returns who counts as the creator of a token that a user creates for a user. If users create tokens for themselves with
 * a token from another person, that person stays the creator, however long the chain is.
 */
export function creatorOfNewToken(by: UserPrincipal, userId: string): NewTokenCreator {
  const { type, id, name, tokenCreator } = by;
  if (id !== userId || tokenCreator === null || tokenCreator.actor?.type === 'system') {
    return { actor: { type, id, name }, derivedAt: null };
  }
  return { actor: tokenCreator.actor, derivedAt: tokenCreator.derivedAt ?? 'now' };
}
