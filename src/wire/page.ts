import { z } from 'zod';
import { limits } from '../domain/limits.ts';
import { integerText } from './fields.ts';

/** The query of a list with pages. Without a limit, the response has the whole list. */
export const pageQuery = z.strictObject({
  limit: integerText(1, limits.pageSize)
    .exactOptional()
    .meta({ description: 'Maximum entries of a page; all by default.' }),
  cursor: z.string().exactOptional().meta({ description: '`nextCursor` of the previous page.' }),
});
