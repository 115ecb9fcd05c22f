import { z } from 'zod';
import { comment, name, uuid } from './fields.ts';

/** docs/interface.md 2.1 and 4.1 to 4.3: snapshots of environments, and restores from them. */

export const snapshotParams = z.strictObject({ id: uuid });

/** The body may be left out. */
export const createSnapshotBody = z
  .strictObject({ name: name.exactOptional(), description: comment.exactOptional() })
  .default({});

/** What a snapshot is compared with: the present unless told. */
export const diffQuery = z.strictObject({
  against: z
    .union([z.literal('current'), uuid], { error: 'must be "current" or the UUID of a snapshot' })
    .exactOptional(),
});

export const restoreBody = z.strictObject({
  snapshotId: uuid,
  dryRun: z.boolean().exactOptional(),
  planHash: z
    .string()
    .regex(/^[A-Za-z0-9_-]{43}$/, { error: 'must be the planHash of a dry run' })
    .exactOptional(),
  expectedRevision: uuid.exactOptional(),
  prune: z.boolean().exactOptional(),
  skipUnchanged: z.boolean().exactOptional(),
  backup: z.boolean().exactOptional(),
  comment: comment.exactOptional(),
});

/** 0 and null for a snapshot of an environment that had no change yet. */
const revisionOfSnapshot = { revision: z.int().min(0), revisionId: z.guid().nullable() };

const snapshotFields = {
  id: z.guid(),
  name: z.string().nullable(),
  description: z.string().nullable(),
  createdBy: z.guid(),
  createdByType: z.enum(['user', 'service_token', 'resource', 'system']),
  createdByName: z.string(),
  createdAt: z.iso.datetime(),
  secretCount: z.int().min(0),
  ...revisionOfSnapshot,
};

export const snapshotView = z.strictObject(snapshotFields);
export const snapshotListView = z.strictObject({ snapshots: z.array(snapshotView), nextCursor: z.string().nullable() });
/** A snapshot that was found by its id alone, with the slugs of its environment. */
export const placedSnapshotView = z.strictObject({
  ...snapshotFields,
  organization: z.string(),
  project: z.string(),
  environment: z.string(),
});

const keyAtVersion = z.strictObject({ key: z.string(), version: z.int().min(1) });

/** What happened from the snapshot to what it is compared with. It holds no values. */
export const snapshotDiffView = z.strictObject({
  snapshotId: z.guid(),
  against: z.union([z.literal('current'), z.guid()]),
  ...revisionOfSnapshot,
  added: z.array(keyAtVersion),
  removed: z.array(keyAtVersion),
  changed: z.array(
    z.strictObject({ key: z.string(), from: z.int().min(1), to: z.int().min(1), valueChanged: z.boolean() }),
  ),
  unchanged: z.int().min(0),
  /** Versions that the snapshot names and whose values were destroyed. */
  destroyed: z.array(keyAtVersion),
});

/** What a restore did or, with a planHash, would do. */
export const restoreView = z.strictObject({
  restored: z.array(z.string()),
  unchanged: z.array(z.string()),
  skipped: z.array(z.string()),
  /** Left as they are, because their values of then were destroyed. */
  destroyed: z.array(z.string()),
  pruned: z.array(z.string()),
  backupSnapshotId: z.guid().nullable(),
  revision: z.int().min(0),
  revisionId: z.guid(),
  planHash: z.string().exactOptional(),
});

export type SnapshotView = z.infer<typeof snapshotView>;
export type SnapshotListView = z.infer<typeof snapshotListView>;
export type SnapshotDiffView = z.infer<typeof snapshotDiffView>;
export type RestoreView = z.infer<typeof restoreView>;
