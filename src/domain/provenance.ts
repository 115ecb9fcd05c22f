import { DomainError } from './errors/domain-error.ts';

/** Who else may hold a credential of a user. Pure. */

/** How many users may hold one credential besides its user. */
const maxDelegators = 8;

/** A credential, a passkey, an account or a link that is about to be made. */
export interface Making {
  /** The user for whom it is made; null if that is not a user yet. */
  readonly userId: string | null;
  /** The user who makes it. */
  readonly makerId: string;
  /** The delegators of the credential that the maker uses. */
  readonly inherited: readonly string[];
}

/**
 * The users who see what is made: all delegators of the credential that is used for it and, if it is made for another user,
 * its maker. Throws DomainError forbidden for too many of them.
 */
export function delegatorsOf({ userId, makerId, inherited }: Making): readonly string[] {
  const delegators = [...new Set([...inherited, makerId])].filter((id) => id !== userId);
  if (delegators.length <= maxDelegators) return delegators;
  throw new DomainError(
    'forbidden',
    `this token or session was made through ${inherited.length} other users, and what it makes may have ` +
      `${maxDelegators} at most; sign in with a link of an instance admin (\`keyframe user sign-in-link\`), and repeat it`,
  );
}
