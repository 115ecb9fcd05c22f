import { shortDigest } from '../../names.ts';
import type { ClusterSecretSyncStatus } from '../../generated/cluster-secret-sync.ts';
import type { Plan } from './plan.ts';

/** Whether SecretSyncs may be removed from the namespaces that are selected no more. Pure. */

/** A removal that was consented to, as the status keeps it. */
export type RemovalRecord = NonNullable<ClusterSecretSyncStatus['removal']>;

export type RemovalVerdict =
  /** Nothing is to be removed, or no more than the limit allows. */
  | { readonly verdict: 'allowed' }
  /** As before, but more namespaces may follow: it is looked at again after this time. */
  | { readonly verdict: 'settling'; readonly waitMs: number }
  /** Allowed by a consent, which goes on holding while the removal is under way: it is recorded before it begins. */
  | { readonly verdict: 'consented'; readonly record: RemovalRecord }
  | { readonly verdict: 'blocked'; readonly digest: string };

export interface RemovalTerms {
  readonly limit: number | string;
  /** The digest that the annotation names. */
  readonly consent: string | undefined;
  /** What the status keeps of a removal under way. */
  readonly record: RemovalRecord | undefined;
  /** The consent to the last removal, which has ended. Part of the next digest: each consent holds once. */
  readonly usedConsent: string | undefined;
}

// A share of one or two namespaces says nothing: one of them would be half.
const minForShare = 3;

/** Judges the removals of a plan. A selection that became empty always needs a consent. */
export function judgeRemoval(
  { lost, owned, selected }: Pick<Plan, 'lost' | 'owned' | 'selected'>,
  { limit, consent, record, usedConsent = '' }: RemovalTerms,
): RemovalVerdict {
  const isEmptied = selected.length === 0;
  if (lost.length === 0 || (!isEmptied && lost.length <= maxRemovals(owned, limit))) return { verdict: 'allowed' };
  const digest = digestOf([...lost, usedConsent]);
  const selection = digestOf(selected);
  if (consent === digest) return { verdict: 'consented', record: { consent, selection } };
  // Some of it is done already. Nothing can have been added: that would have needed another selection.
  const isUnderWay = consent !== undefined && record?.consent === consent && record.selection === selection;
  return isUnderWay ? { verdict: 'consented', record } : { verdict: 'blocked', digest };
}

function maxRemovals(owned: number, limit: number | string): number {
  if (typeof limit === 'number') return limit;
  return owned < minForShare ? owned : (owned * Number.parseInt(limit, 10)) / 100;
}

/** Distinguishes one set of namespaces from another; they come in the order of their names. */
function digestOf(namespaces: readonly string[]): string {
  return shortDigest(namespaces.map((name) => `${name}\n`).join(''));
}
