import { randomUUID } from 'node:crypto';
import { generateToken } from '../../crypto/token.ts';
import { DomainError, invalidField } from '../../domain/errors/domain-error.ts';
import { limits } from '../../domain/limits.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import type { TokenPermission } from '../../domain/grants.ts';
import { tokensEndAtOf, type TokenScope } from '../../domain/principal.ts';
import type { Database } from '../../store/database.ts';
import { reinstateKeylessToken } from '../../store/keyless-tokens.ts';
import { notifyServiceTokens } from '../../store/notify.ts';
import {
  findScopeFacts,
  findServiceToken,
  insertServiceToken,
  listServiceTokens,
  revokeServiceToken,
  rotateServiceToken,
  type ScopeFacts,
  type ServiceTokenRecord,
  type TokenHome,
} from '../../store/service-tokens.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { ServiceTokenAction } from '../../domain/policy.ts';
import type { OrganizationAccess, ProjectAccess } from '../access/access.ts';
import type { AuditLog, AuditTarget } from '../audit/audit-log.ts';
import { auditedFailure, auditedRead, successRecord } from '../audit/audited.ts';
import { checkName, checkUuid, checkWhole } from '../kernel/checks.ts';
import { makeChange, makeChangeOnce } from '../change/change.ts';
import { goneReplay, type IdempotencyRequest } from '../change/once.ts';
import { checkLimit, decodeTimeCursor, encodeTimeCursor, type PageRequest } from '../kernel/page.ts';
import { checkExpiry, type ExpiryInput, expiryOf } from './token-expiry.ts';

export type { ServiceTokenRecord } from '../../store/service-tokens.ts';

/** Without an expiry the token ends with the one that it is created with, if that ends. */
export interface CreateServiceTokenInput extends ExpiryInput {
  readonly name: string;
  readonly scope: TokenScope;
  /** Required for project scope; optional for environment scope. */
  readonly projectId?: string;
  /** Required for environment scope. */
  readonly environmentId?: string;
  readonly permission: TokenPermission;
}

export interface RotateServiceTokenInput {
  /** How long the previous value stays valid, in whole seconds; default 0. */
  readonly overlapSeconds?: number;
}

export interface CreatedServiceToken {
  readonly record: ServiceTokenRecord;
  /** Shown this once: only its hash is kept. */
  readonly token: Plaintext;
}

