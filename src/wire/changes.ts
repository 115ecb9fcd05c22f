import { z } from 'zod';
import { limits } from '../domain/limits.ts';
import { revisionText } from './fields.ts';
import { pageQuery } from './page.ts';

/** docs/interface.md 4.10: the changes of an environment, as a list and as server-sent events. */

export const changesQuery = pageQuery.extend({
  limit: pageQuery.shape.limit.meta({
    description: `Entries of a page; ${limits.changePageSize} unless given. A page of many changed keys is shorter.`,
  }),
  /** Only what came after this revision; 0 is before the first. */
  since: revisionText.exactOptional(),
});

/** What decides between the list and the stream, and where a stream goes on. */
export const changesHeaders = z.object({
  accept: z.string().exactOptional(),
  'last-event-id': z.string().exactOptional(),
});

const changedKeys = z.array(
  z.strictObject({
    key: z.string(),
    /** The number of the version it set; null where it deleted the key. */
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
  /** By key. */
  keys: changedKeys,
});

export const changeListView = z.strictObject({ changes: z.array(changeView), nextCursor: z.string().nullable() });

/** `data` of the events `ready` and `reset`: the environment's present revision. */
export const streamPlaceView = z.strictObject({ revision: z.int(), revisionId: z.guid() });

/** `data` of the event `change`. */
export const streamChangeView = z.strictObject({ ...streamPlaceView.shape, keys: changedKeys });

export type ChangeView = z.infer<typeof changeView>;
