import { secretSnapshotKind } from '../../../kube/client/keyframe-kinds.ts';
import { objectKey } from '../../../kube/client/objects.ts';
import type { SecretSnapshot } from '../../generated/secret-snapshot.ts';
import { Seen } from '../../frame/dependencies.ts';
import { KindController } from '../../frame/kind-controller.ts';
import type { KindContext, ManagedKind } from '../../frame/managed-kind.ts';
import type { ResourceKindDeps } from '../resource-kind.ts';
import { standardOutcomes } from '../../frame/standard-outcomes.ts';
import { type SnapshotLookup, snapshotVersionOf } from './lookup.ts';
import { suspended } from './messages.ts';
import { SnapshotReconciler, isAdopting } from './reconcile.ts';

/** Takes or adopts the one snapshot of each SecretSnapshot, and deletes it according to the deletion policy. */
export function registerSecretSnapshot(
  context: KindContext,
  { backend, grants }: ResourceKindDeps<'snapshots'>,
): { readonly kind: ManagedKind; readonly snapshots: SnapshotLookup } {
  const reconciler = new SnapshotReconciler({ context, backend, grants });
  const listeners: ((key: string) => void)[] = [];
  const publish = ({ metadata }: SecretSnapshot): void => {
    const id = objectKey(metadata);
    context.events.publish({ kind: 'SecretSnapshot', id, version: snapshotVersionOf(kind.find(id)) });
    for (const listener of listeners) listener(id);
  };
  const kind: KindController<SecretSnapshot> = new KindController<SecretSnapshot>(
    context,
    {
      kind: secretSnapshotKind,
      plural: 'SecretSnapshots',
      isNamespaced: true,
      action: 'Snapshot',
      needs: (resource) => grants.needsOf(resource),
      ...standardOutcomes<SecretSnapshot>({ message: suspended }),
      reconcile: async (reconciled) => await reconciler.reconcile(reconciled),
      cleanup: {
        isNeeded: (resource) => resource.spec.deletionPolicy === 'Delete' && !isAdopting(resource),
        run: async (deleted) => await reconciler.cleanup(deleted),
      },
      onSeen: publish,
      onGone: publish,
    },
    grants.watches,
  );
  const snapshots: SnapshotLookup = {
    get isSynced() {
      return kind.watch.group.isSynced;
    },
    find: (key) => kind.find(key),
    keys: () => kind.keys(),
    claimed: async (resource, requestId) => await reconciler.find({ resource, requestId, seen: new Seen() }),
    onChange: (listener) => void listeners.push(listener),
  };
  return { kind, snapshots };
}
