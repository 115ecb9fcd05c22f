import { DomainError } from '../domain/domain-error.ts';
import { appendAudit, type AuditRecord } from '../store/audit.ts';
import { credentialIsLive } from '../store/credentials.ts';
import type { Database } from '../store/database.ts';
import { inTransaction, type Transaction } from '../store/transaction.ts';
import type { AnyAccess } from './access.ts';

/** What a change answers, and the audit row it leaves. */
export interface Mutated<T> {
  readonly result: T;
  readonly audit: AuditRecord;
}

/**
 * Makes one change: work, its audit row and a last look at the caller's credential and right, in one transaction. A
 * credential that was revoked or expired in the meantime rolls everything back with DomainError unauthenticated, a
 * right that was withdrawn or whose target was deleted with not_found or forbidden; from that look on a withdrawal
 * waits for the commit. `work` may be run again after a deadlock (`inTransaction`).
 */
export async function mutate<T>(
  deps: { readonly database: Pick<Database, 'prisma'> },
  access: AnyAccess,
  work: (tx: Transaction) => Promise<Mutated<T>>,
): Promise<T> {
  return inTransaction(deps.database, async (tx) => {
    const { result, audit } = await work(tx);
    await appendAudit(tx, audit);
    if (!(await credentialIsLive(tx, access.caller.principal))) {
      throw new DomainError('unauthenticated', 'the token ended while the request was under way; nothing was changed');
    }
    await access.confirm(tx);
    return result;
  });
}
