import { DomainError } from '../../domain/errors/domain-error.ts';
import type { Database } from '../../store/database.ts';
import { notifyDestruction } from '../../store/notify.ts';
import type { Transaction } from '../../store/transaction.ts';
import {
  destroyVersions,
  type VersionToDestroy,
  findDestroyedTogether,
  findVersionToDestroy,
  type VersionRecord,
} from '../../store/versions.ts';
import type { EnvironmentAccess } from '../access/access.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { auditedFailure, successRecord } from '../audit/audited.ts';
import { checkKey, checkVersion } from '../kernel/checks.ts';
import type { EnvironmentQueue } from '../kernel/environment-queue.ts';
import { changeEnvironment, type Locked } from '../change/change.ts';
import { absentSecrets } from './secret-plan.ts';

export interface DestroyInput {
  readonly version: number;
  /** Whether the other versions with the same value are destroyed too or kept; required if there are any. */
  readonly sameValue?: boolean;
}

/** The record of a version without a value, and the versions that were destroyed with it. */
export interface DestroyedVersion extends VersionRecord {
  /** The numbers of all versions that were destroyed together, with its own. */
  readonly destroyedVersions: readonly number[];
}

export interface DestructionsDeps {
  readonly database: Pick<Database, 'transactionPool'>;
  readonly queue: Pick<EnvironmentQueue, 'run'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
}

// An audit row names this many versions, an error this many.
const auditedVersions = 100;
const versionsShown = 20;

/** The erasing of values that must never be read again (docs/interface.md 4.11). */
export class Destructions {
  readonly #deps: DestructionsDeps;

  constructor(deps: DestructionsDeps) {
    this.#deps = deps;
  }

  /**
   * Erases the value of a version for good, also of a deleted key; its record stays. It makes no revision: what a read
   * returns now stays the same, so the current version is refused. Of a version that was destroyed already it returns
   * the same again. Throws DomainError not_found for a key that was never written or has no such version,
   * version_current, value_in_other_versions if `sameValue` is required and missing, and what `changeEnvironment`
   * throws.
   */
  async destroy(
    access: EnvironmentAccess<'version.destroy'>,
    key: string,
    { version, sameValue }: DestroyInput,
  ): Promise<DestroyedVersion> {
    return auditedFailure(this.#deps.audit, access, async (note) => {
      checkKey(key);
      checkVersion('version', version);
      note({ key, version });
      return changeEnvironment(this.#deps, access, access.environmentId, {
        first: (tx) => findVersionToDestroy(tx, access.environmentId, key, version),
        work: async (tx, locked) => {
          const result = await destroyLocked(tx, access, { key, version, sameValue, locked });
          const { destroyedVersions } = result;
          const versions = destroyedVersions.slice(0, auditedVersions).map(String);
          const destroyed = { destroyedVersions: versions, destroyed: destroyedVersions.length };
          return { result, audit: successRecord(access, { key, version, ...destroyed }) };
        },
      });
    });
  }
}

interface LockedDestruction {
  readonly key: string;
  readonly version: number;
  readonly sameValue: boolean | undefined;
  readonly locked: Locked<Awaited<ReturnType<typeof findVersionToDestroy>>>;
}

async function destroyLocked(
  tx: Transaction,
  access: EnvironmentAccess<'version.destroy'>,
  request: LockedDestruction,
): Promise<DestroyedVersion> {
  const { key, version } = request;
  const { before, first: found } = request.locked;
  if (found === 'no-key') throw absentSecrets([key]);
  if (found === 'no-version') throw new DomainError('not_found', `secret ${key} has no version ${version}`);
  const { secretId, isCurrent: _isCurrent, currentVersion: _currentVersion, equalVersions, ...record } = found;
  if (found.destroyedAt !== null) {
    return { ...record, destroyedVersions: await findDestroyedTogether(tx, found) };
  }
  checkDestructible(found, request);
  const versions = request.sameValue === true ? [version, ...equalVersions].toSorted((a, b) => a - b) : [version];
  const { type, id, name } = access.caller.principal;
  const destroyedAt = await destroyVersions(tx, { secretId, versions, actor: { type, id, name } });
  await notifyDestruction(tx, access, before.revisionId);
  const destroyed = { destroyedAt, destroyedBy: id, destroyedByType: type, destroyedByName: name };
  return { ...record, ...destroyed, destroyedVersions: versions };
}

/** Refuses what would erase the present value, or leave the value in other versions without an explicit choice. */
function checkDestructible(
  { isCurrent, currentVersion, equalVersions }: VersionToDestroy,
  request: LockedDestruction,
): void {
  const { key, version, sameValue } = request;
  if (isCurrent) {
    throw new DomainError(
      'version_current',
      `version ${version} is the current one of secret ${key}; set a new value first, and then destroy it`,
    );
  }
  if (equalVersions.length === 0 || sameValue === false) return;
  const isHeldNow = currentVersion !== null && equalVersions.includes(currentVersion);
  if (sameValue === true && !isHeldNow) return;
  if (isHeldNow) {
    throw new DomainError(
      'version_current',
      `version ${currentVersion}, which is the current one of secret ${key}, holds the value of version ${version}; ` +
        'set a new value first, and then destroy both with "sameValue": true, or destroy the older one alone with false',
    );
  }
  const shown = equalVersions.slice(0, versionsShown).join(', ');
  const more = equalVersions.length > versionsShown ? ` and ${equalVersions.length - versionsShown} more` : '';
  throw new DomainError(
    'value_in_other_versions',
    `of secret ${key}, these versions hold the value of version ${version} as well: ${shown}${more}; ` +
      'say with "sameValue" whether they are destroyed too (true) or keep it (false)',
  );
}
