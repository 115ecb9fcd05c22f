import { z } from 'zod';
import { isTimeZone } from '../lib/time-zone.ts';
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

const planHash = z.string().regex(/^[A-Za-z0-9_-]{43}$/, { error: 'must be the planHash of a dry run' });

export const restoreBody = z.strictObject({
  snapshotId: uuid,
  dryRun: z.boolean().exactOptional(),
  planHash: planHash.exactOptional(),
  expectedRevision: uuid.exactOptional(),
  prune: z.boolean().exactOptional(),
  skipUnchanged: z.boolean().exactOptional(),
  backup: z.boolean().exactOptional(),
  comment: comment.exactOptional(),
});

const keptCount = z.int().min(1).max(10_000);

/** Which snapshots to keep, as of a SnapshotSchedule: at least one of these. */
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
    .meta({ minProperties: 1, description: 'How many of each sort to keep; at least one of them.' }),
  timeZone: z
    .string()
    .refine(isTimeZone, { error: 'must be an IANA time zone such as Europe/Berlin' })
    .meta({ description: 'IANA time zone by whose calendar days, weeks and months are told; UTC unless given.' })
    .exactOptional(),
  namePrefix: name
    .meta({ description: 'Only snapshots whose name begins so are judged; all unless given.' })
    .exactOptional(),
  dryRun: z.boolean().exactOptional(),
  planHash: planHash.exactOptional(),
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

const prunedFields = { id: z.guid(), name: z.string().nullable(), createdAt: z.iso.datetime() };

/** What was kept, and why, and what was deleted or, with a planHash, would be: each newest first. */
export const pruneView = z.strictObject({
  kept: z.array(z.strictObject({ ...prunedFields, reasons: z.array(z.string()).min(1) })),
  pruned: z.array(z.strictObject(prunedFields)),
  planHash: z.string().exactOptional(),
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
export type PruneView = z.infer<typeof pruneView>;
export type RestoreView = z.infer<typeof restoreView>;
