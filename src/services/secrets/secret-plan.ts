import { DomainError } from '../../domain/errors/domain-error.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { versionsDestroyed } from './destroyed-versions.ts';
import type { NewVersion, SealedContent, SecretChange, StoredSecret, StoredVersion } from '../../store/secrets.ts';

/** The change of one key that a caller asks for. */
export type WantedChange =
  | {
      readonly kind: 'set';
      readonly value: Plaintext;
      readonly expectedVersion?: number;
      /** The server generated the value. It becomes a version, whatever value the key has. */
      readonly isGenerated?: true;
    }
  | {
      readonly kind: 'roll_back';
      readonly targetVersion: number;
      /** Also restores the key if it is deleted. */
      readonly undelete?: boolean;
      readonly expectedVersion?: number;
    }
  | { readonly kind: 'delete' };

export type WantedChanges = ReadonlyMap<string, WantedChange>;

/** What the plan is made from; read under the environment's lock. */
export interface PlanInput {
  readonly wanted: WantedChanges;
  /** The keys that exist or once did. */
  readonly stored: ReadonlyMap<string, StoredSecret>;
  /** The version that each key is to be rolled back to, if it exists. */
  readonly targets: ReadonlyMap<string, StoredVersion>;
  /** Leaves out a `set` whose value the key has already. */
  readonly skipUnchanged: boolean;
  readonly isUnchanged: (secret: StoredSecret, value: Plaintext) => boolean;
  readonly seal: (key: string, secretId: string, value: Plaintext) => SealedContent;
  /** The UUID for a key that never existed. */
  readonly newSecretId: (key: string) => string;
  readonly newVersionId: () => string;
}

/** What a write does, and by how much the environment grows by it. */
export interface Plan {
  readonly changes: readonly SecretChange[];
  readonly unchanged: readonly string[];
  readonly growth: { readonly secrets: number; readonly bytes: number };
}

const namesShown = 20;

/**
 * Plans the changes of one write, in time slices. A key that was deleted continues its version numbers. Throws
 * DomainError not_found naming the keys to delete or to roll back that do not exist, or the version to roll back to;
 * secret_deleted for the rollback of a deleted key that is not to undelete it, version_destroyed for one to a version without a value;
 * version_mismatch if an expected version is not the current one.
 */
export async function planWrite(input: PlanInput): Promise<Plan> {
  refuseAbsent(input);
  const slice = new TimeSlice();
  const changes: SecretChange[] = [];
  const unchanged: string[] = [];
  const growth = { secrets: 0, bytes: 0 };
  for (const [key, change] of input.wanted) {
    if (slice.isOver) await slice.next();
    const secret = input.stored.get(key);
    const live = secret === undefined || secret.isDeleted ? undefined : secret;
    const step = planKey(input, { key, change, secret, live });
    if (step === 'unchanged') {
      unchanged.push(key);
      continue;
    }
    changes.push(step.change);
    growth.secrets += Number(step.change.kind === 'version') - Number(live !== undefined);
    growth.bytes += step.valueBytes - (live?.valueBytes ?? 0);
  }
  return { changes, unchanged, growth };
}

interface KeyState {
  readonly key: string;
  readonly change: WantedChange;
  /** The key's secret if it ever existed. */
  readonly secret: StoredSecret | undefined;
  /** The same if it is not deleted. */
  readonly live: StoredSecret | undefined;
}

interface Step {
  readonly change: SecretChange;
  /** Bytes of the key's value afterwards. */
  readonly valueBytes: number;
}

function planKey(input: PlanInput, state: KeyState): Step | 'unchanged' {
  const { key, change, secret, live } = state;
  if (change.kind === 'set') {
    checkExpected(key, live, change.expectedVersion);
    const maySkip = input.skipUnchanged && change.isGenerated !== true;
    if (maySkip && live !== undefined && input.isUnchanged(live, change.value)) return 'unchanged';
    const secretId = secret?.secretId ?? input.newSecretId(key);
    const content = input.seal(key, secretId, change.value);
    return { change: versionOf(input, state, { secretId, content }), valueBytes: content.valueBytes };
  }
  if (secret === undefined) throw new Error('a key that is not there was not refused');
  const { secretId } = secret;
  if (change.kind === 'delete') return { change: { kind: 'deletion', secretId, key }, valueBytes: 0 };
  const { versionId, valueBytes } = rollbackTarget(input, state, change);
  return { change: versionOf(input, state, { secretId, content: { copiedVersionId: versionId } }), valueBytes };
}

function versionOf(
  { newVersionId }: PlanInput,
  { key, change, secret, live }: KeyState,
  made: Pick<NewVersion, 'secretId' | 'content'>,
): NewVersion {
  const written = live === undefined ? 'created' : 'updated';
  const changeType = change.kind === 'roll_back' ? 'rolled_back' : written;
  return { kind: 'version', key, versionId: newVersionId(), version: (secret?.version ?? 0) + 1, changeType, ...made };
}

function rollbackTarget(
  { targets }: PlanInput,
  { key, live }: KeyState,
  { targetVersion, undelete = false, expectedVersion }: Extract<WantedChange, { kind: 'roll_back' }>,
): StoredVersion {
  if (live === undefined && !undelete) {
    throw new DomainError(
      'secret_deleted',
      `secret ${key} is deleted; only with undelete does a rollback restore it, with the value of version ${targetVersion}`,
    );
  }
  checkExpected(key, live, expectedVersion);
  const target = targets.get(key);
  if (target === undefined) throw new DomainError('not_found', `secret ${key} has no version ${targetVersion}`);
  if (target.isDestroyed) throw versionsDestroyed([{ key, version: targetVersion }]);
  return target;
}

/** Refuses to delete keys that do not exist and to roll back keys that never did, naming all of them. */
function refuseAbsent({ wanted, stored }: PlanInput): void {
  const absent: string[] = [];
  for (const [key, { kind }] of wanted) {
    const secret = stored.get(key);
    if (kind === 'delete' ? (secret?.isDeleted ?? true) : kind === 'roll_back' && secret === undefined)
      absent.push(key);
  }
  if (absent.length > 0) throw absentSecrets(absent);
}

function checkExpected(key: string, live: StoredSecret | undefined, expected: number | undefined): void {
  const current = live?.version ?? 0;
  if (expected === undefined || expected === current) return;
  throw new DomainError(
    'version_mismatch',
    current === 0
      ? `secret ${key} does not exist, so it is not at version ${expected}`
      : `secret ${key} ${expected === 0 ? 'exists already' : `is not at version ${expected}`}: it is at version ${current}`,
  );
}

/** DomainError not_found for keys of an environment. */
export function absentSecrets(keys: readonly string[]): DomainError {
  const shown = keys.slice(0, namesShown).join(', ');
  const more = keys.length > namesShown ? ` and ${keys.length - namesShown} more` : '';
  const detail = keys.length === 1 ? `secret ${shown} does not exist` : `secrets ${shown}${more} do not exist`;
  return new DomainError('not_found', `${detail} in this environment`);
}
