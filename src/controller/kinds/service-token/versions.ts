import type { ServiceToken } from '../../generated/service-token.ts';

/** Versions of a ServiceToken, for the kinds that read with its token. Pure functions. */

/** Identifies the request of a ServiceToken. */
export function specVersionOf(token: ServiceToken | undefined): string {
  if (token === undefined) return 'absent';
  const { uid, generation, deletionTimestamp } = token.metadata;
  return JSON.stringify([uid, generation, deletionTimestamp !== undefined]);
}

/** Identifies the state that a ServiceToken's status reports. */
export function statusVersionOf(token: ServiceToken | undefined): string {
  const { serial, conditions } = token?.status ?? {};
  const ready = conditions?.find(({ type }) => type === 'Ready');
  return JSON.stringify([serial, ready?.status, ready?.reason, ready?.message, ready?.observedGeneration]);
}
