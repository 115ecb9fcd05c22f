import { limits } from '../../domain/limits.ts';
import type { Database } from '../../store/database.ts';
import { listRevisions, type RevisionRecord } from '../../store/revision-log.ts';
import { findRevision, type RevisionRef } from '../../store/revisions.ts';
import type { EnvironmentAccess } from '../access/access.ts';
import { shownActors } from '../access/shown-actors.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { auditedTokenRead } from '../audit/audited.ts';
import { checkRevision } from '../kernel/checks.ts';
import { badCursor, checkLimit, decodeCursor, encodeCursor, type PageRequest } from '../kernel/page.ts';
import { absentRevision } from '../secrets/secret-selection.ts';

export type { RevisionRecord } from '../../store/revision-log.ts';

export interface ChangesRequest extends PageRequest {
  /** Only what came after this revision; 0 is before the first. */
  readonly since?: RevisionRef;
}

export interface ChangeList {
  /** Newest first. */
  readonly changes: readonly RevisionRecord[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export interface ChangesDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
}

/** The history of a whole environment: who changed which keys, without values (docs/interface.md 4.10). */
export class Changes {
  readonly #deps: ChangesDeps;

  constructor(deps: ChangesDeps) {
    this.#deps = deps;
  }

  /**
   * A page of the changes of an environment: `limits.changePageSize` by default, and fewer if they changed many keys,
   * so that a history of large changes stays bounded. Only a service token's call is audited. Throws DomainError
   * not_found for an unknown revision, and invalid_input for a bad limit or cursor.
   */
  async list(access: EnvironmentAccess<'change.list'>, request: ChangesRequest = {}): Promise<ChangeList> {
    return auditedTokenRead(this.#deps.audit, access, async (note) => {
      const { pool } = this.#deps.database;
      const { since = 0 } = request;
      checkRevision('since', since);
      note({ since });
      const limit = checkLimit(request) ?? limits.changePageSize;
      const below = request.cursor === undefined ? null : revisionBelow(request.cursor);
      const from = since === 0 ? { revision: 0 } : await findRevision(pool, access.environmentId, since);
      if (from === undefined) throw absentRevision(since);
      const page = { above: from.revision, below, limit, keys: limits.changedKeysPerPage };
      const { revisions: changes, hasMore } = await listRevisions(pool, access.environmentId, page);
      note({ changes: changes.length });
      const last = changes.at(-1);
      return {
        changes: await shownActors(pool, access, changes),
        nextCursor: hasMore && last !== undefined ? encodeCursor('changes', [String(last.revision)]) : null,
      };
    });
  }
}

function revisionBelow(cursor: string): number {
  const [revision = ''] = decodeCursor('changes', cursor, 1);
  if (!/^[1-9][0-9]{0,9}$/.test(revision) || Number(revision) > 2 ** 31 - 1) throw badCursor();
  return Number(revision);
}
