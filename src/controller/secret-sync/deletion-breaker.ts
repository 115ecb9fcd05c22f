import { createHash } from 'node:crypto';

/** What of a target and its environment tells which keys vanish. */
export interface KeyChange {
  /** The keys that the Secret has now and that are this SecretSync's. */
  readonly present: readonly string[];
  /** The keys that it shall have. */
  readonly wanted: ReadonlySet<string>;
  /** All keys of the environment, chosen or not. */
  readonly environmentKeys: ReadonlySet<string>;
  /** From which key of the environment a key of the Secret came, where the two differ. */
  readonly renamed: ReadonlyMap<string, string>;
  /** Keys of the Secret that no key of the environment gave: only the spec takes them away. */
  readonly composed: ReadonlySet<string>;
}

/** Keys that must not vanish without consent. */
export interface BlockedDeletion {
  /** Sorted. */
  readonly keys: readonly string[];
  /** How many keys the Secret has. */
  readonly of: number;
  /** What the consent must name. */
  readonly digest: string;
}

// A share of one or two keys says nothing: the deletion of one key would be half of them.
const leastForShare = 3;

/**
 * The keys whose loss a limit forbids; undefined where it does not. A key vanishes where the environment has lost it: one
 * that the environment still has, and the spec no longer chooses or names otherwise, is taken away on purpose. `limit` is
 * a number of keys or, as `50%`, a share of the Secret's keys; a share counts from three keys up.
 */
export function blockedDeletion(change: KeyChange, limit: number | string): BlockedDeletion | undefined {
  const { present, wanted, environmentKeys, renamed, composed } = change;
  const keys = present
    .filter((key) => !wanted.has(key) && !composed.has(key) && !environmentKeys.has(renamed.get(key) ?? key))
    .toSorted((a, b) => (a < b ? -1 : 1));
  return keys.length > mostKeys(present.length, limit)
    ? { keys, of: present.length, digest: digestOf(keys) }
    : undefined;
}

/** How many of a Secret's keys may vanish at once. */
function mostKeys(count: number, limit: number | string): number {
  if (typeof limit === 'number') return limit;
  return count < leastForShare ? count : (count * Number.parseInt(limit, 10)) / 100;
}

/** Tells one set of keys from another: the first 16 bytes, in hex, of SHA-256 over the sorted keys, each ended by a line break. */
function digestOf(keys: readonly string[]): string {
  const hash = createHash('sha256');
  for (const key of keys) hash.update(`${key}\n`);
  return hash.digest('hex').slice(0, 32);
}
