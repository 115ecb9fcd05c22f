import { randomUUID } from 'node:crypto';
import { generateToken, valuelessHash } from '../../crypto/token.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { limits } from '../../domain/limits.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import type { Database } from '../../store/database.ts';
import { reinstateKeylessToken } from '../../store/keyless-tokens.ts';
import { notifyServiceTokens } from '../../store/notify.ts';
import {
  findServiceToken,
  listServiceTokens,
  revokeServiceToken,
  rotateServiceToken,
  type ServiceTokenRecord,
} from '../../store/service-tokens.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { auditedFailure, auditedRead, successRecord } from '../audit/audited.ts';
import { checkUuid, checkWhole } from '../kernel/checks.ts';
import { makeChange, makeChangeOnce } from '../change/change.ts';
import { goneReplay, type IdempotencyRequest } from '../change/once.ts';
import { checkLimit, decodeTimeCursor, encodeTimeCursor, type PageRequest } from '../kernel/page.ts';
import {
  checkNewToken,
  type CreateServiceTokenInput,
  makeServiceToken,
  type NewTokenInput,
} from './new-service-token.ts';
import { absentToken, homeOf, type TokenAccess } from './token-home.ts';

export type { ServiceTokenRecord } from '../../store/service-tokens.ts';
export type { CreateServiceTokenInput, NewTokenInput } from './new-service-token.ts';
export type { TokenAccess } from './token-home.ts';

export interface RotateServiceTokenInput {
  /** How long the previous value stays valid, in whole seconds; default 0. */
  readonly overlapSeconds?: number;
}

export interface CreatedServiceToken {
  readonly record: ServiceTokenRecord;
  /** Shown this once: only its hash is kept. */
  readonly token: Plaintext;
}

/** A federated token, or the token that an earlier request under the same Idempotency-Key made, as it is now. */
export interface ValuelessServiceToken {
  readonly record: ServiceTokenRecord;
  readonly token: undefined;
  readonly isReplayed: boolean;
}

export interface ServiceTokenList {
  /** Newest first, revoked ones too. */
  readonly serviceTokens: readonly ServiceTokenRecord[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export interface ServiceTokensDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
}

/** Machines' access to an organization (docs/interface.md 4.4 and 4.8). Each call is audited as `[Service Token]`. */
export class ServiceTokens {
  readonly #deps: ServiceTokensDeps;

  constructor(deps: ServiceTokensDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a token, which never outlives the one that it is created with. Throws DomainError invalid_input naming the
   * field if scope, ids or expiry do not fit together.
   */
  async create(
    access: TokenAccess<'service_token.create'>,
    input: CreateServiceTokenInput,
  ): Promise<CreatedServiceToken> {
    const created = await this.createOnce(access, input, undefined);
    if (created.token === undefined) throw new Error('only a repeated request, and a federated token, have no value');
    return created;
  }

  /**
   * Like `create`, but a repetition makes no second token (`makeChangeOnce`), and cannot show the first one's value
   * again. With a federation, the token has no value: also throws what `planFederation` throws.
   */
  async createOnce(
    access: TokenAccess<'service_token.create'>,
    input: NewTokenInput,
    request: IdempotencyRequest | undefined,
  ): Promise<CreatedServiceToken | ValuelessServiceToken> {
    return auditedFailure(this.#deps.audit, access, async () => {
      checkNewToken(input);
      const { federation } = input;
      const credentialId = randomUUID();
      const { token, hash } = generateToken('service_token', credentialId);
      const credential = { id: credentialId, tokenHash: federation === undefined ? hash : valuelessHash() };
      const once = {
        request,
        keep: ({ id }: ServiceTokenRecord) => ({ id }),
        target: ({ id }: { readonly id: string }) => ({ serviceTokenId: id }),
        recall: ({ id }: { readonly id: string }) => this.#recall(access, id),
      };
      const { result: record, replayed: isReplayed } = await makeChangeOnce(this.#deps, access, once, async (tx) => {
        const made = await makeServiceToken(tx, access, input, credential);
        return { result: made.record, audit: successRecord(access, made.audited) };
      });
      return isReplayed || federation !== undefined ? { record, token: undefined, isReplayed } : { record, token };
    });
  }

  async #recall(access: TokenAccess, id: string): Promise<ServiceTokenRecord> {
    const record = await findServiceToken(this.#deps.database.pool, homeOf(access), id);
    if (record === undefined) throw goneReplay('service token');
    return record;
  }

  /** The organization's tokens. Throws DomainError invalid_input for a bad limit or cursor. */
  async list(access: TokenAccess<'service_token.list'>, page: PageRequest = {}): Promise<ServiceTokenList> {
    return auditedRead(this.#deps.audit, access, async (note) => {
      const limit = checkLimit(page);
      const after = page.cursor === undefined ? null : decodeTimeCursor('service-tokens', page.cursor);
      // One more than asked for shows whether there is a next page.
      const wanted = { after, limit: limit === null ? null : limit + 1 };
      const found = await listServiceTokens(this.#deps.database.pool, homeOf(access), wanted);
      const serviceTokens = limit === null ? found : found.slice(0, limit);
      note({ serviceTokens: serviceTokens.length });
      const last = serviceTokens.at(-1);
      const hasMore = last !== undefined && found.length > serviceTokens.length;
      return { serviceTokens, nextCursor: hasMore ? encodeTimeCursor('service-tokens', last) : null };
    });
  }

