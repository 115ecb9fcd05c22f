import type { RestoreAnswer, RestorePlan } from '../../services/snapshots/restore/restores.ts';
import type { PrunedSnapshot, SnapshotPruning } from '../../services/snapshots/snapshot-pruning.ts';
import type { SnapshotDiff, SnapshotRecord } from '../../services/snapshots/snapshots.ts';
import {
  createSnapshot,
  deleteSnapshot,
  diffSnapshot,
  findSnapshot,
  getSnapshot,
  listSnapshots,
  pruneSnapshots,
  restoreSnapshot,
} from '../../wire/contract/snapshots.ts';
import type { PruneView, RestoreView, SnapshotDiffView, SnapshotView } from '../../wire/snapshots.ts';
import { replayed } from '../request/idempotency.ts';
import { type Route, environmentRoute, snapshotRoute } from '../route.ts';

/** docs/interface.md 4.1 to 4.3 */
export const snapshotRoutes: readonly Route[] = [
  environmentRoute({
    ...listSnapshots,
    action: 'snapshot.list',
    async handle({ snapshots }, access, { query }) {
      const list = await snapshots.list(access, query);
      return { status: 200, body: { snapshots: list.snapshots.map(viewOf), nextCursor: list.nextCursor } };
    },
  }),
  environmentRoute({
    ...createSnapshot,
    action: 'snapshot.create',
    async handle({ snapshots }, access, { body, idempotencyKey: idempotency }) {
      const made = await snapshots.create(access, { ...body, idempotency });
      const view = viewOf(made);
      if (made.replayed === true) return replayed(view);
      const { organization, project, environment } = access;
      return {
        status: 201,
        body: view,
        location: `/api/v1/snapshots/${organization}/${project}/${environment}/${made.id}`,
      };
    },
  }),
  // Before the routes of snapshots, whose path matches too.
  environmentRoute({
    ...restoreSnapshot,
    action: 'snapshot.restore',
    async handle({ restores }, access, { body: { dryRun = false, ...input }, idempotencyKey: idempotency }) {
      if (dryRun) {
        const plan = await restores.plan(access, input);
        return {
          status: 200,
          body: { ...restoreViewOf({ ...plan, backupSnapshotId: null }), planHash: plan.planHash },
        };
      }
      const result = await restores.restore(access, { ...input, idempotency });
      const view = restoreViewOf(result);
      return result.replayed === true ? replayed(view) : { status: 200, body: view };
    },
  }),
  environmentRoute({
    ...pruneSnapshots,
    action: 'snapshot.delete',
    async handle({ snapshots }, access, { body }) {
      const pruning = await snapshots.prune(access, body);
      const plan = body.dryRun === true ? { planHash: pruning.planHash } : {};
      return { status: 200, body: { ...pruneViewOf(pruning), ...plan } };
    },
  }),
  environmentRoute({
    ...getSnapshot,
    action: 'snapshot.read',
    async handle({ snapshots }, access, { params }) {
      return { status: 200, body: viewOf(await snapshots.get(access, params.id)) };
    },
  }),
  environmentRoute({
    ...deleteSnapshot,
    action: 'snapshot.delete',
    async handle({ snapshots }, access, { params }) {
      await snapshots.delete(access, params.id);
      return { status: 204 };
    },
  }),
  environmentRoute({
    ...diffSnapshot,
    action: 'snapshot.read',
    async handle({ snapshots }, access, { params, query }) {
      return { status: 200, body: diffViewOf(await snapshots.diff(access, params.id, query.against)) };
    },
  }),
  snapshotRoute({
    ...findSnapshot,
    action: 'snapshot.read',
    async handle({ snapshots }, access, { params }) {
      const { organization, project, environment } = access;
      const view = viewOf(await snapshots.get(access, params.id));
      return { status: 200, body: { ...view, organization, project, environment } };
    },
  }),
];

function viewOf(record: SnapshotRecord): SnapshotView {
  return {
    id: record.id,
    name: record.name,
    description: record.description,
    createdBy: record.createdBy,
    createdByType: record.createdByType,
    createdByName: record.createdByName,
    createdByCluster: record.createdByCluster,
    createdAt: record.createdAt.toISOString(),
    secretCount: record.secretCount,
    revision: record.revision,
    revisionId: record.revisionId,
  };
}

function diffViewOf({ added, removed, changed, destroyed, ...head }: SnapshotDiff): SnapshotDiffView {
  return { ...head, added: [...added], removed: [...removed], changed: [...changed], destroyed: [...destroyed] };
}

function pruneViewOf({ kept, pruned }: SnapshotPruning): PruneView {
  const head = ({ id, name, createdAt }: PrunedSnapshot): PruneView['pruned'][number] => {
    return { id, name, createdAt: createdAt.toISOString() };
  };
  return {
    kept: kept.map((snapshot) => ({ ...head(snapshot), reasons: [...snapshot.reasons] })),
    pruned: pruned.map(head),
  };
}

function restoreViewOf(result: Omit<RestorePlan, 'planHash'> & Pick<RestoreAnswer, 'backupSnapshotId'>): RestoreView {
  const { restored, recreated, unchanged, skipped, destroyed, pruned } = result;
  const { backupSnapshotId, revision, revisionId } = result;
  return {
    restored: [...restored],
    recreated: [...recreated],
    unchanged: [...unchanged],
    skipped: [...skipped],
    destroyed: [...destroyed],
    pruned: [...pruned],
    backupSnapshotId,
    revision,
    revisionId,
  };
}
