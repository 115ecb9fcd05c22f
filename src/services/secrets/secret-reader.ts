import type { Keyring } from '../../crypto/keyring.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import { limits } from '../../domain/limits.ts';
import { type FoundState, type LargerState, smallStateKeys, type StateRef } from '../../domain/secret-states.ts';
import type { Database } from '../../store/database.ts';
import { keysDeletedSince, type RevisionRef } from '../../store/revisions.ts';
import {
  listSizes,
  listValuesAt,
  type SealedValue,
  type SizedSecret,
  type StatePlace,
} from '../../store/secret-reads.ts';
import type { ReadingAccess } from '../access/access.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { auditedFailure, auditedRead } from '../audit/audited.ts';
import { absentRevision, noteSelection } from './secret-selection.ts';
import type { ReadRoom } from './read-sizes.ts';
import type { SecretList, SecretValue } from './secret-list.ts';
import type { StateCache } from './state-cache.ts';

export interface FindOptions {
  /** The newest state unless given. */
  readonly revision?: RevisionRef;
  /** How many keys the caller has memory for. */
  readonly maxKeys: number;
  /** Whether to name the keys that were deleted after the state. */
  readonly deletedSince?: boolean;
}

// Together at most `smallStateBytes`.
const inlineBytes = 128 * 1024;
const keptBytes = 512 * 1024;

/** A state as the database has it. */
interface StoredState {
  readonly revision: number;
  /** Bytes of each value, by key. */
  readonly sizes: ReadonlyMap<string, number>;
}

export interface SecretReaderDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly keyring: Pick<Keyring, 'opener'>;
  readonly states: StateCache;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
}

/**
 * Reads some secrets of an environment in two steps, for callers that have little memory: `find` fetches the keys and
 * the sizes of the values, `read` decrypts only the chosen values. Both are of one state. Nothing is held between them.
 */
export class SecretReader {
  readonly #deps: SecretReaderDeps;

  constructor(deps: SecretReaderDeps) {
    this.#deps = deps;
  }

