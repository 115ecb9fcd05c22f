import { limits } from '../../domain/limits.ts';
import { invalidField } from '../../domain/errors/domain-error.ts';
import type { ActorType } from '../../domain/principal.ts';
import { type AuditEntryRecord, listAuditEntries } from '../../store/audit.ts';
import type { Database } from '../../store/database.ts';
import type { InstanceAccess, OrganizationAccess } from '../access/access.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { type AuditedCall, auditedRead } from '../audit/audited.ts';
import { checkUuid } from '../kernel/checks.ts';
import { badCursor, checkLimit, decodeCursor, encodeCursor, type PageRequest } from '../kernel/page.ts';

export type { AuditEntryRecord } from '../../store/audit.ts';

/** Which entries are wanted: those that match all given fields. */
export interface AuditRequest extends PageRequest {
  /** An action, such as `secret.list`, or a prefix that ends with a dot, such as `secret.`. */
  readonly action?: string;
  /** The id of the actor. */
  readonly actor?: string;
  readonly actorType?: ActorType;
  /** Entries of this moment and later. */
  readonly since?: Date;
}

export interface AuditPage {
  /** Newest first. */
  readonly entries: readonly AuditEntryRecord[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export interface AuditEntriesDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
}

const actionPattern = /^[a-z_]+(?:\.[a-z_]*)?$/;
const maxActionLength = 64;

/** The audit of an organization or of the instance, for reading (docs/interface.md 6). Reading it is audited, too. */
export class AuditEntries {
  readonly #deps: AuditEntriesDeps;

  constructor(deps: AuditEntriesDeps) {
    this.#deps = deps;
  }

  /**
   * A page of the organization's entries: `limits.auditPageSize` by default, and never more than `limits.pageSize`.
   * Throws DomainError invalid_input for a bad filter, limit or cursor.
   */
  async list(access: OrganizationAccess<'audit.list'>, request: AuditRequest = {}): Promise<AuditPage> {
    return this.#read(access, request);
  }

  /** Like `list`, for the entries that belong to no organization. */
  async listInstance(access: InstanceAccess<'audit.list_instance'>, request: AuditRequest = {}): Promise<AuditPage> {
    const { caller, action } = access;
    return this.#read({ caller, action, organizationId: null, target: {} }, request);
  }

  async #read(call: AuditedCall, request: AuditRequest): Promise<AuditPage> {
    return auditedRead(this.#deps.audit, call, async (note) => {
      checkFilters(request);
      const limit = checkLimit(request) ?? limits.auditPageSize;
      const before = request.cursor === undefined ? null : entryBefore(request.cursor);
      const { action = null, actor = null, actorType = null, since = null } = request;
      // One more than asked for shows whether there is a next page.
      const found = await listAuditEntries(this.#deps.database.pool, call.organizationId, {
        action,
        actor,
        actorType,
        since,
        before,
        limit: limit + 1,
      });
      const entries = found.slice(0, limit);
      note({ entries: entries.length });
      const last = entries.at(-1);
      const hasMore = last !== undefined && found.length > entries.length;
      return { entries, nextCursor: hasMore ? encodeCursor('audit', [last.id]) : null };
    });
  }
}

function checkFilters({ action, actor, since }: AuditRequest): void {
  if (action !== undefined && (action.length > maxActionLength || !actionPattern.test(action))) {
    throw invalidField('action', 'must be an action such as secret.list, or a prefix such as secret.');
  }
  if (actor !== undefined) checkUuid('actor', actor);
  // What JavaScript takes for years beyond four digits, the database does not read.
  if (since !== undefined && !/^[0-9]{4}-/.test(timeText(since))) {
    throw invalidField('since', 'must be a time of the years 0000 to 9999');
  }
}

function timeText(time: Date): string {
  return Number.isNaN(time.getTime()) ? '' : time.toISOString();
}

function entryBefore(cursor: string): string {
  const [id = ''] = decodeCursor('audit', cursor, 1);
  // Within what the database counts to.
  if (!/^[1-9][0-9]{0,17}$/.test(id)) throw badCursor();
  return id;
}
