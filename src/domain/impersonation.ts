import {
  type Actor,
  type BearerPrincipal,
  type Role,
  systemActor,
  type TokenCreator,
  type UserPrincipal,
} from './principal.ts';

/**
 * Who stands behind a personal token. An instance admin can create one for another user and act with it as that user,
 * so an organization may forbid tokens that another person created (docs/security-model.md, "Impersonation"). Pure.
 */

/** How a user stands in an organization; looked up together with the target of each request. */
export interface MemberStanding {
  /** Null for users who are no members, and for service tokens. */
  readonly role: Role | null;
  /** Whether the organization accepts only tokens that their users created. */
  readonly impersonationForbidden: boolean;
  /** Until when tokens that the member derived from another person's count as the member's own; null for no member. */
  readonly confirmedAt: Date | null;
}

/** A creator as the audit and the list of tokens show it. */
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

/** Who created a new token, as it is stored. */
export interface NewTokenCreator {
  /** Null if unknown. */
  readonly actor: Actor | null;
  /** `now` if the user creates it with a token that another person created. */
  readonly derivedAt: Date | 'now' | null;
}

/** The creator, if the organization forbids impersonation and the token is not its user's own there. */
export function refusedCreator(principal: BearerPrincipal, standing: MemberStanding): TokenCreator | null {
  if (!standing.impersonationForbidden || principal.type !== 'user') return null;
  return isOwnToken(principal.tokenCreator, standing) ? null : principal.tokenCreator;
}

/**
 * Whether an organization that forbids impersonation counts a token as its user's own. A token that the server itself
 * created counts, because operators of the server could read everything without it. So does a token that the user
 * derived from another person's before the organization last confirmed the member.
 */
export function isOwnToken(
  creator: TokenCreator | null,
  { confirmedAt }: Pick<MemberStanding, 'confirmedAt'>,
): boolean {
  if (creator === null || creator.actor?.type === 'system') return true;
  return creator.derivedAt !== null && confirmedAt !== null && creator.derivedAt <= confirmedAt;
}

/**
 * Who counts as the creator of a token that a user creates for a user. A token that users create for themselves with
 * a token of another person stays that person's, however long the chain.
 */
export function creatorOfNewToken(by: UserPrincipal, userId: string): NewTokenCreator {
  const { type, id, name, tokenCreator } = by;
  if (id !== userId || tokenCreator === null || tokenCreator.actor?.type === 'system') {
    return { actor: { type, id, name }, derivedAt: null };
  }
  return { actor: tokenCreator.actor, derivedAt: tokenCreator.derivedAt ?? 'now' };
}
