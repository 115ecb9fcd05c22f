import { DomainError } from '../../domain/errors/domain-error.ts';
import { otherCreatorId } from '../../domain/impersonation.ts';
import type { BearerPrincipal, Caller } from '../../domain/principal.ts';
import type { Transaction } from '../../store/transaction.ts';
import { isActiveInstanceAdmin } from '../../store/users.ts';

/**
 * The id of the other user that a credential goes back to, if that user is no instance admin who is not disabled; null for
 * any other credential. What is made with such a credential may be in the hands of that user.
 */
export async function foreignCreatorId(tx: Transaction, acting: BearerPrincipal): Promise<string | null> {
  const id = acting.type === 'user' ? otherCreatorId(acting.tokenCreator) : null;
  return id === null || (await isActiveInstanceAdmin(tx, id)) ? null : id;
}

/** Throws DomainError forbidden for a credential with a `foreignCreatorId`. */
export async function refuseForeignCreator(tx: Transaction, acting: BearerPrincipal): Promise<void> {
  if (acting.type !== 'user' || (await foreignCreatorId(tx, acting)) === null) return;
  const name = acting.tokenCreator?.actor?.name ?? 'another user';
  throw new DomainError(
    'forbidden',
    `this token or session goes back to ${name}, who is no instance admin, so it creates no access for other users; ` +
      'sign in with a link of an instance admin (`keyframe user sign-in-link`), or with a token of an operator of the ' +
      'server (`keyframe-server admin-token`), and repeat it',
  );
}

/** DomainError forbidden for a role that would be that of the user to whom the caller's credential goes back. */
export function delegatorRefusal({
  caller,
  action,
}: {
  readonly caller: Caller;
  readonly action: string;
}): DomainError {
  const { principal } = caller;
  const name = (principal.type === 'user' ? principal.tokenCreator?.actor?.name : undefined) ?? 'another user';
  return new DomainError(
    'forbidden',
    `this token or session goes back to ${name}, so ${action} cannot give ${name} a role or a higher one, or a group of ` +
      'theirs; ask another owner or admin',
  );
}
