import type { ClusterSecretSync } from '../../generated/cluster-secret-sync.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import { ownershipOf, readinessOf } from './child.ts';

/** What is to be done for a ClusterSecretSync, and how its namespaces stand. Pure. */

/** An existing namespace that is not being deleted, and that the controller watches. */
export interface NamespaceFacts {
  readonly namespace: string;
  readonly isSelected: boolean;
  /** The SecretSync of the ClusterSecretSync's name. */
  readonly present: SecretSync | undefined;
  /** Why the API server did not take a write in this namespace a moment ago, in one word. */
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
  /** What makes the SecretSyncs of the selected namespaces as the template says. */
  readonly writes: readonly Write[];
  /** The namespaces that have a SecretSync of the ClusterSecretSync and are selected no more, in the order of their names. */
  readonly lost: readonly string[];
  /** What removes these SecretSyncs. */
  readonly removals: readonly Write[];
  /** The selected namespaces, in the order of their names. */
  readonly selected: readonly string[];
  /** How many namespaces have a SecretSync that the ClusterSecretSync has made. */
  readonly owned: number;
  readonly ready: number;
  /** Selected namespaces in which nothing can be done. */
  readonly blocked: readonly Failing[];
  /** Those, and the ones whose SecretSync is not ready; in the order of their names. */
  readonly failing: readonly Failing[];
}

/** How a SecretSync differs from the template; the answer may be remembered. */
export type Fits = (present: SecretSync) => boolean;

/** Plans what is to be done. The facts come in the order of the namespaces' names. */
export function planFor(parent: ClusterSecretSync, facts: readonly NamespaceFacts[], fits: Fits): Plan {
  const standings = facts.map((fact) => ({ fact, ...standingOf(parent, fact, fits) }));
  const writes = standings.flatMap(({ write }) => (write === undefined || write.do === 'remove' ? [] : [write]));
  const blocked = standings.flatMap(({ failing, isBlocked }) => (failing !== undefined && isBlocked ? [failing] : []));
  return {
    writes,
    lost: standings.filter(({ isLost }) => isLost).map(({ fact }) => fact.namespace),
    removals: standings.flatMap(({ write }) => (write?.do === 'remove' ? [write] : [])),
    selected: facts.filter(({ isSelected }) => isSelected).map(({ namespace }) => namespace),
    owned: standings.filter(({ isOwned }) => isOwned).length,
    ready: standings.filter(({ isReady }) => isReady).length,
    blocked,
    failing: standings.flatMap(({ failing }) => failing ?? []),
  };
}

interface Standing {
  readonly write?: Write;
  readonly failing?: Failing;
  readonly isBlocked?: boolean;
  readonly isReady?: boolean;
  readonly isOwned?: boolean;
  readonly isLost?: boolean;
}

function standingOf(parent: ClusterSecretSync, fact: NamespaceFacts, fits: Fits): Standing {
  const { namespace, present } = fact;
  if (present === undefined) return fact.isSelected ? writeUnlessRefused(fact, { do: 'create', namespace }) : {};
  // Its end frees the name.
  if (present.metadata.deletionTimestamp !== undefined) return {};
  const ownership = ownershipOf(parent, present);
  const isOwned = ownership === 'own';
  if (!fact.isSelected) return isOwned ? { isOwned, ...lostStanding(fact, present) } : {};
  if (ownership === 'foreign') return { failing: { namespace, reason: 'Conflict' }, isBlocked: true };
  const change = { do: 'change', namespace, present } as const;
  return { isOwned, ...(fits(present) ? fittingStanding(fact, present) : writeUnlessRefused(fact, change)) };
}

function writeUnlessRefused({ namespace, refusal }: NamespaceFacts, write: Write): Standing {
  return refusal === undefined ? { write } : { failing: { namespace, reason: refusal }, isBlocked: true };
}

function lostStanding({ namespace, refusal }: NamespaceFacts, present: SecretSync): Standing {
  return { isLost: true, ...(refusal === undefined ? { write: { do: 'remove', namespace, present } } : {}) };
}

function fittingStanding({ namespace }: NamespaceFacts, present: SecretSync): Standing {
  const readiness = readinessOf(present);
  if (readiness === undefined) return {};
  return readiness.isReady ? { isReady: true } : { failing: { namespace, reason: readiness.reason } };
}
