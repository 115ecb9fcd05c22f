import { z } from 'zod';
import { globLimits, validateGlobCount, validateKeyGlob } from '../domain/key-globs.ts';

const glob = z
  .string()
  .superRefine((candidate, context) => {
    const message = validateKeyGlob(candidate);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .meta({ pattern: `^[-._a-zA-Z0-9*?]{1,${globLimits.length}}$` });

const globs = z
  .array(glob)
  .superRefine((list, context) => {
    const message = validateGlobCount(list);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .meta({ maxItems: globLimits.globs });

/** Some keys of an environment, by globs. */
export const keySelection = z.strictObject({
  include: globs.meta({ description: 'Globs of keys; default all. An empty list includes none.' }).exactOptional(),
  exclude: globs.meta({ description: 'Globs of keys that are left out.' }).exactOptional(),
});
