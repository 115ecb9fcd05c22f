import type { Keyring } from '../../crypto/keyring.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import type { Database } from '../../store/database.ts';
import { keysDeletedSince, type RevisionRef } from '../../store/revisions.ts';
import { listSizes, listVersions, type SealedVersion, type SizedSecret } from '../../store/secret-reads.ts';
import type { ReadingAccess } from '../access/access.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { auditedFailure, auditedRead } from '../audit/audited.ts';
import type { KeyVersion } from './destroyed-versions.ts';
import { absentRevision, noteSelection } from './secret-selection.ts';
import type { SecretList, SecretValue } from './secret-list.ts';
import type { StateCache } from './state-cache.ts';

/** A key of a state, and how long its value is. */
export interface SizedKey {
  readonly key: string;
  /** Bytes of the value in UTF-8. */
  readonly bytes: number;
}

/** The keys of an environment's state. Only `SecretReader.read` returns its values. */
export interface FoundState {
  readonly environmentId: string;
  readonly revision: number;
  readonly revisionId: string;
  /** By key. */
  readonly secrets: readonly SizedKey[];
  /** The keys without a value, which only a past state can have. */
  readonly destroyed: readonly KeyVersion[];
  /** The keys of the state that were deleted after it; empty unless asked for. */
  readonly deletedSince: readonly string[];
}

/** A state has more keys than were allowed: nothing of it was kept. */
export interface LargerState {
  readonly keys: number;
}

export interface FindOptions {
  /** The newest state unless given. */
  readonly revision?: RevisionRef;
  /** How many keys the caller has memory for. */
  readonly maxKeys: number;
  /** Whether to name the keys that were deleted after the state. */
  readonly deletedSince?: boolean;
}

/**
 * A small state is read with all its values, by one statement instead of two, and is kept for the next reader. What it
 * takes in memory until its reader is done: `smallStateBytes` at most.
 */
export const smallStateKeys = 1_000;
const inlineBytes = 128 * 1024;
const keptBytes = 512 * 1024;
export const smallStateBytes = 1024 * 1024;

/** Where the value of a key is. */
type Content = { readonly value: Plaintext } | { readonly sealed: SealedVersion } | { readonly versionId: string };

export interface SecretReaderDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly keyring: Pick<Keyring, 'opener'>;
  readonly states: StateCache;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
}

/**
 * Reads some secrets of an environment in two steps, for callers that have little memory: `find` fetches the keys and
 * the sizes of the values, `read` decrypts only the chosen values. Both are of one state.
 */
