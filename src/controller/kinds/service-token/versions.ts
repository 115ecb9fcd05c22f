import type { ServiceToken } from '../../generated/service-token.ts';

/** What tells one state of a ServiceToken from another, for those who read with its token. Pure. */

/** What a ServiceToken asks for. */
export function specVersionOf(token: ServiceToken | undefined): string {
  if (token === undefined) return 'absent';
  const { uid, generation, deletionTimestamp } = token.metadata;
  return JSON.stringify([uid, generation, deletionTimestamp !== undefined]);
}

/** What a ServiceToken's status reports. */
export function statusVersionOf(token: ServiceToken | undefined): string {
  const { serial, conditions } = token?.status ?? {};
  const ready = conditions?.find(({ type }) => type === 'Ready');
  return JSON.stringify([serial, ready?.status, ready?.reason, ready?.message, ready?.observedGeneration]);
}
