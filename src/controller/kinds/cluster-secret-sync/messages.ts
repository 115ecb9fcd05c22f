import { allowDeletionAnnotation, clusterSyncLabel } from '../../annotations.ts';
import { shortList } from '../../names.ts';

/** Every sentence that the condition Ready of a ClusterSecretSync contains. Its Events repeat these. */

export const suspended =
  'spec.suspend is true: no SecretSync is created, changed or deleted. Set spec.suspend to false to resume.';

/** The Event DriftRepaired. The namespaces are those of the SecretSyncs, at least one. */
export function childrenRepaired(namespaces: readonly string[]): string {
  return (
    `Another client changed or deleted the SecretSync in ${counted(namespaces.length)} (${shortList(namespaces.toSorted())}). ` +
    'The controller repaired it. Change spec.template of the ClusterSecretSync instead, or add the namespace to spec.excludeNamespaces.'
  );
}

export interface RemovalFacts {
  /** The ClusterSecretSync. */
  readonly name: string;
  /** Namespaces that have one of its SecretSyncs and are no longer selected. */
  readonly lost: readonly string[];
  /** How many namespaces have one of its SecretSyncs. */
  readonly owned: number;
  readonly selected: number;
  /** spec.maxRemovedNamespaces. */
  readonly limit: number | string;
  /** What the consent must name. */
  readonly digest: string;
}

/** A removal that needs the user's consent. */
export function removalBlocked({ name, lost, owned, selected, limit, digest }: RemovalFacts): string {
  const annotate = `kubectl annotate --overwrite clustersecretsyncs.keyframe.dev ${name} ${allowDeletionAnnotation}=${digest}`;
  const cause =
    selected === 0
      ? `The selection is empty, so ${counted(lost.length)} (${shortList(lost)}) would lose the SecretSync.`
      : `${lost.length} of the ${counted(owned)} with a SecretSync are no longer selected (${shortList(lost)}), ` +
        `more than spec.maxRemovedNamespaces (${limit}) allows.`;
  return `${cause} Nothing is removed. Select the namespaces again; or, to allow exactly this removal, run \`${annotate}\`.`;
}

export function removing(lost: number): string {
  return `Removing SecretSyncs from namespaces that are no longer selected (${lost} left).`;
}

export function generating(writes: number, selected: number): string {
  return `Creating or updating SecretSyncs in ${share(writes, selected)}.`;
}

export const noneMatches =
  'No namespace matches spec.namespaceSelector. Label a namespace or change the selector. ' +
  'Namespaces in spec.excludeNamespaces do not count.';

export const noneExists =
  'No namespace in spec.namespaces exists that spec.excludeNamespaces does not exclude. ' +
  'Create one, or correct one of the two lists. The default of spec.excludeNamespaces is kube-*.';

export interface BlockedFacts {
  /** The ClusterSecretSync, and so its SecretSyncs. */
  readonly name: string;
  readonly selected: number;
  /** Namespaces that have another SecretSync of this name. */
  readonly conflicts: readonly string[];
  /** Namespaces in which the API server refused the SecretSync. */
  readonly refused: readonly string[];
}

/** Selected namespaces in which the SecretSync cannot be written. */
export function blocked({ name, selected, conflicts, refused }: BlockedFacts): string {
  const have = conflicts.length === 1 ? 'has' : 'have';
  const conflict =
    `${share(conflicts.length, selected)} already ${have} a SecretSync ${name} that this ClusterSecretSync did not create ` +
    `(${shortList(conflicts)}). Add the namespace to spec.excludeNamespaces, or label that SecretSync with ${clusterSyncLabel}=${name} to hand it over. ` +
    'One that has a controller among its owner references stays with that controller.';
  const refusal =
    `The API server refused the SecretSync in ${share(refused.length, selected)} (${shortList(refused)}); the controller retries ` +
    "every minute. Check the namespace's quotas and admission policies, and the controller's RBAC.";
  return [...(conflicts.length > 0 ? [conflict] : []), ...(refused.length > 0 ? [refusal] : [])].join(' ');
}

export interface NotReadyFacts {
  readonly name: string;
  readonly selected: number;
  /** The namespaces whose SecretSync is not ready; at least one. */
  readonly failing: readonly string[];
}

export function notReady({ name, selected, failing }: NotReadyFacts): string {
  return (
    `The SecretSyncs in ${share(failing.length, selected)} are not ready (${shortList(failing)}). ` +
    `To see why, run \`kubectl describe secretsyncs.keyframe.dev -n ${failing[0] ?? ''} ${name}\`.`
  );
}

export function syncing(ready: number, selected: number): string {
  return `SecretSyncs are ready in ${share(ready, selected)}; the others have not reported yet.`;
}

export function synced(selected: number): string {
  return selected === 1
    ? 'The SecretSync in 1 namespace is ready.'
    : `The SecretSyncs in ${selected} namespaces are ready.`;
}

/** Follows any of the others. */
export function unwatched(count: number): string {
  const are = count === 1 ? 'is' : 'are';
  return `${counted(count)} more ${are} selected, but this controller does not watch ${count === 1 ? 'it' : 'them'} (KEYFRAME_WATCH_NAMESPACES).`;
}

function share(count: number, selected: number): string {
  return `${count} of ${selected} namespaces`;
}

function counted(count: number): string {
  return count === 1 ? '1 namespace' : `${count} namespaces`;
}
