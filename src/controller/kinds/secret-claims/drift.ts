import { otherManagers } from '../../../kube/client/managed-fields.ts';
import type { ObjectMeta } from '../../../kube/client/objects.ts';

/** What other clients did to a Secret since the controller wrote or verified it. Pure; no value leaves this file. */

/** What a Secret holds, without values. */
export interface HeldContent {
  readonly type: string;
  /** Names of its keys. */
  readonly keys: readonly string[];
  /** Keyed digest of its data. */
  readonly fingerprint: Buffer;
}

/** What was observed of a Secret. */
export interface FoundContent extends HeldContent {
  readonly metadata: ObjectMeta;
  readonly isImmutable: boolean;
  /** Whether labels, annotations or owner references that it must have are missing or changed. */
  readonly isMetadataChanged: boolean;
}

export interface Drift {
  readonly isDeleted: boolean;
  readonly isImmutable: boolean;
  readonly isTypeChanged: boolean;
  readonly isMetadataChanged: boolean;
  /** Keys that are missing. */
  readonly removed: readonly string[];
  /** Keys that other field managers hold, which may have the wanted value nevertheless. */
  readonly held: readonly string[];
  readonly managers: ReturnType<typeof otherManagers>;
}

export const deletion: Drift = {
  isDeleted: true,
  isImmutable: false,
  isTypeChanged: false,
  isMetadataChanged: false,
  removed: [],
  held: [],
  managers: [],
};

/** The drift of a Secret that must hold what the controller knows of it; undefined if no other client changed it. */
export function driftOf(expected: HeldContent, found: FoundContent): Drift | undefined {
  const { isImmutable, isMetadataChanged, keys } = found;
  const isTypeChanged = found.type !== expected.type;
  const isDataChanged = !found.fingerprint.equals(expected.fingerprint);
  const present = new Set(keys);
  const removed = isDataChanged ? expected.keys.filter((key) => !present.has(key)) : [];
  const managers = otherManagers(found.metadata);
  const held = isDataChanged ? keys.filter((key) => managers.some((manager) => manager.keys.has(key))) : [];
  // If only this program holds the data, it wrote it: another process of it, or a write whose response was lost.
  const isOthers = isImmutable || isTypeChanged || isMetadataChanged || removed.length > 0 || held.length > 0;
  return isOthers
    ? { isDeleted: false, isImmutable, isTypeChanged, isMetadataChanged, removed, held, managers }
    : undefined;
}

/** What a write has repaired. */
export interface Repair extends Pick<
  Drift,
  'isDeleted' | 'isImmutable' | 'isTypeChanged' | 'isMetadataChanged' | 'removed'
> {
  /** Keys that others had added, or whose values they had changed. */
  readonly changed: readonly string[];
  /** The field managers that did it, as far as the Secret shows. */
  readonly managers: readonly string[];
}

/** What a write has repaired of a drift. `isWanted`: whether the Secret held the value that the write gave to a key. */
export function repairOf(drift: Drift, isWanted: (key: string) => boolean): Repair {
  const { managers, held, ...rest } = drift;
  const changed = held.filter((key) => !isWanted(key));
  const did = managers.filter(
    ({ keys, fields }) =>
      changed.some((key) => keys.has(key)) ||
      (drift.isImmutable && fields.has('immutable')) ||
      (drift.isTypeChanged && fields.has('type')),
  );
  return { ...rest, changed, managers: [...new Set(did.map(({ name }) => name))].toSorted() };
}
