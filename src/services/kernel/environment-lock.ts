import { DomainError } from '../../domain/errors/domain-error.ts';
import { shareEnvironment } from '../../store/copies.ts';
import { lockEnvironment } from '../../store/secrets.ts';
import type { Transaction } from '../../store/transaction.ts';

/** The revision that an environment is at. */
export interface PresentRevision {
  readonly revision: number;
  readonly revisionId: string;
}

/**
 * Takes the environment's lock, until the transaction ends, and returns its revision. Throws DomainError not_found if
 * it was deleted meanwhile, and version_mismatch if it is not at the expected revision.
 */
async function lockAtRevision(
  tx: Transaction,
  environmentId: string,
  expectedRevision?: string,
): Promise<PresentRevision> {
  const present = await lockEnvironment(tx, environmentId);
  if (present === undefined) throw deletedEnvironment();
  checkRevision(present, expectedRevision);
  return present;
}

/**
 * Like `lockAtRevision`, and locks another environment for shares, in the order of the ids. So two changes that lock the
 * same two environments never wait for each other.
 */
export async function lockWithShared(
  tx: Transaction,
  environmentId: string,
  {
    expectedRevision,
    sharedEnvironmentId,
  }: { expectedRevision?: string | undefined; sharedEnvironmentId?: string | undefined },
): Promise<PresentRevision> {
  const share = async (): Promise<void> => {
    if (sharedEnvironmentId === undefined || (await shareEnvironment(tx, sharedEnvironmentId))) return;
    throw new DomainError('not_found', 'the environment to read from was deleted meanwhile');
  };
  const isFirst = sharedEnvironmentId !== undefined && sharedEnvironmentId < environmentId;
  if (isFirst) await share();
  const present = await lockAtRevision(tx, environmentId, expectedRevision);
  if (!isFirst) await share();
  return present;
}

/** Throws DomainError version_mismatch if a revision id is expected and this is another one. */
export function checkRevision({ revisionId }: Pick<PresentRevision, 'revisionId'>, expected: string | undefined): void {
  if (expected === undefined || expected === revisionId) return;
  throw new DomainError(
    'version_mismatch',
    `the environment is at revision ${revisionId}, not at the expected one; read it again`,
  );
}

/** DomainError not_found for an environment that existed when access to it was given. */
function deletedEnvironment(): DomainError {
  return new DomainError('not_found', 'the environment was deleted meanwhile');
}
