import { DomainError } from '../../domain/errors/domain-error.ts';
import { appendAudit, type AuditRecord } from '../../store/audit.ts';
import { credentialIsLive } from '../../store/credentials.ts';
import type { Database } from '../../store/database.ts';
import { inSqlTransaction } from '../../store/sql-transaction.ts';
import { inTransaction, type PrismaTransaction, type Transaction } from '../../store/transaction.ts';
import type { AnyAccess } from '../access/access.ts';

/** What a change answers, and the audit row it leaves. */
export interface Mutated<T> {
  readonly result: T;
  readonly audit: AuditRecord;
}

/**
 * Makes one change: work, its audit row and a last look at the caller's credential and right, in one transaction. A
 * credential that was revoked or expired in the meantime rolls everything back with DomainError unauthenticated, a
 * right that was withdrawn or whose target was deleted with not_found or forbidden; from that look on a withdrawal
 * waits for the commit. `work` may be run again after a deadlock, and has 30 seconds unless told (`inTransaction`).
 */
export async function mutate<T>(
  deps: { readonly database: Pick<Database, 'transactionPool'> },
  access: AnyAccess,
  work: (tx: Transaction) => Promise<Mutated<T>>,
  timeoutMs?: number,
): Promise<T> {
  const change = async (tx: Transaction): Promise<T> => {
    const { result, audit } = await work(tx);
    // Begun together, which spares waiting for each; the transaction runs them in this order.
    await tx.pipeline([appendAudit(tx, audit), judgeAgain(tx, access)]);
    return result;
  };
  return inSqlTransaction(deps.database, change, timeoutMs);
}

/** A change that may take away the right or the credential it is made with. */
export interface FinalChange<T> {
  /** Takes the locks that the change needs, in the order of docs/internals/changes-and-locks.md. */
  lock(tx: PrismaTransaction): Promise<void>;
  change(tx: PrismaTransaction): Promise<Mutated<T>>;
}

/**
 * Like `mutate`, for deletions and for changes of people and their tokens: credential and right are judged between the
 * locks and the change, because after it they may be gone. No withdrawal comes in between: it waits for the commit.
 */
export async function mutateJudgedFirst<T>(
  deps: { readonly database: Pick<Database, 'prisma'> },
  access: AnyAccess,
  work: FinalChange<T>,
): Promise<T> {
  return inTransaction(deps.database, async (tx) => {
    await work.lock(tx);
    await requireLive(tx, access);
    await access.confirm(tx);
    const { result, audit } = await work.change(tx);
    await appendAudit(tx, audit);
    return result;
  });
}

/** The last look at credential and right, with one wait for both; from here to the commit no withdrawal of either is. */
async function judgeAgain(tx: Transaction, access: AnyAccess): Promise<void> {
  await tx.pipeline([requireLive(tx, access), access.confirm(tx)]);
}

async function requireLive(tx: Transaction, access: AnyAccess): Promise<void> {
  if (await credentialIsLive(tx, access.caller.principal)) return;
  throw new DomainError(
    'unauthenticated',
    'the token ended or was changed while the request was under way; nothing was done',
  );
}
