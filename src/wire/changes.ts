import { z } from 'zod';
import { limits } from '../domain/limits.ts';
import { comment, planHash, revisionText, uuid, vouchingCluster } from './fields.ts';
import { pageQuery } from './page.ts';

/** docs/interface.md 4.10: the changes of an environment, as a list and as server-sent events. */

export const changesQuery = pageQuery.extend({
  limit: pageQuery.shape.limit.meta({
    description: `Maximum entries of a page; default ${limits.changePageSize}. A page with many changed keys is shorter.`,
  }),
  /** Only later revisions; 0 is before the first. */
  since: revisionText.exactOptional(),
});

/** Headers that select the list or the stream, and where a stream resumes. */
export const changesHeaders = z.object({
  accept: z.string().exactOptional(),
  'last-event-id': z.string().exactOptional(),
});

const changedKeys = z.array(
  z.strictObject({
    key: z.string(),
    /** The new version number; null if the key was deleted. */
    version: z.int().nullable(),
  }),
);

export const changeView = z
  .strictObject({
    revision: z.int(),
    revisionId: z.guid(),
    changedBy: z.guid(),
    changedByType: z.enum(['user', 'service_token', 'resource', 'system']),
    changedByName: z.string(),
    changedByCluster: vouchingCluster,
    comment: z.string().nullable(),
    createdAt: z.iso.datetime(),
    /** Sorted by key. */
    keys: changedKeys,
  })
  .meta({ id: 'Change' });

export const changeListView = z
  .strictObject({ changes: z.array(changeView), nextCursor: z.string().nullable() })
  .meta({ id: 'ChangeList' });

export const revertParams = z.strictObject({ revision: revisionText });

/** The body is optional. */
export const revertBody = z
  .strictObject({
    dryRun: z.boolean().exactOptional(),
    planHash: planHash.exactOptional(),
    expectedRevision: uuid.exactOptional(),
    overwrite: z.boolean().exactOptional(),
    comment: comment.exactOptional(),
  })
  .default({});

/** What a revert did, or would do with a planHash. Each list is sorted by key. */
export const revertView = z
  .strictObject({
    /** The revision that was reverted. */
    reverted: z.strictObject({ revision: z.int().min(1), revisionId: z.guid() }),
    restored: z.array(z.string()),
    /** Deleted now, and restored. */
    recreated: z.array(z.string()),
    /** They did not exist before the revision. */
    deleted: z.array(z.string()),
    unchanged: z.array(z.string()),
    /** Left unchanged, because their values before the revision were destroyed. */
    destroyed: z.array(z.string()),
    /** Keys that are not as the revision left them. Without `overwrite` they refuse the revert. */
    conflicts: z.array(z.strictObject({ key: z.string(), reason: z.enum(['changed', 'destroyed']) })),
    revision: z.int().min(0),
    revisionId: z.guid(),
    planHash: z.string().exactOptional(),
  })
  .meta({ id: 'Revert' });

const eventId = z
  .string()
  .meta({ description: 'Where a reader resumes after this event: the id of a revision, or 0.' });
const streamPlace = z.strictObject({ revision: z.int(), revisionId: z.guid() });

/** The events of the stream. On the wire, `data` is JSON on one line. */
const readyEventView = z
  .strictObject({
    event: z.literal('ready'),
    /** Absent if the stream continues from a revision. */
    id: eventId.exactOptional(),
    data: streamPlace,
  })
  .meta({ id: 'ReadyEvent' });
const resetEventView = z
  .strictObject({ event: z.literal('reset'), id: eventId, data: streamPlace })
  .meta({ id: 'ResetEvent' });
export const changeEventView = z
  .strictObject({
    event: z.literal('change'),
    id: eventId,
    data: z.strictObject({ ...streamPlace.shape, keys: changedKeys }),
  })
  .meta({ id: 'ChangeEvent' });
export const streamEventView = z
  .discriminatedUnion('event', [readyEventView, resetEventView, changeEventView])
  .meta({ id: 'ChangeStreamEvent' });

export type StreamEventView = z.infer<typeof streamEventView>;
export type RevertView = z.infer<typeof revertView>;
export type ChangeView = z.infer<typeof changeView>;
