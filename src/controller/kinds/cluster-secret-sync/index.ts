import { clusterSecretSyncKind } from '../../../kube/client/keyframe-kinds.ts';
import { type KubeObject, objectKey, parseObjectKey } from '../../../kube/client/objects.ts';
import { allowDeletionAnnotation } from '../../annotations.ts';
import { KindController } from '../../frame/kind-controller.ts';
import type { KindContext, ManagedKind } from '../../frame/managed-kind.ts';
import type { NamedWatch } from '../../frame/named-watch.ts';
import type { NamespaceState } from '../../frame/namespaces.ts';
import { standardOutcomes } from '../../frame/standard-outcomes.ts';
import { WakeThrottle } from '../../frame/wake-throttle.ts';
import type { ClusterSecretSync } from '../../generated/cluster-secret-sync.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import { readinessOf } from './child.ts';
import { Children } from './children.ts';
import { ClusterSyncReconciler } from './reconcile.ts';
import { Refusals } from './refusals.ts';
import { isSelected } from './selection.ts';

export interface ClusterSecretSyncDeps {
  readonly context: KindContext;
  /** The watch of the SecretSyncs. */
  readonly secretSyncWatch: NamedWatch;
}

// Its SecretSyncs may change all at once.
const wakeIntervalMs = 1000;

/** Makes the SecretSyncs of all ClusterSecretSyncs, in the namespaces that they select. */
export function registerClusterSecretSync({ context, secretSyncWatch }: ClusterSecretSyncDeps): ManagedKind {
  const { kube: client, clock, namespaces, watchNamespaces } = context;
  const children = new Children(secretSyncWatch.group, clock);
  const refusals = new Refusals(clock);
  const reconciler: ClusterSyncReconciler = new ClusterSyncReconciler({
    client,
    clock,
    namespaces,
    watchNamespaces,
    children,
    refusals,
    recordedRemoval: (key) => (kind.watch.group.get(key) as ClusterSecretSync | undefined)?.status?.removal,
  });
  const kind: KindController<ClusterSecretSync> = new KindController<ClusterSecretSync>(
    context,
    {
      kind: clusterSecretSyncKind,
      plural: 'ClusterSecretSyncs',
      isNamespaced: false,
      action: 'Generate',
      // A SecretSync or a namespace that was not seen yet looks like one that does not exist.
      needs: () => [namespaces.watch, secretSyncWatch],
      requestAnnotations: [allowDeletionAnnotation],
      ...standardOutcomes<ClusterSecretSync>(),
      suspended: (reconciled) => Promise.resolve(reconciler.suspended(reconciled)),
      reconcile: async (reconciled) => await reconciler.reconcile(reconciled),
      onGone: ({ metadata }) => reconciler.forget(objectKey(metadata)),
    },
    [namespaces.watch, secretSyncWatch],
  );
  const throttle = new WakeThrottle({ clock, intervalMs: wakeIntervalMs, wake: (key) => kind.enqueue(key) });
  wakeByChildren(kind, secretSyncWatch, (key) => throttle.wake(key));
  namespaces.onChange((before, after) => {
    if (before !== undefined && after?.isEnding !== false) refusals.namespaceEnded(before.name);
    for (const key of kind.keys()) if (isTouched(kind.find(key), before, after)) throttle.wake(key);
    if (after === undefined && before !== undefined) {
      for (const key of kind.keys()) children.forget(childKey(before.name, key));
    }
  });
  return kind;
}

/** Wakes a ClusterSecretSync when a SecretSync of its name changes in what it looks at. */
function wakeByChildren(
  kind: Pick<KindController<ClusterSecretSync>, 'find'>,
  { group }: NamedWatch,
  wake: (key: string) => void,
): void {
  const known = new Map<string, string>();
  group.onChange((key, object) => {
    const parent = objectKey({ name: parseObjectKey(key).name });
    const before = known.get(key);
    known.delete(key);
    // A ClusterSecretSync that comes later looks at everything.
    if (kind.find(parent) === undefined) return;
    const now = object === undefined ? undefined : looksOf(object);
    if (now !== undefined) known.set(key, now);
    if (now === undefined || now !== before) wake(parent);
  });
}

/** What a ClusterSecretSync looks at, of one of its name. */
function looksOf(object: KubeObject): string {
  const { uid, generation, labels, annotations, ownerReferences, deletionTimestamp } = object.metadata;
  const readiness = readinessOf(object as SecretSync);
  return JSON.stringify([uid, generation, labels, annotations, ownerReferences, deletionTimestamp, readiness]);
}

/** Whether the change of a namespace may change what is to be done for a ClusterSecretSync. */
function isTouched(
  parent: ClusterSecretSync | undefined,
  before: NamespaceState | undefined,
  after: NamespaceState | undefined,
): boolean {
  return parent !== undefined && isSelected(parent.spec, before) !== isSelected(parent.spec, after);
}

function childKey(namespace: string, parentKey: string): string {
  return objectKey({ namespace, name: parseObjectKey(parentKey).name });
}
