import type { Transaction } from './transaction.ts';

/** The other users who may hold a personal token or a session. */
export async function readDelegators(tx: Transaction, credentialId: string): Promise<readonly string[]> {
  const row = await tx.row<{ delegators: string[] }>`
    SELECT delegators FROM personal_token WHERE id = ${credentialId}::uuid
    UNION ALL SELECT delegators FROM session WHERE id = ${credentialId}::uuid`;
  if (row === undefined) throw new Error('no personal token and no session is ever deleted while it is used');
  return row.delegators;
}
