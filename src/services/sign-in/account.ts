import { randomUUID } from 'node:crypto';
import { validateEmail, validateName } from '../../domain/names.ts';
import type { Actor } from '../../domain/principal.ts';
import type { IssuerClaims } from '../../identity/issuer.ts';
import * as identities from '../../store/identities.ts';
import type { Transaction } from '../../store/transaction.ts';
import { insertUser, lockUser, lockUserChanges, type UserRecord } from '../../store/users.ts';
import { SignInRefusal } from './sign-in-refusal.ts';

/** The user that an identity belongs to, locked. */
export interface Account {
  readonly identity: identities.FoundIdentity;
  readonly user: UserRecord;
  readonly isNew: boolean;
}

/**
 * Finds the user of an identity and locks them. Only issuer and subject count: an issuer may give a known address to
 * another person, or change it. An unknown identity gets a new user without roles, if the issuer has verified its address
 * and no user has that address.
 *
 * @throws SignInRefusal address_unverified, address_taken
 */
export async function accountOf(tx: Transaction, claims: IssuerClaims): Promise<Account> {
  const known = await findAccount(tx, claims);
  if (known !== undefined) return known;
  // One at a time, so that two first sign-ins make one user.
  await lockUserChanges(tx);
  return (await findAccount(tx, claims)) ?? (await createAccount(tx, claims));
}

async function findAccount(tx: Transaction, claims: IssuerClaims): Promise<Account | undefined> {
  const found = await identities.findIdentity(tx, claims);
  if (found === undefined) return undefined;
  const user = await lockUser(tx, found.userId);
  // It may have been unlinked before the lock.
  const identity = await identities.findIdentity(tx, claims);
  if (user === undefined || identity?.userId !== user.id) return undefined;
  return { identity, user, isNew: false };
}

async function createAccount(tx: Transaction, { issuer, subject, claims }: IssuerClaims): Promise<Account> {
  const email = verifiedAddress(claims);
  if (email === undefined) throw new SignInRefusal('address_unverified');
  const name = claims['name'];
  const displayName = typeof name === 'string' && validateName(name) === undefined ? name : null;
  const user = await insertUser(tx, { id: randomUUID(), email, displayName, instanceAdmin: false });
  if (user === undefined) throw new SignInRefusal('address_taken');
  const identity = { id: randomUUID(), userId: user.id };
  await identities.insertIdentity(tx, {
    ...identity,
    issuer,
    subject,
    creator: { actor: actorOf(user), derivedAt: null },
    delegators: [],
  });
  return { identity, user, isNew: true };
}

export function actorOf({ id, email }: Pick<UserRecord, 'id' | 'email'>): Actor {
  return { type: 'user', id, name: email };
}

/** Only `true` itself is a confirmation: some issuers send the address that a user typed. */
function verifiedAddress({ email, email_verified: isVerified }: IssuerClaims['claims']): string | undefined {
  if (typeof email !== 'string' || isVerified !== true || validateEmail(email) !== undefined) return undefined;
  return email.toLowerCase();
}
