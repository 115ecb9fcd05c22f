import type { ReportedLists } from '../fleet.ts';
import type { RestoreOptions } from '../plans/restore.ts';

/** What the services and the controller say to each other about the restores of SnapshotRestores. */

/** The snapshot that a resource names. */
export interface RestoreSource {
  readonly snapshotId: string;
  /** The SecretSnapshot of the namespace that has it. The namespace may then know where it lies. Null if it names only the id. */
  readonly secretSnapshotUid: string | null;
}

/** How a resource restores. */
export interface ResourceRestoreOptions extends RestoreOptions {
  /** Also takes a snapshot of the state before. */
  readonly backup: boolean;
}

/** What is restored from which snapshot. */
export interface RestorePlace {
  readonly snapshotId: string;
  readonly environmentId: string;
  /** `organization/project/environment`, by the slugs as of then. */
  readonly environment: string;
}

/** Hashes of plans, as a resource has them. */
export interface PlanHashes {
  /** Of the plan that was reported before: it is not audited again. */
  readonly known: string | undefined;
  /** Of the plan that the resource approves. Any other plan waits for an approval. */
  readonly approved: string | undefined;
}

/** A plan as it is reported to a resource. */
export interface ResourcePlan extends RestorePlace, ReportedLists {
  /** No other resource has the same. */
  readonly planHash: string;
  /** The revision that the environment is at. */
  readonly revision: number;
  readonly revisionId: string;
}

/** What a restore did to an environment: names, ids and numbers. */
export interface RestoreResult extends RestorePlace, ReportedLists {
  /** Of the plan that was carried out; null if there was none. */
  readonly planHash: string | null;
  /** The revision that the environment was at before. */
  readonly from: { readonly revision: number; readonly revisionId: string };
  /** The snapshot of what was before; null if none was asked for or nothing was changed. */
  readonly backupSnapshotId: string | null;
  /** The revision that the restore made, or found if there was nothing to change. */
  readonly revision: number;
  readonly revisionId: string;
}

/** The one restore of a custom resource. */
export interface ClaimedRestore extends RestoreResult {
  readonly startedAt: Date;
  readonly completedAt: Date;
}
