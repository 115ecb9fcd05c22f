import { randomUUID } from 'node:crypto';
import type { Keyring } from '../../../crypto/keyring.ts';
import { DomainError } from '../../../domain/errors/domain-error.ts';
import { type KeySelection, selectionTest } from '../../../domain/key-globs.ts';
import type { Plaintext } from '../../../domain/plaintext.ts';
import { type CopyAction, type CopyFacts, type CopyMode, planCopy } from '../../../domain/plans/copy.ts';
import type { KeyVersion, Plan, PresentKey } from '../../../domain/plans/plan.ts';
import { mapInSlices } from '../../../lib/time-slice.ts';
import { type DestinationKey, readDestination } from '../../../store/copies.ts';
import type { RevisionIds, RevisionRef } from '../../../store/revisions.ts';
import { readSecrets, type SealedSecret } from '../../../store/secret-reads.ts';
import type { Transaction } from '../../../store/transaction.ts';
import type { EnvironmentAccess } from '../../access/access.ts';
import { absentRevision } from '../secret-selection.ts';

/** Both ends of a copy, each with the right that it needs. */
export interface CopyEnds {
  readonly source: EnvironmentAccess<'secret.list'>;
  readonly destination: EnvironmentAccess<'environment.copy'>;
}

/** What is copied. */
export interface CopySelection {
  readonly mode: CopyMode;
  /** Which keys; all by default. */
  readonly keys?: KeySelection | undefined;
  /** The revision of the source; the newest by default. Required if both ends are one environment. */
  readonly revision?: RevisionRef | undefined;
}

/** What a copy would do at one moment, and the values that it would write. */
export interface PlannedCopy {
  readonly plan: Plan<CopyAction>;
  /** The revision of the source. */
  readonly from: RevisionIds;
  /** The source's values by key. */
  readonly values: ReadonlyMap<string, Plaintext>;
}

/** The ids of keys that the destination never had: the same each time, however often the transaction is repeated. */
export class NewSecretIds {
  readonly #ids = new Map<string, string>();

  of(key: string): string {
    const id = this.#ids.get(key) ?? randomUUID();
    this.#ids.set(key, id);
    return id;
  }
}

export interface CopyReading {
  readonly keyring: Pick<Keyring, 'opener' | 'mac'>;
  readonly newIds: NewSecretIds;
}

/**
 * Reads both environments in one transaction and plans the copy. The caller holds locks of both, or reads one moment.
 * Values are compared by the MAC that they have in the destination. Throws DomainError not_found for a revision that the
 * source does not have, and key_unavailable.
 */
export async function readCopyPlan(
  tx: Transaction,
  { keyring, newIds }: CopyReading,
  ends: CopyEnds,
  { mode, keys, revision }: CopySelection,
): Promise<PlannedCopy> {
  const isSelected = selectionTest(keys);
  const source = await readSecrets(tx, ends.source.environmentId, revision);
  if (source === undefined) throw absentRevision(revision);
  const destination = await readDestination(tx, ends.destination.environmentId);
  if (destination === undefined) throw new DomainError('not_found', 'the environment was deleted meanwhile');
  const present = new Map(
    destination.keys.filter(({ key }) => isSelected(key)).map((secret) => [secret.key, presentOf(secret)]),
  );
  const selected = source.secrets.filter(({ key }) => isSelected(key));
  const values = await openValues(keyring, ends.source, selected);
  const facts: CopyFacts[] = await mapInSlices(selected, (secret) => {
    const known = present.get(secret.key) ?? newKey(secret.key, newIds);
    present.delete(secret.key);
    return {
      present: known,
      source: versionOf(secret, values.get(secret.key), (value) => keyring.mac(known.secretId, value)),
    };
  });
  for (const rest of present.values()) facts.push({ present: rest, source: null });
  const inOrder = facts.toSorted((a, b) => (a.present.key < b.present.key ? -1 : 1));
  const { revision: number, revisionId } = destination;
  return {
    plan: { revision: number, revisionId, keys: planCopy(inOrder, mode) },
    from: { revision: source.revision, revisionId: source.revisionId },
    values,
  };
}

async function openValues(
  keyring: CopyReading['keyring'],
  { organizationId, projectId, environmentId }: CopyEnds['source'],
  secrets: readonly SealedSecret[],
): Promise<Map<string, Plaintext>> {
  const readable = secrets.filter(({ isDestroyed }) => isDestroyed !== true);
  const opener = await keyring.opener(readable.map(({ dataKeyId }) => dataKeyId));
  const opened = await mapInSlices(readable, ({ key, secretId, ciphertext, dataKeyId }) => {
    const value = opener.open({ organizationId, projectId, environmentId, secretId }, { ciphertext, dataKeyId });
    return [key, value] as const;
  });
  return new Map(opened);
}

function presentOf({ secretId, key, version, versionId, isDeleted, valueMac, valueBytes }: DestinationKey): PresentKey {
  const live = { versionId, version, valueMac, valueBytes, isDestroyed: false };
  return { secretId, key, version, live: isDeleted ? null : live };
}

function newKey(key: string, newIds: NewSecretIds): PresentKey {
  return { secretId: newIds.of(key), key, version: 0, live: null };
}

function versionOf(
  { versionId, version }: SealedSecret,
  value: Plaintext | undefined,
  macOf: (value: string) => Uint8Array,
): KeyVersion {
  if (value === undefined) {
    return { versionId, version, valueMac: new Uint8Array(), valueBytes: 0, isDestroyed: true };
  }
  const text = value.reveal();
  return { versionId, version, valueMac: macOf(text), valueBytes: Buffer.byteLength(text), isDestroyed: false };
}
