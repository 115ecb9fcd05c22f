import { DomainError } from '../../domain/errors/domain-error.ts';
import type { RevisionRef } from '../../store/revisions.ts';
import type { SecretSelection, StoredKey } from '../../store/secret-reads.ts';
import type { Note } from '../audit/audited.ts';
import { checkKeyPrefix, checkRevision } from '../kernel/checks.ts';
import { versionsDestroyed } from './destroyed-versions.ts';
import { absentSecrets } from './secret-plan.ts';

/** The revision that a secret is wanted at; default the newest. */
export type SecretMoment = Pick<SecretSelection, 'revision'>;

/** Checks what is wanted, and notes it for the audit. Throws DomainError invalid_input. */
export function noteSelection(note: Note, { prefix, revision }: SecretSelection): void {
  if (prefix !== undefined) {
    checkKeyPrefix('prefix', prefix);
    note({ prefix });
  }
  if (revision === undefined) return;
  checkRevision('revision', revision);
  note({ revision });
}

/** Returns what was found. Throws DomainError not_found for nothing, and version_destroyed for a destroyed value. */
export function present<Row extends StoredKey>(
  found: Row | 'no-key' | 'no-revision',
  key: string,
  at: SecretMoment,
): Row {
  if (found === 'no-revision') throw absentRevision(at.revision);
  if (found === 'no-key') throw absentSecrets([key]);
  if (found.isDestroyed === true) throw versionsDestroyed([{ key, version: found.version }]);
  return found;
}

/** DomainError not_found for a revision that the environment does not have. */
export function absentRevision(revision: RevisionRef | undefined): DomainError {
  const detail =
    revision === undefined ? 'the environment was deleted meanwhile' : `the environment has no revision ${revision}`;
  return new DomainError('not_found', detail);
}
