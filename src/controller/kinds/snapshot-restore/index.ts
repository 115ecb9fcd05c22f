import type { ChangeEvent } from '../../../services/change-feed.ts';
import { snapshotRestoreKind } from '../../../kube/keyframe-kinds.ts';
import { objectKey } from '../../../kube/objects.ts';
import type { SnapshotRestore } from '../../generated/snapshot-restore.ts';
import { KindController } from '../../frame/kind-controller.ts';
import type { KindContext, ManagedKind } from '../../frame/managed-kind.ts';
import type { ResourceKindDeps } from '../resource-services.ts';
import { ReverseIndex } from '../../frame/reverse-index.ts';
import type { SnapshotReferences } from '../secret-snapshot/references.ts';
import type { SnapshotLookup } from '../secret-snapshot/lookup.ts';
import { WakeThrottle } from '../../frame/wake-throttle.ts';
import { RestoreReconciler } from './reconcile.ts';
import { UnfinishedRestores } from './unfinished.ts';
import type { NamedWatch } from '../../frame/named-watch.ts';

// A plan follows the environment's commits, but a busy environment must keep neither the database nor the API server
// busy with plans.
const planIntervalMs = 1000;

export interface SnapshotRestoreDeps extends ResourceKindDeps<'resourceAccess' | 'resourceRestores'> {
  readonly snapshots: SnapshotLookup;
  /** Of the SecretSnapshots: before they are listed, one that is not found may be there. */
  readonly snapshotWatches: readonly NamedWatch[];
}

/**
 * Plans the restore of each SnapshotRestore, anew with each commit, and carries out those that are approved. Beside it: what
 * those that are not complete still need.
 */
export function registerSnapshotRestore(
  context: KindContext,
  deps: SnapshotRestoreDeps,
): { readonly kind: ManagedKind; readonly references: SnapshotReferences } {
  const { grants, snapshots } = deps;
  const reconciler = new RestoreReconciler(deps);
  const bySnapshot = new ReverseIndex();
  const unfinished = new UnfinishedRestores(() => kind.watches.every(({ group }) => group.isSynced));
  const throttle = new WakeThrottle({
    clock: context.clock,
    intervalMs: planIntervalMs,
    wake: (key) => kind.wake(key),
  });
  const kind: KindController<SnapshotRestore> = new KindController<SnapshotRestore>(
    context,
    {
      kind: snapshotRestoreKind,
      plural: 'SnapshotRestores',
      isNamespaced: true,
      action: 'Restore',
      suspendedMessage: 'Nothing is planned or restored.',
      reconcile: async (round) => await reconciler.reconcile(round),
      concernedBy(event) {
        for (const key of followersOf(reconciler, event)) throttle.wake(key);
        return [];
      },
      onSeen(resource) {
        bySnapshot.set(objectKey(resource.metadata), snapshotKeyOf(resource));
        unfinished.seen(resource, snapshotKeyOf(resource));
      },
      onGone({ metadata }) {
        unfinished.gone(objectKey(metadata));
        bySnapshot.set(objectKey(metadata), undefined);
        reconciler.forget(objectKey(metadata));
      },
    },
    [...grants.watches, ...deps.snapshotWatches],
  );
  grants.onChange((namespaces) => kind.wakeNamespaces(namespaces));
  snapshots.onChange((key) => {
    for (const restoreKey of bySnapshot.keysOf(key)) kind.wake(restoreKey);
  });
  return { kind, references: unfinished };
}

function followersOf({ snapshots, environments }: RestoreReconciler, event: ChangeEvent): Iterable<string> {
  if (event.kind === 'snapshot') return snapshots.keysOf(event.snapshotId);
  return event.kind === 'environment' ? environments.keysOf(event.environmentId) : [];
}

/** Key of the SecretSnapshot that a resource names, if it names one. */
function snapshotKeyOf({ metadata, spec: { snapshotRef } }: SnapshotRestore): string | undefined {
  if (snapshotRef === undefined) return undefined;
  return objectKey({ namespace: metadata.namespace ?? '', name: snapshotRef.name });
}
