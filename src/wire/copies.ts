import { z } from 'zod';
import { copyModes } from '../domain/plans/copy.ts';
import { comment, keySelection, planHash, revisionRef, slug, uuid } from './fields.ts';

/** docs/interface.md 4.13: copies of secrets from one environment to another, or from an earlier revision of the same one. */

export const copyBody = z.strictObject({
  from: z.strictObject({
    project: slug,
    environment: slug,
    /** The newest revision by default. Required if the environment is its own source. */
    revision: revisionRef.exactOptional(),
  }),
  mode: z.enum(copyModes, { error: `must be one of ${copyModes.join(', ')}` }),
  keys: keySelection.exactOptional(),
  dryRun: z.boolean().exactOptional(),
  planHash: planHash.exactOptional(),
  expectedRevision: uuid.exactOptional(),
  comment: comment.exactOptional(),
});

const revision = { revision: z.int().min(0), revisionId: z.guid() };
const keys = z.array(z.string());

/** What a copy did, or would do with a planHash. */
export const copyView = z
  .strictObject({
    created: keys,
    updated: keys,
    /** Equal already. */
    unchanged: keys,
    /** Left with another value, because the mode is `missing`. */
    kept: keys,
    deleted: keys,
    /** Left unchanged, because the source's values were destroyed. */
    destroyed: keys,
    /** The revision of the source that was read. */
    from: z.strictObject(revision),
    ...revision,
    planHash: z.string().exactOptional(),
  })
  .meta({ id: 'Copy' });

export type CopyView = z.infer<typeof copyView>;
