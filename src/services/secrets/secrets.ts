import type { Keyring } from '../../crypto/keyring.ts';
import { limits } from '../../domain/limits.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import { mapInSlices } from '../../lib/time-slice.ts';
import type { Database } from '../../store/database.ts';
import { findWholeRevision } from '../../store/revisions.ts';
import {
  findSecret,
  findSecretKey,
  listDeletedKeys,
  listSecretKeys,
  listSecrets,
  measureSecrets,
  type SecretSelection,
} from '../../store/secret-reads.ts';
import type { EnvironmentAccess } from '../access/access.ts';
import { shownActors } from '../access/shown-actors.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { auditedFailure, auditedRead, auditedTokenRead } from '../audit/audited.ts';
import { checkComment, checkKey, checkUuid, checkVersion } from '../kernel/checks.ts';
import { versionsDestroyed } from './destroyed-versions.ts';
import { type ReadRoom, ReadSizes } from './read-sizes.ts';
import type { WantedChange } from './secret-plan.ts';
import type { DeletedSecretKey, SecretKey, SecretList, SecretValue } from './secret-list.ts';
import { absentRevision, noteSelection, present, type SecretMoment } from './secret-selection.ts';
import { checkValue, type GenerateInput, wantedChangesOf } from './secret-changes.ts';
import { type PatchAnswer, patchAnswer, type PutAnswer, putAnswer } from './secret-write-answers.ts';
import type { SecretWriter } from './secret-writer.ts';
import { StateCache } from './state-cache.ts';

/** One secret with its current value, or that of the revision it was asked for. */
export interface SecretRead extends SecretValue {
  /** The id of the version record, which reveals nothing of the value. */
  readonly versionId: string;
}

/** What to list. */
export interface ListSelection extends SecretSelection {
  /** Leaves out destroyed values, of which a list fails otherwise. */
  readonly skipDestroyed?: boolean;
  /** The room that values need; without it they are not bounded. */
  readonly room?: ReadRoom;
}

export interface PutInput {
  readonly value: Plaintext;
  readonly comment?: string;
  /** The version the key must be at; 0 if it must not exist. */
  readonly expectedVersion?: number;
}

export interface PatchInput {
  readonly set?: ReadonlyMap<string, Plaintext>;
  /** Keys whose value the server generates and does not return. */
  readonly generate?: ReadonlyMap<string, GenerateInput>;
  readonly delete?: readonly string[];
  readonly comment?: string;
  /** The id of the revision the environment must be at. */
  readonly expectedRevision?: string;
  /** Makes no version of a value of `set` that the key has already. */
  readonly skipUnchanged?: boolean;
}

export interface SecretsDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly keyring: Pick<Keyring, 'opener'>;
  readonly writer: Pick<SecretWriter, 'write'>;
  /** Where states are kept, if others must be able to drop one; a new cache by default. */
  readonly states?: StateCache;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
}

/** The current secrets of an environment (docs/interface.md 4.5). */
export class Secrets {
  readonly #deps: SecretsDeps;
  readonly #kept: StateCache;
  readonly #sizes = new ReadSizes();

  constructor(deps: SecretsDeps) {
    this.#deps = deps;
    this.#kept = deps.states ?? new StateCache();
  }

