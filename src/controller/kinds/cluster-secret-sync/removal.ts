import { shortDigest } from '../../names.ts';
import type { ClusterSecretSyncStatus } from '../../generated/cluster-secret-sync.ts';
import type { Plan } from './plan.ts';

/** Whether SecretSyncs may be removed from namespaces that are no longer selected. Pure. */

/** A removal that was consented to, as the status keeps it. */
export type RemovalRecord = NonNullable<ClusterSecretSyncStatus['removal']>;

export type RemovalVerdict =
  /** There is nothing to remove, or no more than the limit allows. */
  | { readonly verdict: 'allowed' }
  /** Allowed, but more namespaces may follow: the removal is judged again after this time. */
  | { readonly verdict: 'settling'; readonly waitMs: number }
  /** Allowed by a consent, which stays valid during the removal. It is recorded before the removal begins. */
  | { readonly verdict: 'consented'; readonly record: RemovalRecord }
  | { readonly verdict: 'blocked'; readonly digest: string };

export interface RemovalTerms {
  readonly limit: number | string;
  /** The digest that the annotation names. */
  readonly consent: string | undefined;
  /** What the status keeps of a removal in progress. */
  readonly record: RemovalRecord | undefined;
  /** The consent to the last, finished removal. It is part of the next digest, so each consent is valid once. */
  readonly usedConsent: string | undefined;
}

// A share of one or two namespaces is meaningless: one of them would be half.
const minForShare = 3;

/** Judges the removals of a plan. An empty selection always needs a consent. */
export function judgeRemoval(
  { lost, owned, selected }: Pick<Plan, 'lost' | 'owned' | 'selected'>,
  { limit, consent, record, usedConsent = '' }: RemovalTerms,
): RemovalVerdict {
  const isEmptied = selected.length === 0;
  if (lost.length === 0 || (!isEmptied && lost.length <= maxRemovals(owned, limit))) return { verdict: 'allowed' };
  const digest = digestOf([...lost, usedConsent]);
  const selection = digestOf(selected);
  if (consent === digest) return { verdict: 'consented', record: { consent, selection } };
  // Part of it is done. Nothing was added: that would have changed the selection.
  const isUnderWay = consent !== undefined && record?.consent === consent && record.selection === selection;
  return isUnderWay ? { verdict: 'consented', record } : { verdict: 'blocked', digest };
}

function maxRemovals(owned: number, limit: number | string): number {
  if (typeof limit === 'number') return limit;
  return owned < minForShare ? owned : (owned * Number.parseInt(limit, 10)) / 100;
}

/** Identifies a set of namespaces, which must be sorted by name. */
function digestOf(namespaces: readonly string[]): string {
  return shortDigest(namespaces.map((name) => `${name}\n`).join(''));
}
