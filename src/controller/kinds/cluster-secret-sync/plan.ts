import type { ClusterSecretSync } from '../../generated/cluster-secret-sync.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import { ownershipOf, readinessOf } from './child.ts';

/** The work for a ClusterSecretSync, and the state of its namespaces. Pure. */

/** An existing namespace that is not being deleted, and that the controller watches. */
export interface NamespaceFacts {
  readonly namespace: string;
  readonly isSelected: boolean;
  /** The SecretSync of the ClusterSecretSync's name. */
  readonly present: SecretSync | undefined;
  /** Why the API server recently refused a write in this namespace, in one word. */
  readonly refusal: string | undefined;
}

/** One write. */
export type Write =
  | { readonly do: 'create'; readonly namespace: string }
  | { readonly do: 'change' | 'remove'; readonly namespace: string; readonly present: SecretSync };

export interface Failing {
  readonly namespace: string;
  /** CamelCase. */
  readonly reason: string;
}

export interface Plan {
  /** Writes that make the SecretSyncs of the selected namespaces match the template. */
  readonly writes: readonly Write[];
  /** Namespaces with a SecretSync of the ClusterSecretSync that are no longer selected, sorted by name. */
  readonly lost: readonly string[];
  /** Writes that remove these SecretSyncs. */
  readonly removals: readonly Write[];
  /** The selected namespaces, sorted by name. */
  readonly selected: readonly string[];
  /** How many namespaces have a SecretSync that the ClusterSecretSync created. */
  readonly owned: number;
  readonly ready: number;
  /** Selected namespaces in which no SecretSync can be written. */
  readonly blocked: readonly Failing[];
  /** The blocked namespaces and those whose SecretSync is not ready, sorted by name. */
  readonly failing: readonly Failing[];
}

/** Whether a SecretSync matches the template. The result may be cached. */
export type Fits = (present: SecretSync) => boolean;

/** Plans the work. The facts must be sorted by namespace. */
export function planFor(parent: ClusterSecretSync, facts: readonly NamespaceFacts[], fits: Fits): Plan {
  const assessments = facts.map((fact) => ({ fact, ...assess(parent, fact, fits) }));
  const writes = assessments.flatMap(({ write }) => (write === undefined || write.do === 'remove' ? [] : [write]));
  const blocked = assessments.flatMap(({ failing, isBlocked }) =>
    failing !== undefined && isBlocked ? [failing] : [],
  );
  return {
    writes,
    lost: assessments.filter(({ isLost }) => isLost).map(({ fact }) => fact.namespace),
    removals: assessments.flatMap(({ write }) => (write?.do === 'remove' ? [write] : [])),
    selected: facts.filter(({ isSelected }) => isSelected).map(({ namespace }) => namespace),
    owned: assessments.filter(({ isOwned }) => isOwned).length,
    ready: assessments.filter(({ isReady }) => isReady).length,
    blocked,
    failing: assessments.flatMap(({ failing }) => failing ?? []),
  };
}

interface Assessment {
  readonly write?: Write;
  readonly failing?: Failing;
  readonly isBlocked?: boolean;
  readonly isReady?: boolean;
  readonly isOwned?: boolean;
  readonly isLost?: boolean;
}

function assess(parent: ClusterSecretSync, fact: NamespaceFacts, fits: Fits): Assessment {
  const { namespace, present } = fact;
  if (present === undefined) return fact.isSelected ? writeUnlessRefused(fact, { do: 'create', namespace }) : {};
  // Once it is gone, the name is free.
  if (present.metadata.deletionTimestamp !== undefined) return {};
  const ownership = ownershipOf(parent, present);
  const isOwned = ownership === 'own';
  if (!fact.isSelected) return isOwned ? { isOwned, ...assessLost(fact, present) } : {};
  if (ownership === 'unmanaged') return { failing: { namespace, reason: 'Conflict' }, isBlocked: true };
  const change = { do: 'change', namespace, present } as const;
  return { isOwned, ...(fits(present) ? assessFitting(fact, present) : writeUnlessRefused(fact, change)) };
}

function writeUnlessRefused({ namespace, refusal }: NamespaceFacts, write: Write): Assessment {
  return refusal === undefined ? { write } : { failing: { namespace, reason: refusal }, isBlocked: true };
}

function assessLost({ namespace, refusal }: NamespaceFacts, present: SecretSync): Assessment {
  return { isLost: true, ...(refusal === undefined ? { write: { do: 'remove', namespace, present } } : {}) };
}

function assessFitting({ namespace }: NamespaceFacts, present: SecretSync): Assessment {
  const readiness = readinessOf(present);
  if (readiness === undefined) return {};
  return readiness.isReady ? { isReady: true } : { failing: { namespace, reason: readiness.reason } };
}
