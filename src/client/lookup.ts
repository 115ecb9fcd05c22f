import type { LookupFunction } from 'node:net';

let pending = 0;

/** Looks up the addresses of a host, as `dns.lookup` does, and counts the lookups that have not ended. */
export const lookup: LookupFunction = (host, options, callback) => {
  pending += 1;
  process.getBuiltinModule('node:dns').lookup(host, options, (...result) => {
    pending -= 1;
    callback(...result);
  });
};

/**
 * Whether a lookup has not ended. It cannot be cancelled, takes as long as the name servers do, and keeps the process
 * alive, although nothing needs its result any more.
 */
export function isLookingUp(): boolean {
  return pending > 0;
}
