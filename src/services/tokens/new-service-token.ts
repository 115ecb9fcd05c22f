import { randomUUID } from 'node:crypto';
import { invalidField } from '../../domain/errors/domain-error.ts';
import type { TokenPermission } from '../../domain/grants.ts';
import { tokensEndAtOf, type TokenScope } from '../../domain/principal.ts';
import { insertFederation } from '../../store/token-federations.ts';
import {
  findScopeFacts,
  insertServiceToken,
  type ScopeFacts,
  type ServiceTokenRecord,
} from '../../store/service-tokens.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { AuditTarget } from '../audit/audit-log.ts';
import { checkName, checkUuid } from '../kernel/checks.ts';
import { auditedFederation, checkFederation, type NewFederation, planFederation } from './new-federation.ts';
import { checkExpiry, type ExpiryInput, expiryOf } from './token-expiry.ts';
import { homeOf, type TokenAccess } from './token-home.ts';

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

/** With a federation, the token has no value. */
export interface NewTokenInput extends CreateServiceTokenInput {
  readonly federation?: NewFederation;
}

const scopes: readonly TokenScope[] = ['organization', 'project', 'environment'];
const permissions: readonly TokenPermission[] = ['read', 'read_write'];

/** The wanted token, with the ids of its scope resolved. */
type PlannedToken = Pick<
  ServiceTokenRecord,
  'id' | 'name' | 'scope' | 'projectId' | 'environmentId' | 'permission' | 'expiresAt'
>;

/** The credential of a new token: with the hash of its value, or of no value for a federated token. */
interface FirstCredential {
  readonly id: string;
  readonly tokenHash: Uint8Array;
}

/**
 * Inserts a service token, and what proves it if it is federated. Returns also what the audit says of it. Throws DomainError
 * invalid_input for ids or an expiry that do not fit, and what `planFederation` throws.
 */
export async function makeServiceToken(
  tx: Transaction,
  access: TokenAccess,
  input: NewTokenInput,
  credential: FirstCredential,
): Promise<{ readonly record: ServiceTokenRecord; readonly audited: AuditTarget }> {
  const { organizationId, caller } = access;
  const { type, id, name } = caller.principal;
  const planned = await plan(tx, access, input);
  const proof = input.federation && (await planFederation(tx, input.federation));
  const { expiresAt, ...fields } = planned;
  const createdAt = await insertServiceToken(tx, {
    ...fields,
    organizationId,
    creator: { type, id, name },
    credential: { ...credential, expiresAt },
  });
  const ids = { credentialId: credential.id, serviceTokenId: planned.id };
  const federation = proof === undefined ? null : await insertFederation(tx, ids, proof);
  const created = { createdBy: id, createdByType: type, createdByName: name, createdAt };
  const unused = { cluster: null, holder: null, revokedAt: null, suspendedAt: null, lastUsedAt: null };
  const audited = { ...auditedFields(planned), ...(proof === undefined ? {} : auditedFederation(proof)) };
  return { record: { ...planned, ...created, ...unused, federation }, audited };
}

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

/** Throws DomainError invalid_input for what is wrong whatever exists. */
export function checkNewToken(input: NewTokenInput): void {
  const { name, scope, permission, federation } = input;
  checkName('name', name);
  if (!scopes.includes(scope)) throw invalidField('scope', `must be one of ${scopes.join(', ')}`);
  if (!permissions.includes(permission)) throw invalidField('permission', `must be one of ${permissions.join(', ')}`);
  checkScopeId(input, 'projectId');
  checkScopeId(input, 'environmentId');
  checkExpiry(input);
  if (federation !== undefined) checkFederation(federation);
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
