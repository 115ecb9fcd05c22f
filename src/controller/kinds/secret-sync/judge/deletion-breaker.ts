import { shortDigest } from '../../../names.ts';
import type { BlockedDeletion } from '../model.ts';

// A share of one or two keys is meaningless: one of them would be half.
const minForShare = 3;

/**
 * The keys whose loss a limit forbids; undefined if it allows the loss. `present` are the SecretSync's keys that the Secret
 * has now. `limit` is a number of keys, or a share such as `50%`, which applies from three keys up.
 */
export function blockedDeletion(
  present: readonly string[],
  isLost: (key: string) => boolean,
  limit: number | string,
): BlockedDeletion | undefined {
  const keys = present.filter(isLost).toSorted((a, b) => (a < b ? -1 : 1));
  return keys.length > maxLosses(present.length, limit)
    ? { keys, of: present.length, digest: digestOf(keys) }
    : undefined;
}

/** How many of a Secret's keys may be lost at once. */
function maxLosses(count: number, limit: number | string): number {
  if (typeof limit === 'number') return limit;
  return count < minForShare ? count : (count * Number.parseInt(limit, 10)) / 100;
}

/** Identifies a set of keys: `shortDigest` of the sorted keys, each followed by a line break. */
function digestOf(keys: readonly string[]): string {
  return shortDigest(keys.map((key) => `${key}\n`).join(''));
}