  /**
   * Finds a state of an environment. Failures are audited; what was found is audited by `read`, which must follow
   * before anything is done with it. Throws DomainError not_found for an unknown revision and for an environment that
   * was deleted, key_unavailable and store_unavailable.
   */
  async find(access: ReadingAccess, options: FindOptions): Promise<FoundState | LargerState> {
    return await auditedFailure(this.#deps.audit, access, async (note) => {
      const { revision } = options;
      noteSelection(note, revision === undefined ? {} : { revision });
      const kept = revision === undefined ? await this.#kept(access) : undefined;
      if (kept === undefined) return await this.#findStored(access, options);
      return kept.secrets.length > options.maxKeys ? { keys: kept.secrets.length } : foundWhole(kept);
    });
  }

  /**
   * Decrypts the values of some keys of a found state, and audits that they were read; without any key, that the names
   * were. A room is for the caller of another process: the read waits there before the values are fetched, and the audit has
   * what the database says of the state, not the caller. Throws DomainError conflict if the state does not have one of the
   * keys, a value was destroyed or the environment deleted meanwhile, key_unavailable, overloaded and store_unavailable.
   */
  async read(
    access: ReadingAccess,
    state: StateRef,
    keys: readonly string[],
    room?: ReadRoom,
  ): Promise<ReadonlyMap<string, Plaintext>> {
    const { environmentId, revisionId } = state;
    if (environmentId !== access.environmentId)
      throw new Error('a state is read with the access that it was found with');
    return await auditedRead(this.#deps.audit, access, async (note) => {
      const { revision, keyCount } = room === undefined ? state : await this.#entered(state, keys, room);
      const count = keys.length === 0 ? { secrets: keyCount, values: false } : { secrets: keys.length };
      note({ revision, revisionId, ...count });
      if (keys.length === 0) return new Map();
      const values = await this.#values(access, revisionId, keys);
      if (keys.some((key) => !values.has(key))) throw goneMeanwhile();
      return values;
    });
  }

  /** The environment's secrets at a revision, if they are kept and small. */
  async #kept({ environmentId, revisionId }: StatePlace): Promise<SecretList | undefined> {
    const { states } = this.#deps;
    if ((states.bytesOf(environmentId, revisionId) ?? Infinity) > keptBytes) return undefined;
    return await states.find(environmentId, revisionId);
  }

  async #findStored(
    access: ReadingAccess,
    { revision: wanted, maxKeys, deletedSince: isAsked = false }: FindOptions,
  ): Promise<FoundState | LargerState> {
    const { environmentId } = access;
    const { pool } = this.#deps.database;
    const maxInlineBytes = wanted === undefined ? inlineBytes : 0;
    const stored = await listSizes(pool, environmentId, { revision: wanted, maxKeys, maxInlineBytes });
    if (stored === undefined) throw absentRevision(wanted);
    if (stored.keys > maxKeys) return { keys: stored.keys };
    const { revision, revisionId } = stored;
    const lost = stored.secrets.filter(({ isDestroyed }) => isDestroyed === true);
    const destroyed = lost.map(({ key, version }) => ({ key, version }));
    const whole = stored.secrets.filter(({ isDestroyed }) => isDestroyed !== true);
    if (wanted === undefined && isSmall(whole)) {
      const list = { environmentId, revision, revisionId, secrets: await this.#openAll(access, whole) };
      await this.#deps.states.keep(list);
      return foundWhole(list);
    }
    return {
      environmentId,
      revision,
      revisionId,
      secrets: whole.map(({ key, valueBytes: bytes }) => ({ key, bytes })),
      destroyed,
      deletedSince: isAsked ? await this.#deletedSince(environmentId, revision, whole) : [],
    };
  }

  async #deletedSince(
    environmentId: string,
    revision: number,
    secrets: readonly SizedSecret[],
  ): Promise<readonly string[]> {
    const deleted = await keysDeletedSince(this.#deps.database.pool, environmentId, revision);
    return secrets.map(({ key }) => key).filter((key) => deleted.has(key));
  }

  async #openAll(access: ReadingAccess, secrets: readonly SizedSecret[]): Promise<SecretValue[]> {
    const open = await this.#opener(access, secrets);
    return secrets.map((secret) => {
      const { key, version, updatedAt, ciphertext } = secret;
      return { key, value: open({ ...secret, ciphertext: ciphertext ?? Buffer.of() }), version, updatedAt };
    });
  }

  /** What the database says of a state, after the wait for the memory that its values take. */
  async #entered(
    place: StatePlace,
    keys: readonly string[],
    room: ReadRoom,
  ): Promise<Omit<StateRef, keyof StatePlace>> {
    const { revision, sizes } = await this.#stored(place);
    await room.enter(keys.reduce((sum, key) => sum + (sizes.get(key) ?? 0), 0));
    return { revision, keyCount: sizes.size };
  }

  async #stored({ environmentId, revisionId }: StatePlace): Promise<StoredState> {
    const kept = await this.#kept({ environmentId, revisionId });
    if (kept !== undefined) {
      const sizes = kept.secrets.map(({ key, value }) => [key, Buffer.byteLength(value.reveal())] as const);
      return { revision: kept.revision, sizes: new Map(sizes) };
    }
    const { secretsPerEnvironment: maxKeys } = limits;
    const selection = { revision: revisionId, maxKeys, maxInlineBytes: 0 };
    const stored = await listSizes(this.#deps.database.pool, environmentId, selection);
    if (stored === undefined) throw goneMeanwhile();
    const whole = stored.secrets.filter(({ isDestroyed }) => isDestroyed !== true);
    return { revision: stored.revision, sizes: new Map(whole.map(({ key, valueBytes }) => [key, valueBytes])) };
  }

  /** The values of keys at a revision; without those that it does not have. */
  async #values(
    access: ReadingAccess,
    revisionId: string,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, Plaintext>> {
    const { environmentId } = access;
    const kept = await this.#kept({ environmentId, revisionId });
    if (kept !== undefined) {
      const wanted = new Set(keys);
      return new Map(kept.secrets.flatMap(({ key, value }) => (wanted.has(key) ? [[key, value] as const] : [])));
    }
    const { pool } = this.#deps.database;
    const sealed = await listValuesAt(pool, { environmentId, revisionId }, keys);
    const open = await this.#opener(access, sealed);
    return new Map(sealed.map((secret) => [secret.key, open(secret)]));
  }

  async #opener(
    { organizationId, projectId, environmentId }: ReadingAccess,
    sealed: readonly Pick<SealedValue, 'dataKeyId'>[],
  ): Promise<(one: Omit<SealedValue, 'key'>) => Plaintext> {
    const opener = await this.#deps.keyring.opener(new Set(sealed.map(({ dataKeyId }) => dataKeyId)));
    return ({ secretId, ciphertext, dataKeyId }) =>
      opener.open({ organizationId, projectId, environmentId, secretId }, { ciphertext, dataKeyId });
  }
}

function foundWhole({ environmentId, revision, revisionId, secrets }: SecretList): FoundState {
  const sized = secrets.map(({ key, value }) => ({ key, bytes: Buffer.byteLength(value.reveal()) }));
  return { environmentId, revision, revisionId, secrets: sized, destroyed: [], deletedSince: [] };
}

function isSmall(secrets: readonly SizedSecret[]): boolean {
  return secrets.length <= smallStateKeys && secrets.every(({ ciphertext }) => ciphertext !== null);
}

function goneMeanwhile(): DomainError {
  return new DomainError('conflict', 'the environment was changed while it was read; try again');
}
