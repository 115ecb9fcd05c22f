import { z } from 'zod';
import { isTimeZone } from '../lib/time-zone.ts';
import { comment, keySelection, name, planHash, uuid, vouchingCluster } from './fields.ts';

/** docs/interface.md 2.1 and 4.1 to 4.3: snapshots of environments, and restores from them. */

export const snapshotParams = z.strictObject({ id: uuid });

/** The body is optional. */
export const createSnapshotBody = z
  .strictObject({ name: name.exactOptional(), description: comment.exactOptional() })
  .default({});

/** What a snapshot is compared with; the present state by default. */
export const diffQuery = z.strictObject({
  against: z
    .union([z.literal('current'), uuid], { error: 'must be "current" or the UUID of a snapshot' })
    .exactOptional(),
});

export const restoreBody = z.strictObject({
  snapshotId: uuid,
  dryRun: z.boolean().exactOptional(),
  planHash: planHash.exactOptional(),
  expectedRevision: uuid.exactOptional(),
  prune: z.boolean().exactOptional(),
  skipUnchanged: z.boolean().exactOptional(),
  backup: z.boolean().exactOptional(),
  includeDeleted: z.boolean().exactOptional(),
  keys: keySelection.exactOptional(),
  comment: comment.exactOptional(),
});

const keptCount = z.int().min(1).max(10_000);

/** The snapshots to keep, as in a SnapshotSchedule. At least one rule is required. */
export const pruneBody = z.strictObject({
  retention: z
    .strictObject({
      keepLast: keptCount.exactOptional(),
      keepHourly: keptCount.exactOptional(),
      keepDaily: keptCount.exactOptional(),
      keepWeekly: keptCount.exactOptional(),
      keepMonthly: keptCount.exactOptional(),
    })
    .refine((retention) => Object.keys(retention).length > 0, { error: 'must keep something, such as keepLast: 10' })
    .meta({
      minProperties: 1,
      description: 'Number of snapshots to keep by each rule. At least one rule is required.',
    }),
  timeZone: z
    .string()
    .refine(isTimeZone, { error: 'must be an IANA time zone such as Europe/Berlin' })
    .meta({ description: 'IANA time zone for hours, days, weeks and months; default UTC.' })
    .exactOptional(),
  namePrefix: name
    .meta({ description: 'Only consider snapshots whose name has this prefix; all by default.' })
    .exactOptional(),
  dryRun: z.boolean().exactOptional(),
  planHash: planHash.exactOptional(),
});

/** 0 and null for a snapshot of an environment without any change. */
const revisionOfSnapshot = { revision: z.int().min(0), revisionId: z.guid().nullable() };

const snapshotFields = {
  id: z.guid(),
  name: z.string().nullable(),
  description: z.string().nullable(),
  createdBy: z.guid(),
  createdByType: z.enum(['user', 'service_token', 'resource', 'system']),
  createdByName: z.string(),
  createdByCluster: vouchingCluster,
  createdAt: z.iso.datetime(),
  secretCount: z.int().min(0),
  ...revisionOfSnapshot,
};

export const snapshotView = z.strictObject(snapshotFields).meta({ id: 'Snapshot' });
export const snapshotListView = z
  .strictObject({ snapshots: z.array(snapshotView), nextCursor: z.string().nullable() })
  .meta({ id: 'SnapshotList' });
/** A snapshot that was found by id, with the slugs of its environment. */
export const placedSnapshotView = z
  .strictObject({
    ...snapshotFields,
    organization: z.string(),
    project: z.string(),
    environment: z.string(),
  })
  .meta({ id: 'PlacedSnapshot' });

const keyAtVersion = z.strictObject({ key: z.string(), version: z.int().min(1) });

/** The changes from the snapshot to the compared state, without values. */
export const snapshotDiffView = z
  .strictObject({
    snapshotId: z.guid(),
    against: z.union([z.literal('current'), z.guid()]),
    ...revisionOfSnapshot,
    added: z.array(keyAtVersion),
    removed: z.array(keyAtVersion),
    changed: z.array(
      z.strictObject({ key: z.string(), from: z.int().min(1), to: z.int().min(1), valueChanged: z.boolean() }),
    ),
    unchanged: z.int().min(0),
    /** Versions of the snapshot whose values were destroyed. */
    destroyed: z.array(keyAtVersion),
  })
  .meta({ id: 'SnapshotDiff' });

const prunedFields = { id: z.guid(), name: z.string().nullable(), createdAt: z.iso.datetime() };

/** The kept snapshots with reasons, and those that were deleted, or would be with a planHash. Newest first. */
export const pruneView = z
  .strictObject({
    kept: z.array(z.strictObject({ ...prunedFields, reasons: z.array(z.string()).min(1) })),
    pruned: z.array(z.strictObject(prunedFields)),
    planHash: z.string().exactOptional(),
  })
  .meta({ id: 'PrunedSnapshots' });

/** What a restore did, or would do with a planHash. */
export const restoreView = z
  .strictObject({
    restored: z.array(z.string()),
    /** Deleted since the snapshot, and restored because of `includeDeleted`. */
    recreated: z.array(z.string()),
    unchanged: z.array(z.string()),
    skipped: z.array(z.string()),
    /** Left unchanged, because their values in the snapshot were destroyed. */
    destroyed: z.array(z.string()),
    pruned: z.array(z.string()),
    backupSnapshotId: z.guid().nullable(),
    revision: z.int().min(0),
    revisionId: z.guid(),
    planHash: z.string().exactOptional(),
  })
  .meta({ id: 'Restore' });

export type SnapshotView = z.infer<typeof snapshotView>;
export type SnapshotListView = z.infer<typeof snapshotListView>;
export type SnapshotDiffView = z.infer<typeof snapshotDiffView>;
export type PruneView = z.infer<typeof pruneView>;
export type RestoreView = z.infer<typeof restoreView>;
