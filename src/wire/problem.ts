import { z } from 'zod';

/** The body of every error response: RFC 9457 problem details, media type `application/problem+json`. */
export const problem = z
  .strictObject({
    type: z.string().regex(/^urn:keyframe:error:[a-z_]+$/),
    title: z.string(),
    status: z.int(),
    /** What is wrong and what to do, for people; never a value. */
    detail: z.string(),
    /** The id of the request, which is also in the header X-Request-Id and in the log of the server. */
    instance: z.string().regex(/^urn:uuid:[0-9a-f-]{36}$/),
    /** A code of docs/errors.md, for programs. */
    code: z.string(),
    errors: z.array(z.strictObject({ field: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem' });

export type Problem = z.infer<typeof problem>;
