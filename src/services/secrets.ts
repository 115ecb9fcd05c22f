import type { Keyring } from '../crypto/keyring.ts';
import { DomainError, type FieldFault, invalidField } from '../domain/domain-error.ts';
import { secretKeyFault, secretValueFault } from '../domain/names.ts';
import type { Plaintext } from '../domain/plaintext.ts';
import type { Database } from '../store/database.ts';
import { findSecret, listSecrets, type SecretChange } from '../store/secrets.ts';
import type { EnvironmentAccess } from './access.ts';
import type { AuditLog } from './audit-log.ts';
import { auditedFailure, auditedRead } from './audited.ts';
import { checkComment, checkKey, checkUuid, checkVersion } from './checks.ts';
import { absentSecrets, type Wish } from './secret-plan.ts';
import type { SecretWriter, WrittenSecrets } from './secret-writer.ts';

/** A secret with its current value. */
export interface SecretValue {
  readonly key: string;
  readonly value: Plaintext;
  readonly version: number;
  readonly updatedAt: Date;
}

/** All secrets of an environment, and the revision they are of. */
export interface SecretList {
  readonly environmentId: string;
  readonly revision: number;
  readonly revisionId: string;
  /** By key. */
  readonly secrets: readonly SecretValue[];
}

export interface PutInput {
  readonly value: Plaintext;
  readonly comment?: string;
  /** The version the key must be at; 0 where it must not exist. */
  readonly expectedVersion?: number;
}

export interface PutAnswer {
  readonly key: string;
  readonly version: number;
  readonly updatedAt: Date;
  /** Whether the key did not exist before. */
  readonly created: boolean;
  readonly revision: number;
  readonly revisionId: string;
}

export interface PatchInput {
  readonly set?: ReadonlyMap<string, Plaintext>;
  readonly delete?: readonly string[];
  readonly comment?: string;
  /** The id of the revision the environment must be at. */
  readonly expectedRevision?: string;
  /** Makes no version of a value that the key has already. */
  readonly skipUnchanged?: boolean;
}

export interface PatchAnswer {
  /** The environment's revision after the change, or the one it stays at where there was nothing to change. */
  readonly revision: number;
  readonly revisionId: string;
  readonly set: readonly { readonly key: string; readonly version: number }[];
  readonly deleted: readonly string[];
  /** Keys left alone because of `skipUnchanged`. */
  readonly unchanged: readonly string[];
}

export interface SecretsDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly keyring: Pick<Keyring, 'opener'>;
  readonly writer: Pick<SecretWriter, 'write'>;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
}

const maxFaults = 20;

/** The current secrets of an environment (docs/interface.md 4.5). */
export class Secrets {
  readonly #deps: SecretsDeps;

  constructor(deps: SecretsDeps) {
    this.#deps = deps;
  }

  /**
   * Reads all secrets with one statement; the answer is given away only when it is audited. Throws DomainError
   * not_found where the environment was deleted meanwhile, key_unavailable, overloaded and store_unavailable.
   */
  async list(access: EnvironmentAccess<'secret.list'>): Promise<SecretList> {
    return auditedRead(this.#deps.audit, access, async (note) => {
      const { organizationId, projectId, environmentId } = access;
      const sealed = await listSecrets(this.#deps.database.pool, environmentId);
      if (sealed === undefined) throw new DomainError('not_found', 'the environment was deleted meanwhile');
      const { revision, revisionId } = sealed;
      note({ revision, revisionId, secrets: sealed.secrets.length });
      const opener = await this.#deps.keyring.opener(sealed.secrets.map(({ dataKeyId }) => dataKeyId));
      const secrets = sealed.secrets.map(({ secretId, key, version, updatedAt, ...content }) => {
        const value = opener.open({ organizationId, projectId, environmentId, secretId }, content);
        return { key, value, version, updatedAt };
      });
      return { environmentId, revision, revisionId, secrets };
    });
  }

  /** Reads one secret. Throws DomainError not_found where the key does not exist, and what `list` throws. */
  async get(access: EnvironmentAccess<'secret.read'>, key: string): Promise<SecretValue> {
    return auditedRead(this.#deps.audit, access, async (note) => {
      checkKey(key);
      note({ key });
      const { organizationId, projectId, environmentId } = access;
      const sealed = await findSecret(this.#deps.database.pool, environmentId, key);
      if (sealed === undefined) throw absentSecrets([key]);
      const { secretId, version, updatedAt, dataKeyId } = sealed;
      note({ version });
      const opener = await this.#deps.keyring.opener([dataKeyId]);
      const value = opener.open({ organizationId, projectId, environmentId, secretId }, sealed);
      return { key, value, version, updatedAt };
    });
  }

