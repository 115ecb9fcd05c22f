import { shortDigest } from '../../../names.ts';
import type { BlockedDeletion } from '../model.ts';

// A share of one or two keys says nothing: the deletion of one key would be half of them.
const leastForShare = 3;

/**
 * The keys whose loss a limit forbids; undefined where it does not. `present` are the keys that the Secret has now and that
 * are the SecretSync's; `limit` is a number of keys or, as `50%`, a share of these, which counts from three keys up.
 */
export function blockedDeletion(
  present: readonly string[],
  isLost: (key: string) => boolean,
  limit: number | string,
): BlockedDeletion | undefined {
  const keys = present.filter(isLost).toSorted((a, b) => (a < b ? -1 : 1));
  return keys.length > mostKeys(present.length, limit)
    ? { keys, of: present.length, digest: digestOf(keys) }
    : undefined;
}

/** How many of a Secret's keys may vanish at once. */
function mostKeys(count: number, limit: number | string): number {
  if (typeof limit === 'number') return limit;
  return count < leastForShare ? count : (count * Number.parseInt(limit, 10)) / 100;
}

/** Tells one set of keys from another: `shortDigest` of the sorted keys, each ended by a line break. */
function digestOf(keys: readonly string[]): string {
  return shortDigest(keys.map((key) => `${key}\n`).join(''));
}
