import { z } from 'zod';
import { limits } from '../domain/limits.ts';
import { integerText } from './fields.ts';

/** The query of a list that can be paged. Without a limit the whole list is answered. */
export const pageQuery = z.strictObject({
  limit: integerText(1, limits.pageSize).exactOptional().meta({ description: 'Entries of a page; all unless given.' }),
  cursor: z.string().exactOptional().meta({ description: '`nextCursor` of the page before.' }),
});
