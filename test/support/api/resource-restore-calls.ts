import type { GrantRule } from '../../../src/domain/grants.ts';
import type { AnyCaller } from '../../../src/domain/principal.ts';
import type { ClaimedRestore, ResourcePlan, ResourceRestoreOptions } from '../../../src/domain/resources/restores.ts';
import type { TestServices, World } from './services.ts';

export type RestoreOptions = Partial<ResourceRestoreOptions>;

/** Calls of a custom resource that restores an environment, each authorised for itself. */
export interface ResourceRestoreCalls {
  plan(snapshotId: string, options?: RestoreOptions, known?: string): Promise<ResourcePlan>;
  restore(snapshotId: string, planHash: string | null, options?: RestoreOptions): Promise<ClaimedRestore>;
  find(): Promise<ClaimedRestore | undefined>;
}

export function resourceRestoreCalls(
  { resourceAccess, resourceRestores }: Pick<TestServices, 'resourceAccess' | 'resourceRestores'>,
  caller: AnyCaller,
): ResourceRestoreCalls {
  // As a SnapshotRestore without any option asks for it.
  const defaults = { prune: false, skipUnchanged: false, backup: true, includeDeleted: false };
  return {
    async plan(snapshotId, options, known) {
      const access = await resourceAccess.mayRestore(caller, { snapshotId, secretSnapshotUid: null });
      return resourceRestores.plan(access, { ...defaults, ...options, snapshotId }, known);
    },
    async restore(snapshotId, planHash, options) {
      const access = await resourceAccess.mayRestore(caller, { snapshotId, secretSnapshotUid: null });
      return resourceRestores.restore(access, { ...defaults, ...options, snapshotId }, planHash);
    },
    async find() {
      return resourceRestores.find(await resourceAccess.owner(caller, 'restore.find'));
    },
  };
}

/** A rule that grants SnapshotRestores the world's environment for reading and writing, by default. */
export function restoreRule({ slugs }: Pick<World, 'slugs'>, more: Partial<GrantRule> = {}): GrantRule {
  const { organization, project, environment } = slugs;
  const kinds = ['SnapshotRestore'] as const;
  return { organization, project, environments: [environment], permission: 'read_write', kinds, ...more };
}