/** The token that an earlier request under the same Idempotency-Key made, as it is now. */
export interface ReplayedServiceToken {
  readonly record: ServiceTokenRecord;
  readonly token: undefined;
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

/** Access to the tokens of an organization, or to those for one of its projects and its environments. */
export type TokenAccess<A extends ServiceTokenAction = ServiceTokenAction> = OrganizationAccess<A> | ProjectAccess<A>;

const scopes: readonly TokenScope[] = ['organization', 'project', 'environment'];
const permissions: readonly TokenPermission[] = ['read', 'read_write'];

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
    if (created.token === undefined) throw new Error('only a request with a key can be repeated');
    return created;
  }

  /**
   * Like `create`, but a repetition makes no second token (`makeChangeOnce`), and cannot show the first one's value
   * again.
   */
  async createOnce(
    access: TokenAccess<'service_token.create'>,
    input: CreateServiceTokenInput,
    request: IdempotencyRequest | undefined,
  ): Promise<CreatedServiceToken | ReplayedServiceToken> {
    return auditedFailure(this.#deps.audit, access, async () => {
      checkInput(input);
      const credentialId = randomUUID();
      const { token, hash: tokenHash } = generateToken('service_token', credentialId);
      const once = {
        request,
        keep: ({ id }: ServiceTokenRecord) => ({ id }),
        target: ({ id }: { readonly id: string }) => ({ serviceTokenId: id }),
        recall: ({ id }: { readonly id: string }) => this.#recall(access, id),
      };
      const outcome = await makeChangeOnce(this.#deps, access, once, async (tx) => {
        const fields = await plan(tx, access, input);
        const record = await insert(tx, access, { fields, credential: { id: credentialId, tokenHash } });
        return { result: record, audit: successRecord(access, auditedFields(fields)) };
      });
      return { record: outcome.result, token: outcome.replayed ? undefined : token };
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
   * not_found, and conflict for a token that is revoked, has expired or is keyless.
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
   * one that is not revoked changes nothing. Throws DomainError not_found, and conflict for a token that has a value,
   * because a value that became invalid stays invalid.
   */
  async reinstate(access: TokenAccess<'service_token.reinstate'>, id: string): Promise<ServiceTokenRecord> {
    await auditedFailure(this.#deps.audit, access, async (note) => {
      checkUuid('id', id);
      note({ serviceTokenId: id });
      await makeChange(this.#deps, access, async (tx) => {
        const reinstated = await reinstateKeylessToken(tx, homeOf(access), id);
        if (reinstated === undefined) throw absentToken(id);
        if (reinstated.outcome === 'not_keyless') throw tokenWithValue(id);
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

/** The wanted token, with the ids of its scope resolved. */
type PlannedToken = Pick<
  ServiceTokenRecord,
  'id' | 'name' | 'scope' | 'projectId' | 'environmentId' | 'permission' | 'expiresAt'
>;

async function plan(tx: Transaction, access: TokenAccess, input: CreateServiceTokenInput): Promise<PlannedToken> {
  const { organizationId, caller } = access;
  const { name, scope, permission, projectId = null, environmentId = null } = input;
  const facts = await findScopeFacts(tx, organizationId, { projectId, environmentId });
  checkHome(access, facts, input);
  const ids = scopeIds(input, facts);
  return {
    id: randomUUID(),
    name,
    scope,
    ...ids,
    permission,
    expiresAt: expiryOf(input, { now: facts.now, notAfter: tokensEndAtOf(caller.principal) }),
  };
}

async function insert(
  tx: Transaction,
  { organizationId, caller }: TokenAccess,
  { fields, credential }: { readonly fields: PlannedToken; readonly credential: { id: string; tokenHash: Uint8Array } },
): Promise<ServiceTokenRecord> {
  const { type, id, name } = caller.principal;
  const { expiresAt, ...tokenFields } = fields;
  const createdAt = await insertServiceToken(tx, {
    ...tokenFields,
    organizationId,
    creator: { type, id, name },
    credential: { ...credential, expiresAt },
  });
  const created = { createdBy: id, createdByType: type, createdByName: name, createdAt };
  return { ...fields, ...created, cluster: null, holder: null, revokedAt: null, suspendedAt: null, lastUsedAt: null };
}

function homeOf(access: TokenAccess): TokenHome {
  return { organizationId: access.organizationId, projectId: 'projectId' in access ? access.projectId : null };
}

/**
 * Throws DomainError invalid_input for a scope that is not within the project of the access, with one text for what is
 * elsewhere and for what does not exist.
 */
function checkHome(access: TokenAccess, facts: ScopeFacts, input: CreateServiceTokenInput): void {
  const home = homeOf(access);
  const { scope, projectId } = input;
  if (home.projectId === null) return;
  if (scope === 'organization') throw invalidField('scope', 'must be project or environment, for a token of a project');
  if (projectId !== undefined && projectId !== home.projectId) {
    throw invalidField('projectId', 'is not the project of the request');
  }
  if (scope === 'environment' && facts.projectOfEnvironment !== home.projectId) {
    throw invalidField('environmentId', 'is no environment of the project of the request');
  }
}

function checkInput(input: CreateServiceTokenInput): void {
  const { name, scope, permission } = input;
  checkName('name', name);
  if (!scopes.includes(scope)) throw invalidField('scope', `must be one of ${scopes.join(', ')}`);
  if (!permissions.includes(permission)) throw invalidField('permission', `must be one of ${permissions.join(', ')}`);
  checkScopeId(input, 'projectId');
  checkScopeId(input, 'environmentId');
  checkExpiry(input);
}

/** Whether each id is required, optional or refused in each scope. */
const scopeIdRules = {
  organization: { projectId: 'refused', environmentId: 'refused' },
  project: { projectId: 'needed', environmentId: 'refused' },
  environment: { projectId: 'allowed', environmentId: 'needed' },
} as const;

function checkScopeId(input: CreateServiceTokenInput, field: 'projectId' | 'environmentId'): void {
  const id = input[field];
  const rule = scopeIdRules[input.scope][field];
  if (id === undefined && rule === 'needed') throw invalidField(field, `is required for ${input.scope} scope`);
  if (id === undefined) return;
  if (rule === 'refused') throw invalidField(field, `does not fit ${input.scope} scope; leave it out`);
  checkUuid(field, id);
}

/** The ids that are stored for the scope: an environment implies its project. */
function scopeIds(
  input: CreateServiceTokenInput,
  { projectExists, projectOfEnvironment }: ScopeFacts,
): { readonly projectId: string | null; readonly environmentId: string | null } {
  const { scope, projectId = null, environmentId = null } = input;
  if (scope === 'environment') {
    if (projectOfEnvironment === null) throw invalidField('environmentId', 'is no environment of this organization');
    if (projectId !== null && projectId !== projectOfEnvironment) {
      throw invalidField('projectId', 'is not the project of this environment');
    }
    return { projectId: projectOfEnvironment, environmentId };
  }
  if (scope === 'project' && !projectExists) throw invalidField('projectId', 'is no project of this organization');
  return { projectId, environmentId: null };
}

function auditedFields({ id, name, expiresAt, ...scoped }: PlannedToken): AuditTarget {
  return { serviceTokenId: id, name, ...scoped, expiresAt: expiresAt?.toISOString() ?? null };
}

function absentToken(id: string): DomainError {
  return new DomainError('not_found', `service token ${id} does not exist here`);
}

function endedToken(id: string, outcome: 'revoked' | 'expired' | 'keyless'): DomainError {
  if (outcome === 'keyless') {
    return new DomainError(
      'conflict',
      `service token ${id} has no value, so there is nothing to rotate: the controller alone acts as it, for the ` +
        `SecretSyncs of its holder. To stop them, revoke it`,
    );
  }
  const state = outcome === 'revoked' ? 'was revoked' : 'has expired';
  return new DomainError('conflict', `service token ${id} ${state}; create a new one instead`);
}

function tokenWithValue(id: string): DomainError {
  return new DomainError(
    'conflict',
    `service token ${id} has a value, so its revocation is permanent; create a new one instead`,
  );
}
