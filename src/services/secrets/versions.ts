import type { Keyring } from '../../crypto/keyring.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import { recordedActor } from '../../domain/principal.ts';
import type { Database } from '../../store/database.ts';
import { type Deletion, findVersion, listVersions, notDestroyed, type VersionRecord } from '../../store/versions.ts';
import type { EnvironmentAccess } from '../access/access.ts';
import { shownActors } from '../access/shown-actors.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { auditedFailure, auditedRead } from '../audit/audited.ts';
import { checkComment, checkKey, checkUuid, checkVersion } from '../kernel/checks.ts';
import { versionsDestroyed } from './destroyed-versions.ts';
import { goneReplay, type IdempotencyRequest } from '../change/once.ts';
import { badCursor, checkLimit, decodeCursor, encodeCursor, type PageRequest } from '../kernel/page.ts';
import { absentSecrets, type WantedChange } from './secret-plan.ts';
import type { SecretWriter, WrittenSecrets } from './secret-writer.ts';

export type { VersionRecord } from '../../store/versions.ts';

export interface VersionList extends Deletion {
  /** Newest first. */
  readonly versions: readonly VersionRecord[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export interface VersionValue extends VersionRecord {
  readonly value: Plaintext;
}

export interface RollbackInput {
  readonly targetVersion: number;
  /** Also restores the key if it is deleted. */
  readonly undelete?: boolean;
  readonly comment?: string;
  /** The version that the key must be at; 0 for a deleted one. */
  readonly expectedVersion?: number;
  /** The id of the revision that the environment must be at. */
  readonly expectedRevision?: string;
  readonly idempotency?: IdempotencyRequest | undefined;
}

/** The version that a rollback made, and its revision. */
export interface RollbackAnswer extends VersionRecord {
  readonly revision: number;
  readonly revisionId: string;
  /** Set if an earlier request under the same Idempotency-Key made them. */
  readonly replayed?: true;
}

/** What is kept of a rollback under an Idempotency-Key. */
type KeptRollback = Pick<RollbackAnswer, 'version' | 'revision' | 'revisionId'>;

export interface VersionsDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly keyring: Pick<Keyring, 'opener'>;
  readonly writer: Pick<SecretWriter, 'writeOnce'>;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
}

/** The history of a secret (docs/interface.md 4.6 and 4.7). Each call is audited. */
export class Versions {
  readonly #deps: VersionsDeps;

  constructor(deps: VersionsDeps) {
    this.#deps = deps;
  }

  /**
   * The versions of a key without their values, also of a deleted one. Throws DomainError not_found for a key that was
   * never written, and invalid_input for a bad limit or cursor.
   */
  async list(access: EnvironmentAccess<'version.list'>, key: string, page: PageRequest = {}): Promise<VersionList> {
    return auditedRead(this.#deps.audit, access, async (note) => {
      checkKey(key);
      note({ key });
      const limit = checkLimit(page);
      const below = page.cursor === undefined ? null : versionBelow(page.cursor);
      // One more than asked for shows whether there is a next page.
      const wanted = { below, limit: limit === null ? null : limit + 1 };
      const found = await listVersions(this.#deps.database.pool, access.environmentId, key, wanted);
      if (found === undefined) throw absentSecrets([key]);
      const versions = limit === null ? found.versions : found.versions.slice(0, limit);
      const last = versions.at(-1);
      const hasMore = last !== undefined && found.versions.length > versions.length;
      const { pool } = this.#deps.database;
      const shown = await shownActors(pool, access, versions);
      const [deletion = found.deletion] = await shownActors(pool, access, [found.deletion]);
      return {
        ...deletion,
        versions: shown,
        nextCursor: hasMore ? encodeCursor('versions', [String(last.version)]) : null,
      };
    });
  }