  /**
   * Reads secrets, by default all of the newest revision, with one statement, or with none if that revision is kept. The
   * result is returned only after it was audited. At an earlier revision `updatedAt` is when the version of that revision
   * was made. Throws DomainError not_found for an unknown revision and for an environment that was deleted meanwhile,
   * version_destroyed, key_unavailable, overloaded (also if other large reads of the caller take too long) and
   * store_unavailable.
   */
  async list(access: EnvironmentAccess<'secret.list'>, selection: ListSelection = {}): Promise<SecretList> {
    return auditedRead(this.#deps.audit, access, async (note) => {
      noteSelection(note, selection);
      await selection.room?.enter(await this.#expectedBytes(access, selection));
      const list = (await this.#keptList(access, selection)) ?? (await this.#readList(access, selection));
      const { revision, revisionId, secrets } = list;
      note({ revision, revisionId, secrets: secrets.length });
      return list;
    });
  }

  /** Like `list`, without values: nothing is decrypted, and only a service token's call is audited. */
  async listKeys(
    access: EnvironmentAccess<'secret.list'>,
    selection: SecretSelection = {},
  ): Promise<SecretList<SecretKey>> {
    return auditedTokenRead(this.#deps.audit, access, async (note) => {
      const { environmentId } = access;
      noteSelection(note, selection);
      const stored = await listSecretKeys(this.#deps.database.pool, environmentId, selection);
      if (stored === undefined) throw absentRevision(selection.revision);
      const { revision, revisionId } = stored;
      note({ revision, revisionId, secrets: stored.secrets.length, values: false });
      const secrets = stored.secrets.map(({ key, version, updatedAt, ...row }) => {
        const { updatedBy, updatedByType, updatedByName, updatedByCluster } = row;
        return { key, version, updatedAt, updatedBy, updatedByType, updatedByName, updatedByCluster };
      });
      const shown = await shownActors(this.#deps.database.pool, access, secrets);
      return { environmentId, revision, revisionId, secrets: shown };
    });
  }

  /** Keys that are deleted, now. Audited like `listKeys`. */
  async listDeletedKeys(
    access: EnvironmentAccess<'secret.list'>,
    { prefix }: Pick<SecretSelection, 'prefix'> = {},
  ): Promise<SecretList<DeletedSecretKey>> {
    return auditedTokenRead(this.#deps.audit, access, async (note) => {
      const { environmentId } = access;
      noteSelection(note, prefix === undefined ? {} : { prefix });
      const stored = await listDeletedKeys(this.#deps.database.pool, environmentId, prefix ?? '');
      if (stored === undefined) throw absentRevision(undefined);
      const { revision, revisionId } = stored;
      note({ revision, revisionId, secrets: stored.secrets.length, values: false, deleted: true });
      const secrets = stored.secrets.map(({ key, version, updatedAt, deletedAt, ...row }) => {
        const { deletedBy, deletedByType, deletedByName, deletedByCluster } = row;
        return { key, version, updatedAt, deletedAt, deletedBy, deletedByType, deletedByName, deletedByCluster };
      });
      const shown = await shownActors(this.#deps.database.pool, access, secrets);
      return { environmentId, revision, revisionId, secrets: shown };
    });
  }

  /**
   * The id of the revision that a list would be of, for a caller who may know it already (`auditUnchanged`). The newest
   * one is known from the authorisation, so that it costs no statement. Undefined for a list of values of which one was
   * destroyed, so that no caller uses it. Throws DomainError not_found for an unknown revision.
   */
  async revisionIdOf(
    access: EnvironmentAccess<'secret.list'>,
    { revision, prefix, values = true }: SecretSelection & { readonly values?: boolean },
  ): Promise<string | undefined> {
    if (revision === undefined) return access.revisionId;
    return auditedFailure(this.#deps.audit, access, async (note) => {
      const selection = { revision, ...(prefix === undefined ? {} : { prefix }) };
      noteSelection(note, selection);
      const found = await findWholeRevision(this.#deps.database.pool, access.environmentId, selection);
      if (found === undefined) throw absentRevision(revision);
      return found.isWhole || !values ? found.revisionId : undefined;
    });
  }

  /**
   * Reads one secret, at the newest revision by default. Throws DomainError not_found if the key does not exist, or
   * did not then, and what `list` throws.
   */
  async get(access: EnvironmentAccess<'secret.read'>, key: string, at: SecretMoment = {}): Promise<SecretRead> {
    return auditedRead(this.#deps.audit, access, async (note) => {
      checkKey(key);
      note({ key });
      noteSelection(note, at);
      const { organizationId, projectId, environmentId } = access;
      const found = await findSecret(this.#deps.database.pool, environmentId, { key, revision: at.revision });
      const { secretId, version, versionId, updatedAt, dataKeyId, ciphertext } = present(found, key, at);
      note({ version });
      const opener = await this.#deps.keyring.opener([dataKeyId]);
      const value = opener.open({ organizationId, projectId, environmentId, secretId }, { ciphertext, dataKeyId });
      return { key, value, version, versionId, updatedAt };
    });
  }

  /** The id of the version record that `get` would read, like `revisionIdOf`. Throws DomainError not_found. */
  async versionIdOf(access: EnvironmentAccess<'secret.read'>, key: string, at: SecretMoment = {}): Promise<string> {
    return auditedFailure(this.#deps.audit, access, async (note) => {
      checkKey(key);
      note({ key });
      noteSelection(note, at);
      const found = await findSecretKey(this.#deps.database.pool, access.environmentId, { key, revision: at.revision });
      return present(found, key, at).versionId;
    });
  }

  /**
   * Audits that a service token's caller learns that something exists and is unchanged. Call it before such a response
   * is sent; it throws DomainError overloaded or store_unavailable if the audit cannot be written.
   */
  async auditUnchanged(
    access: EnvironmentAccess<'secret.list' | 'secret.read'>,
    target: SecretSelection & { readonly key?: string; readonly values?: boolean; readonly deleted?: boolean },
  ): Promise<void> {
    await auditedTokenRead(this.#deps.audit, access, (note) => {
      const { deleted = false, ...rest } = target;
      note({ ...rest, ...(deleted ? { deleted } : {}), notModified: true });
      return Promise.resolve();
    });
  }

  /**
   * Sets a key: each call makes a version, also of an equal value; a key that was deleted continues its version
   * numbers. Throws DomainError version_mismatch, quota_exceeded and what `SecretWriter.write` throws.
   */
  async put(access: EnvironmentAccess<'secret.write'>, key: string, input: PutInput): Promise<PutAnswer> {
    return auditedFailure(this.#deps.audit, access, async (note) => {
      checkKey(key);
      note({ key });
      const { value, comment, expectedVersion } = input;
      checkValue('value', value);
      checkComment(comment);
      if (expectedVersion !== undefined) checkVersion('expectedVersion', expectedVersion, 0);
      const change: WantedChange = {
        kind: 'set',
        value,
        ...(expectedVersion === undefined ? {} : { expectedVersion }),
      };
      const written = await this.#deps.writer.write(access, {
        wanted: new Map([[key, change]]),
        comment: comment ?? null,
      });
      return putAnswer(written);
    });
  }

  /** Deletes a key; its history stays. Throws DomainError not_found if it does not exist. */
  async delete(
    access: EnvironmentAccess<'secret.delete'>,
    key: string,
  ): Promise<{ readonly revision: number; readonly revisionId: string }> {
    return auditedFailure(this.#deps.audit, access, async (note) => {
      checkKey(key);
      note({ key });
      const wanted = new Map<string, WantedChange>([[key, { kind: 'delete' }]]);
      const { revision, revisionId } = await this.#deps.writer.write(access, { wanted, comment: null });
      return { revision, revisionId };
    });
  }

  /**
   * Sets keys, generates values for others and deletes some, in one revision, all or nothing; without any key it makes
   * none. Who may set may delete (the policy gives both alike). Throws DomainError invalid_input for a key named twice,
   * not_found naming the keys to delete that do not exist, version_mismatch, quota_exceeded and what
   * `SecretWriter.write` throws.
   */
  async patch(access: EnvironmentAccess<'secret.write'>, input: PatchInput): Promise<PatchAnswer> {
    return auditedFailure(this.#deps.audit, access, async () => {
      const {
        set = new Map<string, Plaintext>(),
        generate = new Map<string, GenerateInput>(),
        delete: deleted = [],
        comment,
        expectedRevision,
        skipUnchanged,
      } = input;
      checkComment(comment);
      if (expectedRevision !== undefined) checkUuid('expectedRevision', expectedRevision);
      const written = await this.#deps.writer.write(access, {
        wanted: await wantedChangesOf({ set, generate, delete: deleted }),
        batch: true,
        comment: comment ?? null,
        ...(expectedRevision === undefined ? {} : { expectedRevision }),
        ...(skipUnchanged === undefined ? {} : { skipUnchanged }),
      });
      return patchAnswer(written);
    });
  }

  /** How many bytes of values a list may have, before it is read. */
  async #expectedBytes(access: EnvironmentAccess<'secret.list'>, selection: ListSelection): Promise<number> {
    const { environmentId, revisionId } = access;
    const { prefix, revision } = selection;
    const isNewest = prefix === undefined && revision === undefined;
    const known = isNewest ? this.#kept.bytesOf(environmentId, revisionId) : undefined;
    return (
      known ??
      this.#sizes.find(access, selection) ??
      // An earlier revision may have had more than the present one.
      (revision === undefined
        ? await measureSecrets(this.#deps.database.pool, environmentId, prefix)
        : limits.environmentBytes)
    );
  }

  /** The newest state as the authorisation saw it, if it was read before. */
  async #keptList(
    { environmentId, revisionId }: EnvironmentAccess<'secret.list'>,
    { prefix, revision }: ListSelection,
  ): Promise<SecretList | undefined> {
    if (prefix !== undefined || revision !== undefined) return undefined;
    return this.#kept.find(environmentId, revisionId);
  }

  async #readList(access: EnvironmentAccess<'secret.list'>, selection: ListSelection): Promise<SecretList> {
    const { organizationId, projectId, environmentId } = access;
    const sealed = await listSecrets(this.#deps.database.pool, environmentId, selection);
    if (sealed === undefined) throw absentRevision(selection.revision);
    const { revision, revisionId } = sealed;
    const destroyed = sealed.secrets.filter(({ isDestroyed }) => isDestroyed === true);
    if (destroyed.length > 0 && selection.skipDestroyed !== true) throw versionsDestroyed(destroyed);
    const readable = sealed.secrets.filter(({ isDestroyed }) => isDestroyed !== true);
    const bytes = readable.reduce((sum, { ciphertext }) => sum + ciphertext.length, 0);
    this.#sizes.note(access, selection, bytes);
    const opener = await this.#deps.keyring.opener(readable.map(({ dataKeyId }) => dataKeyId));
    const secrets = await mapInSlices(readable, ({ secretId, key, version, updatedAt, ciphertext, dataKeyId }) => {
      const value = opener.open({ organizationId, projectId, environmentId, secretId }, { ciphertext, dataKeyId });
      return { key, value, version, updatedAt };
    });
    const list = { environmentId, revision, revisionId, secrets };
    if (selection.prefix === undefined && selection.revision === undefined) await this.#kept.keep(list);
    return list;
  }
}
