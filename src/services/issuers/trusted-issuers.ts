import { randomUUID } from 'node:crypto';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { limits } from '../../domain/limits.ts';
import { counted } from '../../lib/counted.ts';
import { appendAudits } from '../../store/audit.ts';
import type { Database } from '../../store/database.ts';
import type { Transaction } from '../../store/transaction.ts';
import {
  countNamedIssuers,
  deleteTrustedIssuer,
  disableTrustedIssuer,
  findTrustedIssuer,
  insertTrustedIssuer,
  listConcernedOrganizations,
  listNamedIssuers,
  listTrustedIssuers,
  lockTrustedIssuer,
  type NamedIssuerRecord,
  type TrustedIssuerContent,
  type TrustedIssuerRecord,
  updateTrustedIssuer,
} from '../../store/trusted-issuers.ts';
import type { InstanceAccess, OrganizationAccess } from '../access/access.ts';
import { type AuditLog, auditRecord } from '../audit/audit-log.ts';
import { auditedFailure, instanceCall, successRecord } from '../audit/audited.ts';
import { makeChange } from '../change/change.ts';
import { checkClusterName, checkVersion } from '../kernel/checks.ts';
import { endIssuerTokens } from './end-issuer-tokens.ts';
import {
  issuerChange,
  issuerContent,
  refusePrivateAddress,
  type TrustedIssuerInput,
} from '../kernel/issuer-content.ts';

export type { NamedIssuerRecord, TrustedIssuerRecord } from '../../store/trusted-issuers.ts';

export interface SetTrustedIssuer extends TrustedIssuerInput {
  /** The version that the issuer must be at; 0 requires that there is none. */
  readonly expectedVersion?: number | undefined;
}

export interface DeleteTrustedIssuer {
  /** Whether the tokens that the issuer proves are revoked. Without it, an issuer in use stays. */
  readonly force?: boolean | undefined;
  readonly expectedVersion?: number | undefined;
}

export interface TrustedIssuersDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
  /** Whether keys may be fetched from private addresses too; false by default. */
  readonly allowsPrivateUrls?: boolean | undefined;
}

/** The issuers whose JWTs prove service tokens (docs/federation.md). Instance admins manage them. */
export class TrustedIssuers {
  readonly #deps: TrustedIssuersDeps;

  constructor(deps: TrustedIssuersDeps) {
    this.#deps = deps;
  }

  /** All issuers by name, also those that clusters report. */
  async list(_access: InstanceAccess<'trusted_issuer.list_all'>): Promise<readonly TrustedIssuerRecord[]> {
    return listTrustedIssuers(this.#deps.database.pool);
  }

  /** One issuer. Throws DomainError not_found. */
  async get(_access: InstanceAccess<'trusted_issuer.list_all'>, name: string): Promise<TrustedIssuerRecord> {
    checkClusterName('name', name);
    const found = await findTrustedIssuer(this.#deps.database.pool, name);
    if (found === undefined) throw absentIssuer(name);
    return found;
  }

  /** The issuers that tokens of an organization can name, by name: for its admins, without keys and addresses. */
  async names(_access: OrganizationAccess<'trusted_issuer.list'>): Promise<readonly NamedIssuerRecord[]> {
    return listNamedIssuers(this.#deps.database.pool);
  }

  /**
   * Sets what an issuer is, or adds it, and enables it. If other JWTs may prove its tokens from now on, it gets a new
   * generation, and each organization with tokens of it an audit entry. Throws DomainError invalid_input,
   * version_mismatch, quota_exceeded, and conflict for an issuer that its cluster reports.
   */
  async set(
    access: InstanceAccess<'trusted_issuer.set'>,
    name: string,
    { expectedVersion, ...input }: SetTrustedIssuer,
  ): Promise<TrustedIssuerRecord> {
    return auditedFailure(this.#deps.audit, instanceCall(access), async (note) => {
      checkClusterName('name', name);
      note({ issuer: name });
      if (expectedVersion !== undefined) checkVersion('expectedVersion', expectedVersion, 0);
      const content = issuerContent(input);
      if (this.#deps.allowsPrivateUrls !== true) refusePrivateAddress(content);
      return makeChange(this.#deps, access, async (tx) => {
        const before = await lockTrustedIssuer(tx, name);
        checkExpected(name, before, expectedVersion);
        const changed = before === undefined ? await add(tx, name, content) : await change(tx, access, before, content);
        const result = await lockTrustedIssuer(tx, name);
        if (result === undefined) throw new Error('an issuer that was set does not exist');
        const { preset, generation, version } = result;
        const audited = { issuer: name, preset, generation, version, changed };
        return { result, audit: successRecord(instanceCall(access), audited) };
      });
    });
  }

  /**
   * Removes an issuer. With `force`, its tokens are revoked: it is disabled first, so that a call that was interrupted can
   * be repeated. Throws DomainError not_found, version_mismatch, and conflict for an issuer in use without `force`, or for
   * one that its cluster reports.
   */
  async delete(
    access: InstanceAccess<'trusted_issuer.delete'>,
    name: string,
    { force = false, expectedVersion }: DeleteTrustedIssuer = {},
  ): Promise<void> {
    await auditedFailure(this.#deps.audit, instanceCall(access), async (note) => {
      checkClusterName('name', name);
      note({ issuer: name, force });
      if (expectedVersion !== undefined) checkVersion('expectedVersion', expectedVersion);
      const issuer = await makeChange(this.#deps, access, async (tx) => {
        const result = await lockTrustedIssuer(tx, name);
        if (result === undefined) throw absentIssuer(name);
        checkExpected(name, result, expectedVersion);
        const { generation, tokens, organizations } = result;
        if (tokens > 0 && !force) throw issuerInUse(result);
        await (tokens > 0 ? disableTrustedIssuer(tx, result) : deleteTrustedIssuer(tx, result));
        const audited = { issuer: name, generation, force, tokens, organizations };
        return { result, audit: successRecord(instanceCall(access), audited) };
      });
      if (issuer.tokens === 0) return;
      await endIssuerTokens(this.#deps, access, issuer);
      // The right was judged when the issuer was disabled.
      await makeChange(this.#deps, access, async (tx) => {
        const disabled = await lockTrustedIssuer(tx, name);
        if (disabled?.id === issuer.id) await deleteTrustedIssuer(tx, issuer);
        return { result: undefined, audit: null };
      });
    });
  }
}

