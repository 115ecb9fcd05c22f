import type { Keyring } from '../crypto/keyring.ts';
import { DomainError } from '../domain/domain-error.ts';
import type { Plaintext } from '../domain/plaintext.ts';
import type { Database } from '../store/database.ts';
import { findVersion, listVersions, type VersionRecord } from '../store/versions.ts';
import type { EnvironmentAccess } from './access.ts';
import type { AuditLog } from './audit-log.ts';
import { auditedFailure, auditedRead } from './audited.ts';
import { checkComment, checkKey, checkVersion } from './checks.ts';
import { badCursor, checkLimit, decodeCursor, encodeCursor, type PageRequest } from './page.ts';
import { absentSecrets, type Wish } from './secret-plan.ts';
import type { SecretWriter } from './secret-writer.ts';

export type { VersionRecord } from '../store/versions.ts';

export interface VersionList {
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
  readonly comment?: string;
}

/** The version that a rollback made, and the revision it made it in. */
export interface RollbackAnswer extends VersionRecord {
  readonly revision: number;
  readonly revisionId: string;
}

export interface VersionsDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly keyring: Pick<Keyring, 'opener'>;
  readonly writer: Pick<SecretWriter, 'write'>;
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
      // One more than asked for tells whether there is a next page.
      const wanted = { below, limit: limit === null ? null : limit + 1 };
      const found = await listVersions(this.#deps.database.pool, access.environmentId, key, wanted);
      if (found === undefined) throw absentSecrets([key]);
      const versions = limit === null ? found : found.slice(0, limit);
      const last = versions.at(-1);
      const hasMore = last !== undefined && found.length > versions.length;
      return { versions, nextCursor: hasMore ? encodeCursor('versions', [String(last.version)]) : null };
    });
  }

  /**
   * One version with its value, also of a deleted key. Throws DomainError not_found where the key was never written or
   * has no such version, and key_unavailable.
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
      const opener = await this.#deps.keyring.opener([dataKeyId]);
      const binding = { organizationId, projectId, environmentId, secretId };
      return { ...record, value: opener.open(binding, { ciphertext, dataKeyId }) };
    });
  }

  /**
   * Makes a new version with the target version's value: its stored bytes are copied, nothing is decrypted. Throws
   * DomainError not_found for a key that was never written or has no such version, secret_deleted for a deleted key,
   * quota_exceeded and what `SecretWriter.write` throws.
   */
  async rollback(
    access: EnvironmentAccess<'version.rollback'>,
    key: string,
    { targetVersion, comment }: RollbackInput,
  ): Promise<RollbackAnswer> {
    return auditedFailure(this.#deps.audit, access, async (note) => {
      checkKey(key);
      checkVersion('targetVersion', targetVersion);
      checkComment(comment);
      note({ key, targetVersion });
      const wishes = new Map<string, Wish>([[key, { kind: 'roll_back', targetVersion }]]);
      const written = await this.#deps.writer.write(access, { wishes, comment: comment ?? null });
      const [change] = written.changes;
      if (change?.kind !== 'version' || written.at === null) throw new Error('a rollback makes a version');
      const { type, id, name } = access.caller.principal;
      return {
        version: change.version,
        changeType: change.changeType,
        changedBy: id,
        changedByType: type,
        changedByName: name,
        comment: comment ?? null,
        createdAt: written.at,
        revision: written.revision,
        revisionId: written.revisionId,
      };
    });
  }
}

function versionBelow(cursor: string): number {
  const [version = ''] = decodeCursor('versions', cursor, 1);
  if (!/^[1-9][0-9]{0,8}$/.test(version)) throw badCursor();
  return Number(version);
}
