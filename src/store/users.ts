import type { Transaction } from './transaction.ts';

export interface NewAdmin {
  readonly userId: string;
  readonly email: string;
  readonly credentialId: string;
  readonly tokenName: string;
  readonly tokenHash: Uint8Array;
}

// Any number that nothing else of this database locks.
const bootstrapLock = 72_707_370;

/** Whether there is any user, disabled ones included. */
export async function hasUsers(tx: Transaction): Promise<boolean> {
  return (await tx.user.findFirst({ select: { id: true } })) !== null;
}

/** Lets one replica at a time make the first user: held to the end of the transaction. */
export async function lockBootstrap(tx: Transaction): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${bootstrapLock}::bigint)`;
}

/** Inserts an instance admin with a personal token that never expires. */
export async function insertInstanceAdmin(tx: Transaction, admin: NewAdmin): Promise<void> {
  const { userId, email, credentialId, tokenName } = admin;
  await tx.user.create({ data: { id: userId, email, instanceAdmin: true } });
  await tx.personalToken.create({
    data: { id: credentialId, userId, name: tokenName, tokenHash: Uint8Array.from(admin.tokenHash) },
  });
}

/** Whether a personal token is stored under this id with this hash. */
export async function hasPersonalToken(tx: Transaction, credentialId: string, hash: Uint8Array): Promise<boolean> {
  const where = { id: credentialId, tokenHash: Uint8Array.from(hash) };
  return (await tx.personalToken.findFirst({ where, select: { id: true } })) !== null;
}
