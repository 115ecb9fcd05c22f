import { clusterSecretSyncKind } from '../../../kube/client/keyframe-kinds.ts';
import { type KubeObject, objectKey, parseObjectKey } from '../../../kube/client/objects.ts';
import { allowDeletionAnnotation } from '../../annotations.ts';
import { announce } from '../../frame/announce.ts';
import { EventPace } from '../../frame/event-pace.ts';
import { KindController } from '../../frame/kind-controller.ts';
import type { KindContext, ManagedKind } from '../../frame/managed-kind.ts';
import type { NamedWatch } from '../../frame/named-watch.ts';
import type { NamespaceState } from '../../frame/namespaces.ts';
import { standardOutcomes } from '../../frame/standard-outcomes.ts';
import { Throttle } from '../../frame/throttle.ts';
import type { ClusterSecretSync } from '../../generated/cluster-secret-sync.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import { readinessOf } from './child.ts';
import { Children } from './children.ts';
import { ClusterSyncReconciler } from './reconcile.ts';
import { RefusedNamespaces } from './refused-namespaces.ts';
import { isSelected } from './selection.ts';

export interface ClusterSecretSyncDeps {
  readonly context: KindContext;
  /** The watch of the SecretSyncs. */
  readonly secretSyncWatch: NamedWatch;
}

// All SecretSyncs of one ClusterSecretSync may change at once.
const throttleMs = 1000;

/** Creates the SecretSyncs of all ClusterSecretSyncs in the namespaces that they select. */
export function registerClusterSecretSync({ context, secretSyncWatch }: ClusterSecretSyncDeps): ManagedKind {
  const { kube: client, clock, logger, instance, namespaces, watchNamespaces } = context;
  const children = new Children(secretSyncWatch.group, clock);
  const refused = new RefusedNamespaces(clock);
  const repairs = new EventPace(clock);
  const reconciler: ClusterSyncReconciler = new ClusterSyncReconciler({
    client,
    clock,
    namespaces,
    watchNamespaces,
    children,
    refused,
    onRepaired: (parent, note) => {
      const reason = 'DriftRepaired';
      if (!repairs.take(objectKey(parent.metadata), reason)) return;
      const event = { type: 'Warning', reason, action: 'Generate', note } as const;
      announce({ client, clock, logger, instance }, clusterSecretSyncKind, parent, event);
    },
    recordedRemoval: (key) => (kind.watch.group.get(key) as ClusterSecretSync | undefined)?.status?.removal,
  });
  const kind: KindController<ClusterSecretSync> = new KindController<ClusterSecretSync>(
    context,
    {
      kind: clusterSecretSyncKind,
      plural: 'ClusterSecretSyncs',
      isNamespaced: false,
      action: 'Generate',
      // Before the first list, an existing SecretSync or namespace would count as absent.
      needs: () => [namespaces.watch, secretSyncWatch],
      requestAnnotations: [allowDeletionAnnotation],
      ...standardOutcomes<ClusterSecretSync>(),
      suspended: (reconciled) => Promise.resolve(reconciler.suspended(reconciled)),
      reconcile: async (reconciled) => await reconciler.reconcile(reconciled),
      onGone: ({ metadata }) => {
        reconciler.forget(objectKey(metadata));
        repairs.forget(objectKey(metadata));
      },
    },
    [namespaces.watch, secretSyncWatch],
  );
  const throttle = new Throttle({ clock, intervalMs: throttleMs, enqueue: (key) => kind.enqueue(key) });
  enqueueByChildren(kind, secretSyncWatch, (key) => throttle.enqueue(key));
  namespaces.onChange((before, after) => {
    if (before !== undefined && after?.isEnding !== false) refused.namespaceEnded(before.name);
    for (const key of kind.keys()) if (isTouched(kind.find(key), before, after)) throttle.enqueue(key);
    if (after === undefined && before !== undefined) {
      for (const key of kind.keys()) children.forget(childKey(before.name, key));
    }
  });
  return kind;
}

/** Enqueues a ClusterSecretSync when a relevant part of a SecretSync of its name changes. */
function enqueueByChildren(
  kind: Pick<KindController<ClusterSecretSync>, 'find'>,
  { group }: NamedWatch,
  enqueue: (key: string) => void,
): void {
  const known = new Map<string, string>();
  group.onChange((key, object) => {
    const parent = objectKey({ name: parseObjectKey(key).name });
    const before = known.get(key);
    known.delete(key);
    // A ClusterSecretSync that is created later observes everything.
    if (kind.find(parent) === undefined) return;
    const now = object === undefined ? undefined : relevantPartsOf(object);
    if (now !== undefined) known.set(key, now);
    if (now === undefined || now !== before) enqueue(parent);
  });
}

/** The parts of a SecretSync that matter to the ClusterSecretSync of its name, as text. */
function relevantPartsOf(object: KubeObject): string {
  const { uid, generation, labels, annotations, ownerReferences, deletionTimestamp } = object.metadata;
  const readiness = readinessOf(object as SecretSync);
  return JSON.stringify([uid, generation, labels, annotations, ownerReferences, deletionTimestamp, readiness]);
}

/** Whether a change of a namespace changes whether a ClusterSecretSync selects it. */
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
