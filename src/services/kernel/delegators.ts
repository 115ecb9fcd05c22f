import type { UserPrincipal } from '../../domain/principal.ts';
import { delegatorsOf } from '../../domain/provenance.ts';
import { readDelegators } from '../../store/delegators.ts';
import type { Transaction } from '../../store/transaction.ts';

/**
 * The delegators of what a user makes with the credential in use: for `userId`, or for an address that no user has (null).
 * Throws DomainError forbidden for too many.
 */
export async function delegatorsOfNew(
  tx: Transaction,
  by: Pick<UserPrincipal, 'id' | 'credentialId'>,
  userId: string | null,
): Promise<readonly string[]> {
  const inherited = await readDelegators(tx, by.credentialId);
  return delegatorsOf({ userId, makerId: by.id, inherited });
}
