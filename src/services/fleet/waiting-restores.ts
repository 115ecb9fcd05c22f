import type { ReportedPlan, ReportedResource } from '../../domain/fleet.ts';
import { limits } from '../../domain/limits.ts';
import type { Database } from '../../store/database.ts';
import type { ReportedRange } from '../../store/sync-states.ts';
import * as store from '../../store/waiting-restores.ts';
import type { OrganizationAccess } from '../access/access.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { auditedTokenRead } from '../audit/audited.ts';
import { isUuid } from '../kernel/checks.ts';
import { badCursor, checkLimit, decodeCursor, encodeCursor, type PageRequest } from '../kernel/page.ts';
import { checkUids, checkWaitingPlan } from './report-checks.ts';
import { placeSeenBy } from './seen-place.ts';
import { reportedPageSize } from './sync-states.ts';

/** A plan that waits, as its caller may see it. */
export interface WaitingRestore extends Omit<store.WaitingRestoreRecord, 'namespace'> {
  /** Null if the caller may not see namespaces. */
  readonly namespace: string | null;
}

export interface WaitingRestoreList {
  /** By cluster, name and uid. */
  readonly restores: readonly WaitingRestore[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export interface WaitingRestoresDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
}

const listName = 'waiting-restores';
// Names of clusters and of Kubernetes have no other characters, and no more.
const nameForm = /^[\w.-]{0,253}$/;

/**
 * The SnapshotRestores whose plan waits for an approval (docs/interface.md 4.15). Only the leader of a cluster may report
 * and forget, for that cluster. Each method throws DomainError store_unavailable and overloaded, and
 * can be repeated.
 */
export class WaitingRestores {
  readonly #deps: WaitingRestoresDeps;

  constructor(deps: WaitingRestoresDeps) {
    this.#deps = deps;
  }

  /** Stores the newest plan of a SnapshotRestore, as `ResourceRestores` made it. Writes nothing if it is the same. */
  async report(cluster: string, plan: ReportedPlan): Promise<void> {
    checkWaitingPlan(cluster, plan);
    await store.reportWaitingRestore(this.#deps.database.pool, cluster, plan);
  }

  /** Drops the plans of SnapshotRestores that do not wait any more. */
  async forget(cluster: string, uids: readonly string[]): Promise<void> {
    checkUids(cluster, uids);
    await store.forgetWaitingRestores(this.#deps.database.pool, cluster, uids);
  }

  /** The SnapshotRestores of a cluster of which a plan is stored, by uid; the first `reportedPageSize` by default. */
  async reported(cluster: string, range: Partial<ReportedRange> = {}): Promise<readonly ReportedResource[]> {
    const { pool } = this.#deps.database;
    return store.listReportedRestores(pool, cluster, { after: null, limit: reportedPageSize, ...range });
  }

  /**
   * A page of the plans that wait in the environments of an organization that the caller sees; `limits.pageSize` by default.
   * Only a service token's call is audited. Throws DomainError invalid_input for a bad limit or cursor.
   */
  async list(access: OrganizationAccess<'fleet.list'>, request: PageRequest = {}): Promise<WaitingRestoreList> {
    return auditedTokenRead(this.#deps.audit, access, async (note) => {
      const { cursor } = request;
      const limit = checkLimit(request) ?? limits.pageSize;
      const after = cursor === undefined ? null : positionOf(cursor);
      const { pool } = this.#deps.database;
      const found = await store.listWaitingRestores(pool, placeSeenBy(access), { after, limit: limit + 1 });
      const restores = found.slice(0, limit);
      note({ restores: restores.length });
      const last = restores.at(-1);
      const showsNamespaces = access.allows('consumer.locate');
      return {
        restores: showsNamespaces ? restores : restores.map((restore) => ({ ...restore, namespace: null })),
        nextCursor:
          found.length > limit && last !== undefined
            ? encodeCursor(listName, [last.cluster, last.name, last.uid])
            : null,
      };
    });
  }
}

function positionOf(cursor: string): store.RestorePosition {
  const [cluster = '', name = '', uid = ''] = decodeCursor(listName, cursor, 3);
  if (![cluster, name].every((text) => nameForm.test(text)) || !isUuid(uid)) throw badCursor();
  return { cluster, name, uid };
}
