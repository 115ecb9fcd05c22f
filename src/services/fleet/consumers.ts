import { limits } from '../../domain/limits.ts';
import type { Health } from '../../domain/sync-health.ts';
import {
  type ConsumedPlace,
  type ConsumerPosition,
  type ConsumerRecord,
  listConsumers,
} from '../../store/consumers.ts';
import type { Database } from '../../store/database.ts';
import type { EnvironmentAccess, OrganizationAccess } from '../access/access.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { auditedTokenRead } from '../audit/audited.ts';
import { placeSeenBy } from './seen-place.ts';
import { isUuid } from '../kernel/checks.ts';
import { badCursor, checkLimit, decodeCursor, encodeCursor, type PageRequest } from '../kernel/page.ts';

export interface ConsumersRequest extends PageRequest {
  /** Only those of this cluster, of this health, and with this reason. */
  readonly cluster?: string;
  readonly health?: Health;
  readonly reason?: string;
}

/** A consumer as its caller may see it. */
export interface Consumer extends Omit<ConsumerRecord, 'namespace'> {
  /** Null if the caller may not see namespaces. */
  readonly namespace: string | null;
}

export interface ConsumerList {
  /** By cluster, name, uid and source. */
  readonly consumers: readonly Consumer[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export interface ConsumersDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
}

/** Which SecretSyncs read an environment, as their controllers reported it (docs/interface.md 4.15). */
export class Consumers {
  readonly #deps: ConsumersDeps;

  constructor(deps: ConsumersDeps) {
    this.#deps = deps;
  }

  /**
   * A page of the sources of SecretSyncs that read an environment; `limits.pageSize` by default. Only a service token's
   * call is audited. Throws DomainError invalid_input for a bad limit or cursor.
   */
  async list(access: EnvironmentAccess<'consumer.list'>, request: ConsumersRequest = {}): Promise<ConsumerList> {
    return this.#list(access, { environmentId: access.environmentId }, request);
  }

  /**
   * The same of all environments of an organization that the caller sees: those in the scope of a service token, those in
   * which a user has a role, and deleted ones only for callers who may list these.
   */
  async listFleet(access: OrganizationAccess<'fleet.list'>, request: ConsumersRequest = {}): Promise<ConsumerList> {
    return this.#list(access, placeSeenBy(access), request);
  }

  async #list(
    access: EnvironmentAccess<'consumer.list'> | OrganizationAccess<'fleet.list'>,
    place: ConsumedPlace,
    request: ConsumersRequest,
  ): Promise<ConsumerList> {
    return auditedTokenRead(this.#deps.audit, access, async (note) => {
      const { cluster = null, health = null, reason = null, cursor } = request;
      const limit = checkLimit(request) ?? limits.pageSize;
      const after = cursor === undefined ? null : positionOf(cursor);
      const page = { cluster, health, reason, after, limit: limit + 1 };
      const found = await listConsumers(this.#deps.database.pool, place, page);
      const consumers = found.slice(0, limit);
      note({ consumers: consumers.length });
      const last = consumers.at(-1);
      const showsNamespaces = access.allows('consumer.locate');
      return {
        consumers: showsNamespaces ? consumers : consumers.map((consumer) => ({ ...consumer, namespace: null })),
        nextCursor: found.length > limit && last !== undefined ? cursorOf(last) : null,
      };
    });
  }
}

const listName = 'consumers';
// Names of clusters and of Kubernetes have no other characters, and no more.
const nameForm = /^[\w.-]{0,253}$/;

function cursorOf({ cluster, name, uid, source }: ConsumerPosition): string {
  return encodeCursor(listName, [cluster, name, uid, source]);
}

function positionOf(cursor: string): ConsumerPosition {
  const [cluster = '', name = '', uid = '', source = ''] = decodeCursor(listName, cursor, 4);
  if (![cluster, name, source].every((text) => nameForm.test(text)) || !isUuid(uid)) throw badCursor();
  return { cluster, name, uid, source };
}
