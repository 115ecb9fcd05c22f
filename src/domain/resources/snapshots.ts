import type { EnvironmentSlugs } from '../slugs.ts';

/** What the services and the controller say to each other about the snapshots of SecretSnapshots. */

export interface TakeSnapshotInput {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
}

/** The snapshot that a custom resource took or adopted, and its environment. */
export interface ClaimedSnapshot extends EnvironmentSlugs {
  readonly id: string;
  readonly environmentId: string;
  readonly createdAt: Date;
  readonly secretCount: number;
  /** The revision that it stands for; 0 if the environment had no change yet. */
  readonly revision: number;
  /** Null at revision 0. */
  readonly revisionId: string | null;
  /** SHA-256 over the keys and the ids of their versions, in hexadecimal digits. */
  readonly digest: string;
  /** Whether the resource adopted it, and so did not take it. */
  readonly adopted: boolean;
  /** Whether the environment, or something above it, is deleted: nothing can be restored from the snapshot. */
  readonly environmentDeleted: boolean;
}

/** `gone`: it was deleted, or its environment purged, and there will be no other for this resource. */
export type SnapshotOrGone = ClaimedSnapshot | 'gone';
