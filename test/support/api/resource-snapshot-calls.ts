import type { GrantRule } from '../../../src/domain/grants.ts';
import type { AnyCaller } from '../../../src/domain/principal.ts';
import type { TakeSnapshotInput } from '../../../src/domain/resources/snapshots.ts';
import type { RecordOrGone } from '../../../src/services/managed/snapshots.ts';
import type { ClaimedSnapshotRecord } from '../../../src/store/resource-snapshots.ts';
import type { TestServices, World } from './services.ts';

/** Calls on the snapshot of a custom resource in a world's environment, each authorised for itself. */
export interface ResourceSnapshotCalls {
  take(input?: TakeSnapshotInput): Promise<RecordOrGone>;
  /** `take` where there is a snapshot to answer. */
  taken(input?: TakeSnapshotInput): Promise<ClaimedSnapshotRecord>;
  adopt(snapshotId: string): Promise<RecordOrGone>;
  find(): Promise<RecordOrGone | undefined>;
  remove(): Promise<boolean>;
}

export function resourceSnapshotCalls(
  { resourceAccess, resourceSnapshots }: Pick<TestServices, 'resourceAccess' | 'resourceSnapshots'>,
  { slugs }: Pick<World, 'slugs'>,
  caller: AnyCaller,
): ResourceSnapshotCalls {
  const take: ResourceSnapshotCalls['take'] = async (input) =>
    resourceSnapshots.take(await resourceAccess.maySnapshot(caller, slugs), input);
  return {
    take,
    async taken(input) {
      const snapshot = await take(input);
      if (snapshot === 'gone') throw new Error('the snapshot is gone');
      return snapshot;
    },
    async adopt(snapshotId) {
      return resourceSnapshots.adopt(await resourceAccess.mayAdopt(caller, snapshotId), snapshotId);
    },
    async find() {
      return resourceSnapshots.find(await resourceAccess.owner(caller, 'snapshot.find'));
    },
    async remove() {
      return resourceSnapshots.delete(await resourceAccess.owner(caller, 'snapshot.delete'));
    },
  };
}

/** A rule that grants SecretSnapshots the world's environment for reading and writing, by default. */
export function snapshotRule({ slugs }: Pick<World, 'slugs'>, more: Partial<GrantRule> = {}): GrantRule {
  const { organization, project, environment } = slugs;
  const kinds = ['SecretSnapshot'] as const;
  return { organization, project, environments: [environment], permission: 'read_write', kinds, ...more };
}
