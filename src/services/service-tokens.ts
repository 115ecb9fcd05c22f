import { randomUUID } from 'node:crypto';
import { generateToken } from '../crypto/token.ts';
import { DomainError, invalidField } from '../domain/domain-error.ts';
import { limits } from '../domain/limits.ts';
import type { Plaintext } from '../domain/plaintext.ts';
import type { TokenPermission, TokenScope } from '../domain/principal.ts';
import type { Database } from '../store/database.ts';
import { notifyServiceToken } from '../store/notify.ts';
import {
  findScopeFacts,
  findServiceToken,
  insertServiceToken,
  listServiceTokens,
  revokeServiceToken,
  type ScopeFacts,
  type ServiceTokenPage,
  type ServiceTokenRecord,
} from '../store/service-tokens.ts';
import type { Transaction } from '../store/transaction.ts';
import type { OrganizationAccess } from './access.ts';
import type { AuditLog, AuditTarget } from './audit-log.ts';
import { auditedFailure, auditedRead, successRecord } from './audited.ts';
import { checkName, checkUuid, checkWhole, isUuid } from './checks.ts';
import { mutate } from './mutation.ts';
import { badCursor, checkLimit, decodeCursor, encodeCursor, type PageRequest } from './page.ts';

export type { ServiceTokenRecord } from '../store/service-tokens.ts';

export interface CreateServiceTokenInput {
  readonly name: string;
  readonly scope: TokenScope;
  /** Needed for project scope; may stand beside the environment for environment scope. */
  readonly projectId?: string;
  /** Needed for environment scope. */
  readonly environmentId?: string;
  readonly permission: TokenPermission;
  /** Whole days, 1 to `limits.tokenLifetimeDays`. Without it and `expiresAt` the token does not expire. */
  readonly expiresInDays?: number;
  readonly expiresAt?: Date;
}

export interface CreatedServiceToken {
  readonly record: ServiceTokenRecord;
  /** Shown this once: only its hash is kept. */
  readonly token: Plaintext;
}

export interface ServiceTokenList {
  /** Newest first, revoked ones too. */
  readonly serviceTokens: readonly ServiceTokenRecord[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export interface ServiceTokensDeps {
  readonly database: Pick<Database, 'prisma' | 'pool'>;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
}

const scopes: readonly TokenScope[] = ['organization', 'project', 'environment'];
const permissions: readonly TokenPermission[] = ['read', 'read_write'];
const dayMs = 24 * 60 * 60 * 1000;

/** Machines' access to an organization (docs/interface.md 4.4 and 4.8). Each call is audited as `[Service Token]`. */
export class ServiceTokens {
  readonly #deps: ServiceTokensDeps;

  constructor(deps: ServiceTokensDeps) {
    this.#deps = deps;
  }

  /** Makes a token. Throws DomainError invalid_input naming the field where scope, ids or expiry do not fit together. */
  async create(
    access: OrganizationAccess<'service_token.create'>,
    input: CreateServiceTokenInput,
  ): Promise<CreatedServiceToken> {
    return auditedFailure(this.#deps.audit, access, async () => {
      checkInput(input);
      const { organizationId, caller } = access;
      const credentialId = randomUUID();
      const { token, hash: tokenHash } = generateToken('service_token', credentialId);
      const record = await mutate(this.#deps, access, async (tx) => {
        const fields = await plan(tx, organizationId, input);
        const { expiresAt, ...tokenFields } = fields;
        const { type, id, name } = caller.principal;
        const createdAt = await insertServiceToken(tx, {
          ...tokenFields,
          organizationId,
          creator: { type, id, name },
          credential: { id: credentialId, tokenHash, expiresAt },
        });
        const created = { createdBy: id, createdByType: type, createdByName: name, createdAt };
        const result = { ...fields, ...created, revokedAt: null, lastUsedAt: null };
        return { result, audit: successRecord(access, auditedFields(fields)) };
      });
      return { record, token };
    });
  }

  /** The organization's tokens. Throws DomainError invalid_input for a bad limit or cursor. */
  async list(access: OrganizationAccess<'service_token.list'>, page: PageRequest = {}): Promise<ServiceTokenList> {
    return auditedRead(this.#deps.audit, access, async (note) => {
      const limit = checkLimit(page);
      const after = page.cursor === undefined ? null : positionOf(page.cursor);
      // One more than asked for tells whether there is a next page.
      const wanted = { after, limit: limit === null ? null : limit + 1 };
      const found = await listServiceTokens(this.#deps.database.pool, access.organizationId, wanted);
      const serviceTokens = limit === null ? found : found.slice(0, limit);
      note({ serviceTokens: serviceTokens.length });
      const last = serviceTokens.at(-1);
      const hasMore = last !== undefined && found.length > serviceTokens.length;
      return { serviceTokens, nextCursor: hasMore ? cursorAfter(last) : null };
    });
  }

