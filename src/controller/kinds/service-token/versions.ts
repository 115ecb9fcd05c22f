import type { ServiceToken } from '../../generated/service-token.ts';

/** What tells one state of a ServiceToken from another, for those who read with its token. Pure. */

/** What a ServiceToken asks for, and whose it is. */
export function specVersionOf(token: ServiceToken | undefined): string {
  if (token === undefined) return 'absent';
  const { uid, generation, deletionTimestamp, ownerReferences = [] } = token.metadata;
  const controller = ownerReferences.find((owner) => owner.controller === true);
  return JSON.stringify([uid, generation, deletionTimestamp !== undefined, controller?.uid, controller?.name]);
}

/** What a ServiceToken's status reports. */
export function statusVersionOf(token: ServiceToken | undefined): string {
  const { serial, conditions } = token?.status ?? {};
  const ready = conditions?.find(({ type }) => type === 'Ready');
  return JSON.stringify([serial, ready?.status, ready?.reason, ready?.message, ready?.observedGeneration]);
}

/** What several ServiceTokens ask for. */
export function specVersionsOf(tokens: readonly ServiceToken[]): string {
  return JSON.stringify(tokens.map(specVersionOf));
}