  /**
   * One version with its value, also of a deleted key. Throws DomainError not_found if the key was never written or
   * has no such version, version_destroyed if its value was erased, and key_unavailable.
   */
  async get(access: EnvironmentAccess<'version.read'>, key: string, version: number): Promise<VersionValue> {
    return auditedRead(this.#deps.audit, access, async (note) => {
      checkKey(key);
      checkVersion('version', version);
      note({ key, version });
      const { organizationId, projectId, environmentId } = access;
      const found = await findVersion(this.#deps.database.pool, environmentId, key, version);
      if (found === 'no-key') throw absentSecrets([key]);
      if (found === 'no-version') throw new DomainError('not_found', `secret ${key} has no version ${version}`);
      const { secretId, ciphertext, dataKeyId, ...record } = found;
      if (record.destroyedAt !== null) throw versionsDestroyed([{ key, version }]);
      const opener = await this.#deps.keyring.opener([dataKeyId]);
      const binding = { organizationId, projectId, environmentId, secretId };
      const [shown = record] = await shownActors(this.#deps.database.pool, access, [record]);
      return { ...shown, value: opener.open(binding, { ciphertext, dataKeyId }) };
    });
  }

  /**
   * Makes a new version with the target version's value: nothing is decrypted. Throws DomainError not_found for a key
   * that was never written or has no such version, secret_deleted for a deleted key without `undelete`,
   * version_mismatch if key or environment is not as expected, version_destroyed, quota_exceeded and what `SecretWriter.writeOnce` throws.
   */
  async rollback(
    access: EnvironmentAccess<'version.rollback'>,
    key: string,
    input: RollbackInput,
  ): Promise<RollbackAnswer> {
    return auditedFailure(this.#deps.audit, access, async (note) => {
      const { targetVersion, undelete = false, comment, expectedVersion, expectedRevision, idempotency } = input;
      checkKey(key);
      checkVersion('targetVersion', targetVersion);
      checkComment(comment);
      if (expectedVersion !== undefined) checkVersion('expectedVersion', expectedVersion, 0);
      if (expectedRevision !== undefined) checkUuid('expectedRevision', expectedRevision);
      note({ key, targetVersion, ...(undelete ? { undelete } : {}) });
      const change: WantedChange = {
        kind: 'roll_back',
        targetVersion,
        undelete,
        ...(expectedVersion === undefined ? {} : { expectedVersion }),
      };
      const { result } = await this.#deps.writer.writeOnce(
        access,
        {
          wanted: new Map([[key, change]]),
          comment: comment ?? null,
          ...(expectedRevision === undefined ? {} : { expectedRevision }),
        },
        {
          request: idempotency,
          keep: (written): KeptRollback => keptRollback(rollbackAnswer(access, comment, written)),
          target: (kept: KeptRollback) => ({ key, targetVersion, ...kept }),
          recall: (kept: KeptRollback) => this.#recall(access, key, kept),
        },
      );
      return 'changes' in result ? rollbackAnswer(access, comment, result) : result;
    });
  }

  async #recall(
    { environmentId }: EnvironmentAccess<'version.rollback'>,
    key: string,
    kept: KeptRollback,
  ): Promise<RollbackAnswer> {
    const found = await findVersion(this.#deps.database.pool, environmentId, key, kept.version);
    if (typeof found === 'string') throw goneReplay('version');
    const { secretId: _secret, ciphertext: _ciphertext, dataKeyId: _key, ...record } = found;
    return { ...record, revision: kept.revision, revisionId: kept.revisionId, replayed: true };
  }
}

function rollbackAnswer(
  { caller }: EnvironmentAccess<'version.rollback'>,
  comment: string | undefined,
  { changes: [change], at, revision, revisionId }: WrittenSecrets,
): RollbackAnswer {
  if (change?.kind !== 'version' || at === null) throw new Error('a rollback makes a version');
  const { type, id, name, cluster } = recordedActor(caller);
  return {
    version: change.version,
    changeType: change.changeType,
    changedBy: id,
    changedByType: type,
    changedByName: name,
    changedByCluster: cluster,
    comment: comment ?? null,
    createdAt: at,
    ...notDestroyed,
    revision,
    revisionId,
  };
}

function keptRollback({ version, revision, revisionId }: RollbackAnswer): KeptRollback {
  return { version, revision, revisionId };
}

function versionBelow(cursor: string): number {
  const [version = ''] = decodeCursor('versions', cursor, 1);
  if (!/^[1-9][0-9]{0,8}$/.test(version)) throw badCursor();
  return Number(version);
}