  /** One token of the organization. Throws DomainError not_found. */
  async get(access: OrganizationAccess<'service_token.list'>, id: string): Promise<ServiceTokenRecord> {
    return auditedRead(this.#deps.audit, access, async (note) => {
      checkUuid('id', id);
      note({ serviceTokenId: id });
      const token = await findServiceToken(this.#deps.database.pool, access.organizationId, id);
      if (token === undefined) throw absentToken(id);
      return token;
    });
  }

  /**
   * Revokes a token: it opens nothing from the next request on, and a change it has under way is rolled back. The
   * record stays listed. Revoking again changes nothing. Throws DomainError not_found.
   */
  async revoke(access: OrganizationAccess<'service_token.revoke'>, id: string): Promise<void> {
    await auditedFailure(this.#deps.audit, access, async (note) => {
      checkUuid('id', id);
      note({ serviceTokenId: id });
      await mutate(this.#deps, access, async (tx) => {
        const revoked = await revokeServiceToken(tx, access.organizationId, id);
        if (revoked === undefined) throw absentToken(id);
        if (revoked.wasLive) await notifyServiceToken(tx, id);
        const more = revoked.wasLive ? {} : { alreadyRevoked: true };
        return { result: undefined, audit: successRecord(access, { serviceTokenId: id, ...more }) };
      });
    });
  }
}

/** What a token is to be, once it is known what its scope's ids stand for. */
type PlannedToken = Pick<
  ServiceTokenRecord,
  'id' | 'name' | 'scope' | 'projectId' | 'environmentId' | 'permission' | 'expiresAt'
>;

async function plan(tx: Transaction, organizationId: string, input: CreateServiceTokenInput): Promise<PlannedToken> {
  const { name, scope, permission, projectId = null, environmentId = null } = input;
  const facts = await findScopeFacts(tx, organizationId, { projectId, environmentId });
  return {
    id: randomUUID(),
    name,
    scope,
    ...scopeIds(input, facts),
    permission,
    expiresAt: expiryOf(input, facts.now),
  };
}

function checkInput(input: CreateServiceTokenInput): void {
  const { name, scope, permission, expiresInDays, expiresAt } = input;
  checkName('name', name);
  if (!scopes.includes(scope)) throw invalidField('scope', `must be one of ${scopes.join(', ')}`);
  if (!permissions.includes(permission)) throw invalidField('permission', `must be one of ${permissions.join(', ')}`);
  checkScopeId(input, 'projectId');
  checkScopeId(input, 'environmentId');
  if (expiresInDays === undefined) return;
  if (expiresAt !== undefined) throw invalidField('expiresAt', 'must not stand beside expiresInDays; give one of them');
  checkWhole('expiresInDays', expiresInDays, { least: 1, most: limits.tokenLifetimeDays });
}

/** Whether each scope needs, may have or refuses each id. */
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

/** The ids that the scope is kept as: an environment brings its project along. */
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

/** When the token ends, judged by the database's clock, as its uses will be. */
function expiryOf({ expiresInDays, expiresAt }: CreateServiceTokenInput, now: Date): Date | null {
  if (expiresInDays !== undefined) return new Date(now.getTime() + expiresInDays * dayMs);
  if (expiresAt === undefined) return null;
  const lifetimeMs = expiresAt.getTime() - now.getTime();
  if (!(lifetimeMs > 0)) throw invalidField('expiresAt', 'must be a time that is still to come');
  if (lifetimeMs > limits.tokenLifetimeDays * dayMs) {
    throw invalidField('expiresAt', `must be at most ${limits.tokenLifetimeDays} days ahead`);
  }
  return expiresAt;
}

function auditedFields({ id, name, expiresAt, ...scoped }: PlannedToken): AuditTarget {
  return { serviceTokenId: id, name, ...scoped, expiresAt: expiresAt?.toISOString() ?? null };
}

function cursorAfter({ createdAt, id }: ServiceTokenRecord): string {
  return encodeCursor('service-tokens', [createdAt.toISOString(), id]);
}

function positionOf(cursor: string): NonNullable<ServiceTokenPage['after']> {
  const [time = '', id = ''] = decodeCursor('service-tokens', cursor, 2);
  const createdAt = new Date(time);
  // JavaScript writes years of other lengths too, which the database does not read.
  if (!/^[0-9]{4}-/.test(time)) throw badCursor();
  if (Number.isNaN(createdAt.getTime()) || createdAt.toISOString() !== time || !isUuid(id)) throw badCursor();
  return { createdAt, id };
}

function absentToken(id: string): DomainError {
  return new DomainError('not_found', `service token ${id} does not exist in this organization`);
}
