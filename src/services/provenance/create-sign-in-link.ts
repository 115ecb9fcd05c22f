import { randomUUID } from 'node:crypto';
import { generateToken } from '../../crypto/token.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import { insertSignInLink, type NewSignInLink } from '../../store/sign-in-links.ts';
import type { Transaction } from '../../store/transaction.ts';

export interface CreatedSignInLink {
  readonly id: string;
  /** The secret part of the link: shown this once, only its hash is stored. */
  readonly token: Plaintext;
  readonly expiresAt: Date;
}

/**
 * Creates a link, and ends the one before of the same user. It works only as long as the personal token that it is created
 * with. Lock the user, or the place of the invitation, before.
 */
export async function createSignInLink(
  tx: Transaction,
  link: Pick<NewSignInLink, 'subject' | 'createdBy' | 'credentialId' | 'delegators'>,
): Promise<CreatedSignInLink> {
  const id = randomUUID();
  const { token, hash: tokenHash } = generateToken('sign_in_link', id);
  const expiresAt = await insertSignInLink(tx, { id, tokenHash, ...link });
  return { id, token, expiresAt };
}