  /**
   * Sets a key: each call makes a version, also of an equal value; a key that was deleted goes on with its numbers.
   * Throws DomainError version_mismatch, quota_exceeded and what `SecretWriter.write` throws.
   */
  async put(access: EnvironmentAccess<'secret.write'>, key: string, input: PutInput): Promise<PutAnswer> {
    return auditedFailure(this.#deps.audit, access, async (note) => {
      checkKey(key);
      note({ key });
      const { value, comment, expectedVersion } = input;
      refuse(valueFaults([['value', value]]));
      checkComment(comment);
      if (expectedVersion !== undefined) checkVersion('expectedVersion', expectedVersion, 0);
      const wish: Wish = { kind: 'set', value, ...(expectedVersion === undefined ? {} : { expectedVersion }) };
      const written = await this.#deps.writer.write(access, {
        wishes: new Map([[key, wish]]),
        comment: comment ?? null,
      });
      return putAnswer(written);
    });
  }

  /** Deletes a key; its history stays. Throws DomainError not_found where it does not exist. */
  async delete(
    access: EnvironmentAccess<'secret.delete'>,
    key: string,
  ): Promise<{ readonly revision: number; readonly revisionId: string }> {
    return auditedFailure(this.#deps.audit, access, async (note) => {
      checkKey(key);
      note({ key });
      const wishes = new Map<string, Wish>([[key, { kind: 'delete' }]]);
      const { revision, revisionId } = await this.#deps.writer.write(access, { wishes, comment: null });
      return { revision, revisionId };
    });
  }

  /**
   * Sets and deletes keys in one revision, all or nothing; without any key it makes none. Who may set may delete
   * (the policy gives both alike). Throws DomainError invalid_input for a key named twice, not_found naming the keys to
   * delete that do not exist, version_mismatch, quota_exceeded and what `SecretWriter.write` throws.
   */
  async patch(access: EnvironmentAccess<'secret.write'>, input: PatchInput): Promise<PatchAnswer> {
    return auditedFailure(this.#deps.audit, access, async () => {
      const {
        set = new Map<string, Plaintext>(),
        delete: deleted = [],
        comment,
        expectedRevision,
        skipUnchanged,
      } = input;
      checkComment(comment);
      if (expectedRevision !== undefined) checkUuid('expectedRevision', expectedRevision);
      const written = await this.#deps.writer.write(access, {
        wishes: wishesOf(set, deleted),
        batch: true,
        comment: comment ?? null,
        ...(expectedRevision === undefined ? {} : { expectedRevision }),
        ...(skipUnchanged === undefined ? {} : { skipUnchanged }),
      });
      return patchAnswer(written);
    });
  }
}

function wishesOf(set: ReadonlyMap<string, Plaintext>, deleted: readonly string[]): Map<string, Wish> {
  const wishes = new Map<string, Wish>();
  const faults = keyFaults('set', [...set.keys()]).concat(keyFaults('delete', deleted));
  refuse(faults);
  refuse(valueFaults([...set].map(([key, value]) => [`set.${key}`, value])));
  for (const [key, value] of set) wishes.set(key, { kind: 'set', value });
  for (const [index, key] of deleted.entries()) {
    const other = wishes.get(key);
    if (other !== undefined) {
      throw invalidField(`delete.${index}`, `${key} is ${other.kind === 'set' ? 'in set as well' : 'named twice'}`);
    }
    wishes.set(key, { kind: 'delete' });
  }
  return wishes;
}

/** Tells a faulty key by its place: what is no key may be a misplaced secret. */
function keyFaults(field: string, keys: readonly string[]): FieldFault[] {
  return keys.flatMap((key, index) => {
    const message = secretKeyFault(key);
    return message === undefined ? [] : [{ field, message: `the key of entry ${index + 1} ${message}` }];
  });
}

function valueFaults(values: readonly (readonly [field: string, value: Plaintext])[]): FieldFault[] {
  return values.flatMap(([field, value]) => {
    const message = secretValueFault(value.reveal());
    return message === undefined ? [] : [{ field, message }];
  });
}

function refuse(faults: readonly FieldFault[]): void {
  const [first] = faults;
  if (first === undefined) return;
  const more = faults.length === 1 ? '' : ` (and ${faults.length - 1} more)`;
  throw new DomainError('invalid_input', `${first.field}: ${first.message}${more}`, {
    fields: faults.slice(0, maxFaults),
  });
}

function putAnswer({ changes, at, revision, revisionId }: WrittenSecrets): PutAnswer {
  const [change] = changes;
  if (change?.kind !== 'version' || at === null) throw new Error('a set key makes a version');
  const { key, version, changeType } = change;
  return { key, version, updatedAt: at, created: changeType === 'created', revision, revisionId };
}

function patchAnswer({ changes, unchanged, revision, revisionId }: WrittenSecrets): PatchAnswer {
  const isDeletion = (change: SecretChange): boolean => change.kind === 'deletion';
  return {
    revision,
    revisionId,
    set: changes.flatMap((change) => (change.kind === 'version' ? [{ key: change.key, version: change.version }] : [])),
    deleted: changes.filter(isDeletion).map(({ key }) => key),
    unchanged,
  };
}
