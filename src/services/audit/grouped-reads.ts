import type { AuditedSecretSync, AuditRecord, AuditTarget } from '../../store/audit.ts';

/** A SecretSync for which a value is read; `source` is the name of its source, if that has one. */
interface AuditedReader {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly source: string | undefined;
}

/** What the target of a record says of the SecretSync that reads. */
export function readerTarget({ namespace, name, uid, source }: AuditedReader): AuditTarget {
  const target = { secretSync: `${namespace}/${name}`, secretSyncUid: uid };
  return source === undefined ? target : { ...target, source };
}

/** How many SecretSyncs one entry names at most. */
export const maxSecretSyncs = 100;

interface Read {
  readonly secretSync: AuditedSecretSync;
  /** The target without the SecretSync. */
  readonly target: AuditTarget;
  /** Equal for reads that differ only in their SecretSync and their request. */
  readonly key: string;
}

interface Group {
  /** The first of them. */
  readonly record: AuditRecord;
  readonly target: AuditTarget;
  readonly secretSyncs: AuditedSecretSync[];
}

/**
 * The entries for these records, in the order of their first records. Reads of SecretSyncs that are alike in everything
 * else, such as the token, the revision and the outcome, become one entry that names them all with their requests. Every
 * other record, and a read that is alike no other, stays as it is.
 */
export function groupReads(records: readonly AuditRecord[]): AuditRecord[] {
  const groups: Group[] = [];
  const open = new Map<string, Group>();
  for (const record of records) {
    const read = readOf(record);
    const known = read && open.get(read.key);
    if (read !== undefined && known !== undefined && known.secretSyncs.length < maxSecretSyncs) {
      known.secretSyncs.push(read.secretSync);
      continue;
    }
    const group = { record, target: read?.target ?? record.target, secretSyncs: read ? [read.secretSync] : [] };
    groups.push(group);
    if (read !== undefined) open.set(read.key, group);
  }
  return groups.map(entryOf);
}

function entryOf({ record, target, secretSyncs }: Group): AuditRecord {
  return secretSyncs.length > 1 ? { ...record, target: { ...target, secretSyncs } } : record;
}

/** Undefined for a record that names no SecretSync. */
function readOf({ requestId, target, ...shared }: AuditRecord): Read | undefined {
  const { secretSync: name, secretSyncUid: uid, source, ...place } = target;
  if (typeof name !== 'string' || typeof uid !== 'string') return undefined;
  const named = { name, uid, requestId };
  return {
    secretSync: typeof source === 'string' ? { ...named, source } : named,
    target: place,
    key: JSON.stringify([shared, place]),
  };
}