/** Returns the fields that it sets. */
async function add(tx: Transaction, name: string, content: TrustedIssuerContent): Promise<readonly string[]> {
  if ((await countNamedIssuers(tx)) >= limits.trustedIssuers) {
    throw new DomainError(
      'quota_exceeded',
      `the server has ${limits.trustedIssuers} trusted issuers, the most there can be; delete one that is not used`,
    );
  }
  await insertTrustedIssuer(tx, { id: randomUUID(), name, cluster: null }, content);
  return Object.entries(content).flatMap(([field, value]) => (value === null ? [] : [field]));
}

/** Returns the fields that it changed. */
async function change(
  tx: Transaction,
  access: InstanceAccess<'trusted_issuer.set'>,
  before: TrustedIssuerRecord,
  content: TrustedIssuerContent,
): Promise<readonly string[]> {
  const isDisabled = before.disabledAt !== null;
  const { changed, isNewGeneration, replacesKeys } = issuerChange(before, content);
  if (changed.length === 0 && !isDisabled) return changed;
  // Those of a backup may have been withdrawn since.
  const isFetchedAgain = isDisabled && content.jwksUrl !== null;
  await updateTrustedIssuer(tx, before, content, {
    isNewGeneration,
    replacesKeys: replacesKeys || isFetchedAgain,
  });
  if (isNewGeneration) await recordNewGeneration(tx, access, before);
  return isDisabled ? [...changed, 'enabled'] : changed;
}

/** Records in the audit of each organization with tokens of an issuer that the issuer has a new generation. */
async function recordNewGeneration(
  tx: Transaction,
  { caller, action }: InstanceAccess<'trusted_issuer.set'>,
  { id, name, generation }: TrustedIssuerRecord,
): Promise<void> {
  const concerned = await listConcernedOrganizations(tx, id);
  await appendAudits(
    tx,
    concerned.map(({ organizationId, tokens }) =>
      auditRecord(caller, { organizationId, action, target: { issuer: name, generation: generation + 1, tokens } }),
    ),
  );
}

/** Throws DomainError conflict for an issuer that its cluster reports, and version_mismatch. */
function checkExpected(name: string, issuer: TrustedIssuerRecord | undefined, expected: number | undefined): void {
  if (issuer !== undefined && issuer.cluster !== null) {
    throw new DomainError(
      'conflict',
      `${name} is the issuer of a cluster: a home cluster reports it, and \`keyframe cluster update\` changes that of a remote one; choose another name for another issuer`,
    );
  }
  const version = issuer?.version ?? 0;
  if (expected === undefined || expected === version) return;
  throw new DomainError(
    'version_mismatch',
    issuer === undefined
      ? `trusted issuer ${name} does not exist; to add it, repeat the change with expectedVersion 0`
      : `trusted issuer ${name} is at version ${version}; read it, and repeat the change with that version`,
  );
}

function absentIssuer(name: string): DomainError {
  return new DomainError('not_found', `trusted issuer ${name} does not exist`);
}

function issuerInUse({ name, tokens, organizations }: TrustedIssuerRecord): DomainError {
  const [things, places] = [counted(tokens, 'service token'), counted(organizations, 'organization')];
  return new DomainError(
    'conflict',
    `trusted issuer ${name} proves ${things} in ${places}; to revoke them with it, run \`keyframe issuer delete ${name} --force\``,
  );
}
