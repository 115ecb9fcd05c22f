import { snapshotScheduleKind } from '../../../kube/client/keyframe-kinds.ts';
import { objectKey, parseObjectKey } from '../../../kube/client/objects.ts';
import type { SnapshotSchedule } from '../../generated/snapshot-schedule.ts';
import { KindController } from '../../frame/kind-controller.ts';
import type { KindContext, ManagedKind } from '../../frame/managed-kind.ts';
import { standardOutcomes } from '../../frame/standard-outcomes.ts';
import type { ResourceKindDeps } from '../resource-kind.ts';
import type { SnapshotLookup } from '../secret-snapshot/lookup.ts';
import { parseChildName } from './child.ts';
import { suspended } from './messages.ts';
import { ScheduleReconciler } from './reconcile.ts';
import type { SnapshotReferences } from '../secret-snapshot/references.ts';
import type { NamedWatch } from '../../frame/named-watch.ts';
import type { Fingerprint } from '../../backend/fingerprint.ts';

export interface SnapshotScheduleDeps extends ResourceKindDeps<'schedules'> {
  /** The fingerprints of this cluster. Throws DomainError cluster_unavailable before its name is known. */
  readonly fingerprint: Fingerprint;
  readonly snapshots: SnapshotLookup;
  /** The watch of `snapshots`. */
  readonly snapshotWatch: NamedWatch;
  /** The references to SecretSnapshots. One that is referred to must not be pruned. */
  readonly references: SnapshotReferences;
}

/** Creates a SecretSnapshot for each time of each SnapshotSchedule, and prunes those that its retention does not keep. */
export function registerSnapshotSchedule(context: KindContext, deps: SnapshotScheduleDeps): ManagedKind {
  const { backend, grants, fingerprint, snapshots, snapshotWatch, references } = deps;
  const reconciler = new ScheduleReconciler({
    context,
    backend,
    grants,
    fingerprint,
    snapshots,
    references,
  });
  const kind = new KindController<SnapshotSchedule>(
    context,
    {
      kind: snapshotScheduleKind,
      plural: 'SnapshotSchedules',
      isNamespaced: true,
      action: 'Schedule',
      needs: (resource) => [...grants.needsOf(resource), snapshotWatch],
      ...standardOutcomes<SnapshotSchedule>({
        message: suspended,
        fields: { nextTime: undefined, nextToPrune: undefined },
      }),
      reconcile: async (reconciled) => await reconciler.reconcile(reconciled),
    },
    [...grants.watches, snapshotWatch],
  );
  // The delay until the next time was by the former clock.
  context.onServerStep(() => {
    for (const key of kind.keys()) kind.enqueue(key);
  });
  snapshots.onChange((key) => {
    const { namespace, name } = parseObjectKey(key);
    const named = parseChildName(name);
    if (named !== undefined) kind.enqueue(objectKey({ namespace, name: named.schedule }));
  });
  return kind;
}
