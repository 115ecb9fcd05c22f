import type { Caller } from '../../../src/domain/principal.ts';
import type { RestoreAnswer, RestoreInput, RestorePlan } from '../../../src/services/snapshots/restore/restores.ts';
import type { PageRequest } from '../../../src/services/kernel/page.ts';
import type {
  CreateSnapshotInput,
  SnapshotDiff,
  SnapshotList,
  SnapshotRecord,
} from '../../../src/services/snapshots/snapshots.ts';
import type { PruneSnapshotsInput, SnapshotPruning } from '../../../src/services/snapshots/snapshot-pruning.ts';
import type { TestServices, World } from './services.ts';

/** Calls on the snapshots of a world's environment, each authorised for itself as by an edge. */
export interface SnapshotCalls {
  create(input?: CreateSnapshotInput): Promise<SnapshotRecord>;
  list(page?: PageRequest): Promise<SnapshotList>;
  get(id: string): Promise<SnapshotRecord>;
  /** By the id alone. */
  find(id: string): Promise<SnapshotRecord>;
  diff(id: string, against?: string): Promise<SnapshotDiff>;
  delete(id: string): Promise<void>;
  prune(input: PruneSnapshotsInput): Promise<SnapshotPruning>;
  restore(snapshotId: string, rest?: Omit<RestoreInput, 'snapshotId'>): Promise<RestoreAnswer>;
  plan(snapshotId: string, rest?: Omit<RestoreInput, 'snapshotId'>): Promise<RestorePlan>;
}

export function snapshotCalls(
  { access, snapshots, restores }: Pick<TestServices, 'access' | 'snapshots' | 'restores'>,
  world: Pick<World, 'onEnvironment'>,
  caller: Caller,
): SnapshotCalls {
  return {
    async create(input) {
      return snapshots.create(await world.onEnvironment(caller, 'snapshot.create'), input);
    },
    async list(page) {
      return snapshots.list(await world.onEnvironment(caller, 'snapshot.list'), page);
    },
    async get(id) {
      return snapshots.get(await world.onEnvironment(caller, 'snapshot.read'), id);
    },
    async find(id) {
      return snapshots.get(await access.snapshot(caller, 'snapshot.read', id), id);
    },
    async diff(id, against) {
      return snapshots.diff(await world.onEnvironment(caller, 'snapshot.read'), id, against);
    },
    async delete(id) {
      await snapshots.delete(await world.onEnvironment(caller, 'snapshot.delete'), id);
    },
    async prune(input) {
      return snapshots.prune(await world.onEnvironment(caller, 'snapshot.delete'), input);
    },
    async restore(snapshotId, rest = {}) {
      return restores.restore(await world.onEnvironment(caller, 'snapshot.restore'), { snapshotId, ...rest });
    },
    async plan(snapshotId, rest = {}) {
      return restores.plan(await world.onEnvironment(caller, 'snapshot.restore'), { snapshotId, ...rest });
    },
  };
}
