import { DomainError } from '../../domain/errors/domain-error.ts';
import { appendAudit } from '../../store/audit.ts';
import { credentialIsLive } from '../../store/credentials.ts';
import type { Database } from '../../store/database.ts';
import { type Transaction, inTransaction } from '../../store/transaction.ts';
import type { AnyAccess } from '../access/access.ts';
import type { Changed } from '../kernel/changed.ts';
import { lockWithShared, type PresentRevision } from '../kernel/environment-lock.ts';
import type { EnvironmentQueue } from '../kernel/environment-queue.ts';
import { type Once, type OnceAccess, type OnceOutcome, runOnce } from './once.ts';

/*
 * The frame of every change. Each writer of src/services makes its changes through one of the functions below, so that
 * all of them take their locks and write their rows in one order:
 *
 *  1. The environment's turn. A writer that waits for it holds no connection.
 *  2. Preparation: what needs other connections or much time, such as sealing values.
 *  3. BEGIN.
 *  4. The Idempotency-Key. A repetition goes on at 8.
 *  5. The lock of the environment's row, sent together with the first statement under it. A change that reads another
 *     environment locks both rows, in the order of their ids.
 *  6. The work: more locks in the order of docs/internals/changes-and-locks.md; then its writes and notifications.
 *  7. The result, stored under the Idempotency-Key.
 *  8. The audit row.
 *  9. The caller's credential and right are judged again, with locks for shares. From here on a withdrawal waits.
 * 10. COMMIT, at which PostgreSQL sends the notifications.
 *
 * makeChange             3,       6,    8, 9, 10
 * makeChangeOnce         3, 4,    6, 7, 8, 9, 10
 * changeEnvironment      1, 2, 3,    5, 6,    8, 9, 10
 * changeEnvironmentOnce  1 to 10
 * changeJudgedFirst      3, locks, 9, 6, 8, 10: for changes that may end the right or the credential of their caller
 *
 * A failure at any step undoes all of it. `auditedFailure`, around the frame and the checks of the input, records it.
 */

type Work<T> = (tx: Transaction) => Promise<Changed<T>>;

export interface ChangeDeps {
  readonly database: Pick<Database, 'transactionPool'>;
}

interface EnvironmentChangeDeps extends ChangeDeps {
  readonly queue: Pick<EnvironmentQueue, 'run'>;
}

/** A change under the lock of an environment. */
export interface EnvironmentChange<First, T> {
  /** The id of the revision that the environment must be at. */
  readonly expectedRevision?: string | undefined;
  /** An environment that the change reads, mostly another one: no write to it commits until the transaction ends. */
  readonly sharedEnvironmentId?: string;
  /** The first statement under the lock. It is sent with the lock, so it must not wait for anything before. */
  readonly first: (tx: Transaction) => Promise<First>;
  readonly work: (tx: Transaction, locked: Locked<First>) => Promise<Changed<T>>;
}

/** What the lock of the environment and the first statement under it found. */
export interface Locked<First> {
  readonly before: PresentRevision;
  readonly first: First;
}

/** A function prepares the change in the environment's turn, once, however often a deadlock repeats the transaction. */
type Preparable<First, T> = EnvironmentChange<First, T> | (() => Promise<EnvironmentChange<First, T>>);

/** A change that may take away the right or the credential of its caller. */
export interface FinalChange<T> {
  /** Takes the locks that the change needs, in the order of docs/internals/changes-and-locks.md. */
  lock(tx: Transaction): Promise<void>;
  change(tx: Transaction): Promise<Changed<T>>;
}

/**
 * Makes a change. Throws DomainError unauthenticated if the caller's credential was revoked or expired meanwhile, and
 * forbidden or not_found if the right was withdrawn or its target deleted. `work` may run again after a deadlock. The
 * default limit is 30 seconds (`inTransaction`, which says what else is thrown).
 */
export async function makeChange<T>(
  deps: ChangeDeps,
  access: AnyAccess,
  work: Work<T>,
  timeoutMs?: number,
): Promise<T> {
  const change = async (tx: Transaction): Promise<T> => {
    const { result, audit } = await work(tx);
    if (audit !== null) await tx.pipeline([appendAudit(tx, audit), judgeAgain(tx, access)]);
    return result;
  };
  return inTransaction(deps.database, change, timeoutMs);
}

/** Like `makeChange`, but once for each Idempotency-Key. Throws what `runOnce` throws as well. */
export async function makeChangeOnce<T, Kept extends object, Replay>(
  deps: ChangeDeps,
  access: OnceAccess,
  once: Once<T, Kept, Replay>,
  work: Work<T>,
): Promise<OnceOutcome<T, Replay>> {
  return makeChange(deps, access, (tx) => runOnce(tx, access, once, work));
}

/**
 * Makes a change of an environment, in its turn and under its lock. Throws what `makeChange`, `lockAtRevision` and
 * `EnvironmentQueue.run` throw.
 */
export async function changeEnvironment<First, T>(
  deps: EnvironmentChangeDeps,
  access: AnyAccess,
  environmentId: string,
  change: Preparable<First, T>,
): Promise<T> {
  return inTurn(deps, environmentId, change, (work) => makeChange(deps, access, work));
}

/** Like `changeEnvironment`, but once for each Idempotency-Key. Throws what `runOnce` throws as well. */
export async function changeEnvironmentOnce<T, Kept extends object, Replay, First>(
  deps: EnvironmentChangeDeps,
  access: OnceAccess & { readonly environmentId: string },
  once: Once<T, Kept, Replay>,
  change: Preparable<First, T>,
): Promise<OnceOutcome<T, Replay>> {
  return inTurn(deps, access.environmentId, change, (work) => makeChangeOnce(deps, access, once, work));
}

/**
 * Like `makeChange`, for deletions and for changes of people and their tokens. Credential and right are judged between
 * the locks and the change, because they may be gone after it. No withdrawal comes in between: it waits for the commit.
 */
export async function changeJudgedFirst<T>(
  deps: { readonly database: Pick<Database, 'transactionPool'> },
  access: AnyAccess,
  work: FinalChange<T>,
): Promise<T> {
  return inTransaction(deps.database, async (tx) => {
    await work.lock(tx);
    await requireLive(tx, access);
    await access.confirm(tx);
    const { result, audit } = await work.change(tx);
    if (audit !== null) await appendAudit(tx, audit);
    return result;
  });
}

async function inTurn<First, T, Outcome>(
  { queue }: EnvironmentChangeDeps,
  environmentId: string,
  change: Preparable<First, T>,
  commit: (work: Work<T>) => Promise<Outcome>,
): Promise<Outcome> {
  return queue.run(environmentId, async () => {
    const { expectedRevision, sharedEnvironmentId, first, work } =
      typeof change === 'function' ? await change() : change;
    return commit(async (tx) => {
      const locks = lockWithShared(tx, environmentId, { expectedRevision, sharedEnvironmentId });
      if (sharedEnvironmentId !== undefined) return work(tx, { before: await locks, first: await first(tx) });
      const locked = await tx.pipeline([locks, first(tx)]);
      return work(tx, { before: locked[0], first: locked[1] });
    });
  });
}

/** From here to the commit, neither credential nor right can be withdrawn. */
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
