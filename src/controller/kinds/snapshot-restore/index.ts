import { snapshotRestoreKind } from '../../../kube/client/keyframe-kinds.ts';
import { objectKey } from '../../../kube/client/objects.ts';
import type { SnapshotRestore } from '../../generated/snapshot-restore.ts';
import type { SubjectKind } from '../../frame/dependencies.ts';
import { KindController } from '../../frame/kind-controller.ts';
import type { KindContext, ManagedKind } from '../../frame/managed-kind.ts';
import type { ResourceKindDeps } from '../resource-kind.ts';
import { standardOutcomes } from '../../frame/standard-outcomes.ts';
import type { SnapshotReferences } from '../secret-snapshot/references.ts';
import type { SnapshotLookup } from '../secret-snapshot/lookup.ts';
import { suspended } from './messages.ts';
import { RestoreReconciler } from './reconcile.ts';
import { UnfinishedRestores } from './unfinished.ts';
import { WaitingPlans } from './waiting-plans.ts';
import type { NamedWatch } from '../../frame/named-watch.ts';

export interface SnapshotRestoreDeps extends ResourceKindDeps<'restores' | 'fleet'> {
  readonly snapshots: SnapshotLookup;
  /** The watch of the SecretSnapshots. Before it is synced, one that is not found may exist. */
  readonly snapshotWatch: NamedWatch;
}

/**
 * Plans the restore of each SnapshotRestore, again with each commit, and carries out the approved ones. Also returns the
 * snapshots that incomplete SnapshotRestores need.
 */
export function registerSnapshotRestore(
  context: KindContext,
  deps: SnapshotRestoreDeps,
): { readonly kind: ManagedKind; readonly references: SnapshotReferences } {
  const { grants } = deps;
  const { namespaces, hasName, clock, logger } = context;
  const waiting = new WaitingPlans({
    plans: deps.backend.fleet.waitingRestores,
    namespaces,
    hasName,
    knownUids: () => [...kind.keys()].flatMap((key) => kind.find(key)?.metadata.uid ?? []),
    isListed: (namespace) => kind.hasListed(namespace),
    clock,
    logger,
  });
  const reconciler = new RestoreReconciler({ ...deps, waiting });
  const unfinished = new UnfinishedRestores(() => kind.watch.group.isSynced);
  const kind: SnapshotRestoreKind = new SnapshotRestoreKind(
    waiting,
    context,
    {
      kind: snapshotRestoreKind,
      plural: 'SnapshotRestores',
      isNamespaced: true,
      action: 'Restore',
      needs: (resource) => [...grants.needsOf(resource), deps.snapshotWatch],
      ...standardOutcomes<SnapshotRestore>({
        message: suspended,
        work: async (reconciled) => {
          await reconciler.suspended(reconciled);
          return {};
        },
      }),
      reconcile: async (reconciled) => await reconciler.reconcile(reconciled),
      // A plan follows the environment's commits, but a busy environment must not load the database and the API server.
      isThrottled: (_key, { kind: subject }) => throttled.has(subject),
      onSeen: (resource) => unfinished.seen(resource, snapshotKeyOf(resource)),
      onGone({ metadata }) {
        unfinished.gone(objectKey(metadata));
        reconciler.forget(objectKey(metadata));
        waiting.forget(metadata.uid);
      },
    },
    [...grants.watches, deps.snapshotWatch],
  );
  return { kind, references: unfinished };
}

/** The controller of the kind, with the plans that wait. */
class SnapshotRestoreKind extends KindController<SnapshotRestore> {
  readonly #waiting: WaitingPlans;

  constructor(waiting: WaitingPlans, ...args: ConstructorParameters<typeof KindController<SnapshotRestore>>) {
    super(...args);
    this.#waiting = waiting;
  }

  override startLeading(): void {
    super.startLeading();
    this.#waiting.startLeading();
  }

  override stopLeading(): void {
    this.#waiting.stopLeading();
    super.stopLeading();
  }

  override async resync(): Promise<void> {
    this.#waiting.sweep();
    await super.resync();
  }

  override async drain(limitMs: number): Promise<void> {
    await Promise.all([super.drain(limitMs), this.#waiting.drain(limitMs)]);
  }
}

const throttled: ReadonlySet<SubjectKind> = new Set(['environment', 'environment history', 'kept state']);

/** The key of the SecretSnapshot that a resource names; undefined if it names none. */
function snapshotKeyOf({ metadata, spec: { snapshotRef } }: SnapshotRestore): string | undefined {
  if (snapshotRef === undefined) return undefined;
  return objectKey({ namespace: metadata.namespace ?? '', name: snapshotRef.name });
}
