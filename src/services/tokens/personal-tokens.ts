import { DomainError } from '../../domain/errors/domain-error.ts';
import { tokensEndAtOf } from '../../domain/principal.ts';
import type { Database } from '../../store/database.ts';
import { notifyUsers } from '../../store/notify.ts';
import { listPersonalTokens, type PersonalTokenRecord, revokePersonalToken } from '../../store/personal-tokens.ts';
import { lockUser } from '../../store/users.ts';
import type { PersonAccess } from '../access/access.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { auditedFailure, instanceCall, successRecord } from '../audit/audited.ts';
import { checkUuid } from '../kernel/checks.ts';
import {
  auditedToken,
  auditInOrganizations,
  checkPersonalTokenInput,
  type CreatedPersonalToken,
  issuePersonalToken,
  type PersonalTokenInput,
} from './issue-personal-token.ts';
import { changeJudgedFirst } from '../change/change.ts';
import { checkLimit, decodeTimeCursor, encodeTimeCursor, type PageRequest } from '../kernel/page.ts';

export type { PersonalTokenRecord } from '../../store/personal-tokens.ts';
export type { CreatedPersonalToken, PersonalTokenInput } from './issue-personal-token.ts';

export interface PersonalTokenList {
  /** Newest first, revoked and expired ones too. */
  readonly personalTokens: readonly PersonalTokenRecord[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export interface PersonalTokensDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
}

const cursorOf = 'personal-tokens';

/** People's own tokens (docs/interface.md 4, "Further routes"): each person sees, makes and revokes only their own. */
export class PersonalTokens {
  readonly #deps: PersonalTokensDeps;

  constructor(deps: PersonalTokensDeps) {
    this.#deps = deps;
  }

  /** The caller's tokens. Throws DomainError invalid_input for a bad limit or cursor. */
  async list(access: PersonAccess<'personal_token.list'>, page: PageRequest = {}): Promise<PersonalTokenList> {
    const limit = checkLimit(page);
    const after = page.cursor === undefined ? null : decodeTimeCursor(cursorOf, page.cursor);
    // One more than asked for shows whether there is a next page.
    const wanted = { after, limit: limit === null ? null : limit + 1 };
    const found = await listPersonalTokens(this.#deps.database.pool, access.caller.principal.id, wanted);
    const personalTokens = limit === null ? found : found.slice(0, limit);
    const last = personalTokens.at(-1);
    const hasMore = last !== undefined && found.length > personalTokens.length;
    return { personalTokens, nextCursor: hasMore ? encodeTimeCursor(cursorOf, last) : null };
  }

  /**
   * Makes a token, which never outlives the one it is made with and ends with it by default. Throws
   * DomainError invalid_input naming the field, and quota_exceeded.
   */
  async create(
    access: PersonAccess<'personal_token.create'>,
    input: PersonalTokenInput,
  ): Promise<CreatedPersonalToken> {
    return auditedFailure(this.#deps.audit, instanceCall(access), async () => {
      checkPersonalTokenInput(input);
      const by = access.caller.principal;
      const userId = by.id;
      const notAfter = tokensEndAtOf(by);
      return changeJudgedFirst(this.#deps, access, {
        lock: async (tx) => void (await lockUser(tx, userId)),
        change: async (tx) => {
          const result = await issuePersonalToken(tx, { userId, by, input, notAfter });
          const audit = successRecord(instanceCall(access), auditedToken(result.record));
          if (result.record.creator !== null) await auditInOrganizations(tx, audit, userId);
          return { result, audit };
        },
      });
    });
  }

  /**
   * Revokes one of the caller's tokens, also the one this is asked with: it stops working from the next request on.
   * Revoking again changes nothing. Throws DomainError not_found, also for another user's token.
   */
  async revoke(access: PersonAccess<'personal_token.revoke'>, id: string): Promise<void> {
    await auditedFailure(this.#deps.audit, instanceCall(access), async (note) => {
      checkUuid('id', id);
      note({ personalTokenId: id });
      const userId = access.caller.principal.id;
      await changeJudgedFirst(this.#deps, access, {
        lock: async (tx) => void (await lockUser(tx, userId)),
        change: async (tx) => {
          const revoked = await revokePersonalToken(tx, userId, id);
          if (revoked === undefined) {
            throw new DomainError('not_found', `personal token ${id} does not exist, or is not yours`);
          }
          if (revoked.wasLive) await notifyUsers(tx, [userId]);
          const more = revoked.wasLive ? {} : { alreadyRevoked: true };
          const audit = successRecord(instanceCall(access), { personalTokenId: id, ...more });
          if (revoked.wasLive && revoked.creator !== null) await auditInOrganizations(tx, audit, userId);
          return { result: undefined, audit };
        },
      });
    });
  }
}