  /** One token of the organization. Throws DomainError not_found. */
  async get(access: TokenAccess<'service_token.list'>, id: string): Promise<ServiceTokenRecord> {
    return auditedRead(this.#deps.audit, access, async (note) => {
      checkUuid('id', id);
      note({ serviceTokenId: id });
      const token = await findServiceToken(this.#deps.database.pool, homeOf(access), id);
      if (token === undefined) throw absentToken(id);
      return token;
    });
  }

  /**
   * Gives a token a new value, shown this once; its id, scope, permission and expiry stay. The values before it end at
   * once or, with an overlap, after so many seconds (at most `limits.tokenOverlapSeconds`). Throws DomainError
   * not_found, and conflict for a token that is revoked, has expired, is keyless or is federated.
   */
  async rotate(
    access: TokenAccess<'service_token.rotate'>,
    id: string,
    { overlapSeconds = 0 }: RotateServiceTokenInput = {},
  ): Promise<CreatedServiceToken> {
    return auditedFailure(this.#deps.audit, access, async (note) => {
      checkUuid('id', id);
      note({ serviceTokenId: id });
      checkWhole('overlapSeconds', overlapSeconds, { min: 0, max: limits.tokenOverlapSeconds });
      const credentialId = randomUUID();
      const { token, hash: tokenHash } = generateToken('service_token', credentialId);
      const record = await makeChange(this.#deps, access, async (tx) => {
        const credential = { id: credentialId, tokenHash, overlapSeconds };
        const rotated = await rotateServiceToken(tx, homeOf(access), id, credential);
        if (rotated === undefined) throw absentToken(id);
        if (rotated.outcome !== 'rotated') throw endedToken(id, rotated.outcome);
        await notifyServiceTokens(tx, [{ organizationId: access.organizationId, serviceTokenId: id }]);
        const { record: result, serial } = rotated;
        return {
          result,
          audit: successRecord(access, { serviceTokenId: id, name: result.name, serial, overlapSeconds }),
        };
      });
      return { record, token };
    });
  }

  /**
   * Revokes a token: it stops working from the next request on, and a change it has under way is rolled back. The
   * record stays listed, and that of a keyless token keeps another from being made. Revoking again changes nothing.
   * Throws DomainError not_found.
   */
  async revoke(access: TokenAccess<'service_token.revoke'>, id: string): Promise<void> {
    await auditedFailure(this.#deps.audit, access, async (note) => {
      checkUuid('id', id);
      note({ serviceTokenId: id });
      await makeChange(this.#deps, access, async (tx) => {
        const revoked = await revokeServiceToken(tx, homeOf(access), id);
        if (revoked === undefined) throw absentToken(id);
        if (revoked.wasLive)
          await notifyServiceTokens(tx, [{ organizationId: access.organizationId, serviceTokenId: id }]);
        const more = revoked.wasLive ? {} : { alreadyRevoked: true };
        return { result: undefined, audit: successRecord(access, { serviceTokenId: id, ...more }) };
      });
    });
  }

  /**
   * Lifts the revocation of a keyless token: the SecretSyncs of its holder read again under their grants. Reinstating
   * one that is not revoked changes nothing. Throws DomainError not_found, and conflict for any other token, because a
   * value that became invalid stays invalid, and so does what proved a federated token.
   */
  async reinstate(access: TokenAccess<'service_token.reinstate'>, id: string): Promise<ServiceTokenRecord> {
    await auditedFailure(this.#deps.audit, access, async (note) => {
      checkUuid('id', id);
      note({ serviceTokenId: id });
      await makeChange(this.#deps, access, async (tx) => {
        const reinstated = await reinstateKeylessToken(tx, homeOf(access), id);
        if (reinstated === undefined) throw absentToken(id);
        if (reinstated.outcome === 'not_keyless') throw notKeyless(id);
        const isChanged = reinstated.outcome === 'reinstated';
        if (isChanged) await notifyServiceTokens(tx, [{ organizationId: access.organizationId, serviceTokenId: id }]);
        const more = isChanged ? {} : { alreadyLive: true };
        return {
          result: undefined,
          audit: successRecord(access, { serviceTokenId: id, ...reinstated.holder, ...more }),
        };
      });
    });
    const record = await findServiceToken(this.#deps.database.pool, homeOf(access), id);
    if (record === undefined) throw absentToken(id);
    return record;
  }
}

function endedToken(id: string, outcome: 'revoked' | 'expired' | 'keyless' | 'federated'): DomainError {
  return new DomainError('conflict', `service token ${id} ${cannotRotate[outcome]}`);
}

const cannotRotate = {
  keyless:
    'has no value, so there is nothing to rotate: the controller alone acts as it, for the SecretSyncs of its holder. To ' +
    'stop them, revoke it',
  federated:
    'is federated, so it has no value that could be rotated: each JWT of its issuer is a new one. For another issuer or ' +
    'other claims, create a new token and revoke this one',
  revoked: 'was revoked; create a new one instead',
  expired: 'has expired; create a new one instead',
} as const;

function notKeyless(id: string): DomainError {
  return new DomainError(
    'conflict',
    `service token ${id} is not keyless, so its revocation is permanent; create a new one instead`,
  );
}