export class SecretReader {
  readonly #deps: SecretReaderDeps;
  /** Private, so that a value leaves a found state only by `read`, which audits. */
  readonly #contents = new WeakMap<FoundState, ReadonlyMap<string, Content>>();

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
      const kept = revision === undefined ? await this.#findKept(access) : undefined;
      if (kept !== undefined) return kept.secrets.length > options.maxKeys ? { keys: kept.secrets.length } : kept;
      return await this.#findStored(access, options);
    });
  }

  /**
   * Decrypts the values of some keys of a found state, and audits that they were read; without any key, that the names
   * were. Throws DomainError conflict if a value was destroyed or the environment deleted meanwhile, key_unavailable,
   * overloaded and store_unavailable.
   */
  async read(
    access: ReadingAccess,
    found: FoundState,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, Plaintext>> {
    const { revision, revisionId, environmentId } = found;
    if (environmentId !== access.environmentId)
      throw new Error('a state is read with the access that it was found with');
    return await auditedRead(this.#deps.audit, access, async (note) => {
      const count = keys.length === 0 ? { secrets: found.secrets.length, values: false } : { secrets: keys.length };
      note({ revision, revisionId, ...count });
      return await this.#open(access, this.#contents.get(found) ?? new Map(), keys);
    });
  }

  async #findKept({ environmentId, revisionId }: ReadingAccess): Promise<FoundState | undefined> {
    if ((this.#deps.states.bytesOf(environmentId, revisionId) ?? Infinity) > keptBytes) return undefined;
    const kept = await this.#deps.states.find(environmentId, revisionId);
    return kept === undefined ? undefined : this.#foundWhole(kept);
  }

  async #findStored(
    access: ReadingAccess,
    { revision: wanted, maxKeys, deletedSince: isAsked = false }: FindOptions,
  ): Promise<FoundState | LargerState> {
    const { environmentId } = access;
    const { pool } = this.#deps.database;
    const stored = await listSizes(pool, environmentId, { revision: wanted, maxKeys, maxInlineBytes: inlineBytes });
    if (stored === undefined) throw absentRevision(wanted);
    if (stored.keys > maxKeys) return { keys: stored.keys };
    const { revision, revisionId } = stored;
    const lost = stored.secrets.filter(({ isDestroyed }) => isDestroyed === true);
    const destroyed = lost.map(({ key, version }) => ({ key, version }));
    const whole = stored.secrets.filter(({ isDestroyed }) => isDestroyed !== true);
    if (wanted === undefined && isSmall(whole)) {
      const list = { environmentId, revision, revisionId, secrets: await this.#openAll(access, whole) };
      await this.#deps.states.keep(list);
      return this.#foundWhole(list);
    }
    const found: FoundState = {
      environmentId,
      revision,
      revisionId,
      secrets: whole.map(({ key, valueBytes: bytes }) => ({ key, bytes })),
      destroyed,
      deletedSince: isAsked ? await this.#deletedSince(environmentId, revision, whole) : [],
    };
    this.#contents.set(found, new Map(whole.map((secret) => [secret.key, contentOf(secret)])));
    return found;
  }

  async #deletedSince(
    environmentId: string,
    revision: number,
    secrets: readonly SizedSecret[],
  ): Promise<readonly string[]> {
    const deleted = await keysDeletedSince(this.#deps.database.pool, environmentId, revision);
    return secrets.map(({ key }) => key).filter((key) => deleted.has(key));
  }

  #foundWhole({ environmentId, revision, revisionId, secrets }: SecretList): FoundState {
    const sized = secrets.map(({ key, value }) => ({ key, bytes: Buffer.byteLength(value.reveal()) }));
    const found: FoundState = { environmentId, revision, revisionId, secrets: sized, destroyed: [], deletedSince: [] };
    this.#contents.set(found, new Map(secrets.map(({ key, value }) => [key, { value }])));
    return found;
  }

  async #openAll(access: ReadingAccess, secrets: readonly SizedSecret[]): Promise<SecretValue[]> {
    const open = await this.#opener(access, secrets);
    return secrets.map((secret) => {
      const { key, version, updatedAt, ciphertext } = secret;
      return { key, value: open({ ...secret, ciphertext: ciphertext ?? Buffer.of() }), version, updatedAt };
    });
  }

  async #open(
    access: ReadingAccess,
    contents: ReadonlyMap<string, Content>,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, Plaintext>> {
    const wanted = new Map(
      keys.map((key) => {
        const content = contents.get(key);
        if (content === undefined) throw new Error('a key is read that was not found');
        return [key, content] as const;
      }),
    );
    const versionIds = [...wanted.values()].flatMap((content) => ('versionId' in content ? [content.versionId] : []));
    const { pool } = this.#deps.database;
    const fetched = versionIds.length === 0 ? [] : await listVersions(pool, access.environmentId, versionIds);
    const byId = new Map(fetched.map((version) => [version.versionId, version]));
    const inline = [...wanted.values()].flatMap((content) => ('sealed' in content ? [content.sealed] : []));
    const open = await this.#opener(access, [...inline, ...fetched]);
    return new Map(
      [...wanted].map(([key, content]) => {
        if ('value' in content) return [key, content.value];
        const sealed = 'sealed' in content ? content.sealed : byId.get(content.versionId);
        if (sealed === undefined) throw goneMeanwhile();
        return [key, open(sealed)];
      }),
    );
  }

  async #opener(
    { organizationId, projectId, environmentId }: ReadingAccess,
    sealed: readonly Pick<SealedVersion, 'dataKeyId'>[],
  ): Promise<(one: Pick<SealedVersion, 'secretId' | 'ciphertext' | 'dataKeyId'>) => Plaintext> {
    const opener = await this.#deps.keyring.opener(new Set(sealed.map(({ dataKeyId }) => dataKeyId)));
    return ({ secretId, ciphertext, dataKeyId }) =>
      opener.open({ organizationId, projectId, environmentId, secretId }, { ciphertext, dataKeyId });
  }
}

function isSmall(secrets: readonly SizedSecret[]): boolean {
  return secrets.length <= smallStateKeys && secrets.every(({ ciphertext }) => ciphertext !== null);
}

function contentOf({ secretId, versionId, ciphertext, dataKeyId }: SizedSecret): Content {
  return ciphertext === null ? { versionId } : { sealed: { secretId, versionId, ciphertext, dataKeyId } };
}

function goneMeanwhile(): DomainError {
  return new DomainError('conflict', 'the environment was changed while it was read; try again');
}
