import type { ChangeEvent } from '../../../services/change-feed.ts';
import { secretSnapshotKind } from '../../../kube/keyframe-kinds.ts';
import { objectKey } from '../../../kube/objects.ts';
import type { SecretSnapshot } from '../../generated/secret-snapshot.ts';
import { KindController } from '../../frame/kind-controller.ts';
import type { KindContext, ManagedKind } from '../../frame/managed-kind.ts';
import type { ResourceKindDeps } from '../resource-services.ts';
import type { SnapshotLookup } from './lookup.ts';
import { SnapshotReconciler, isAdopting } from './reconcile.ts';

/** Takes or adopts the one snapshot of each SecretSnapshot, and deletes what its policy tells. */
export function registerSecretSnapshot(
  context: KindContext,
  { services, grants, cluster }: ResourceKindDeps<'resourceAccess' | 'resourceSnapshots'>,
): { readonly kind: ManagedKind; readonly snapshots: SnapshotLookup } {
  const reconciler = new SnapshotReconciler({ context, services, grants, cluster });
  const listeners: ((key: string) => void)[] = [];
  const tell = ({ metadata }: SecretSnapshot): void => {
    for (const listener of listeners) listener(objectKey(metadata));
  };
  const kind = new KindController<SecretSnapshot>(
    context,
    {
      kind: secretSnapshotKind,
      plural: 'SecretSnapshots',
      isNamespaced: true,
      action: 'Snapshot',
      suspendedMessage: 'No snapshot is taken or adopted, and none is deleted by age.',
      reconcile: async (round) => await reconciler.reconcile(round),
      cleanup: {
        isNeeded: (resource) => resource.spec.deletionPolicy === 'Delete' && !isAdopting(resource),
        run: async (round) => await reconciler.cleanup(round),
      },
      concernedBy: (event) => concernedBy(reconciler, event),
      onSeen: tell,
      onGone(resource) {
        reconciler.forget(objectKey(resource.metadata));
        tell(resource);
      },
    },
    grants.watches,
  );
  grants.onChange((namespaces) => kind.wakeNamespaces(namespaces));
  const snapshots: SnapshotLookup = {
    get isSynced() {
      return kind.watches.every(({ group }) => group.isSynced);
    },
    find: (key) => kind.find(key),
    keys: () => kind.keys(),
    claimed: async (resource, requestId) =>
      await reconciler.find({ key: objectKey(resource.metadata), resource, requestId }),
    onChange: (listener) => void listeners.push(listener),
  };
  return { kind, snapshots };
}

// A snapshot never changes: only its end, or that of its environment, is news.
function concernedBy({ snapshots, environments }: SnapshotReconciler, event: ChangeEvent): Iterable<string> {
  if (event.kind === 'snapshot') return snapshots.keysOf(event.snapshotId);
  return event.kind === 'environment' && event.ended === true ? environments.keysOf(event.environmentId) : [];
}
