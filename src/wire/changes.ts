import { z } from 'zod';
import { limits } from '../domain/limits.ts';
import { revisionText } from './fields.ts';
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

export const changeView = z.strictObject({
  revision: z.int(),
  revisionId: z.guid(),
  changedBy: z.guid(),
  changedByType: z.enum(['user', 'service_token', 'resource', 'system']),
  changedByName: z.string(),
  comment: z.string().nullable(),
  createdAt: z.iso.datetime(),
  /** Sorted by key. */
  keys: changedKeys,
});

export const changeListView = z.strictObject({ changes: z.array(changeView), nextCursor: z.string().nullable() });

/** `data` of the events `ready` and `reset`: the present revision of the environment. */
export const streamPlaceView = z.strictObject({ revision: z.int(), revisionId: z.guid() });

/** `data` of the event `change`. */
export const streamChangeView = z.strictObject({ ...streamPlaceView.shape, keys: changedKeys });

export type ChangeView = z.infer<typeof changeView>;
