import type { z } from 'zod';
import type { RoleName } from './role-names.ts';

/** One environment variable, `KEYFRAME_` and its name. */
export interface Variable {
  /** From the text to the value. */
  readonly schema: z.ZodType<unknown, string>;
  /** The roles that read it. Other roles accept it and do not check it. */
  readonly roles: readonly RoleName[];
  /** The roles that read it do not start without it. */
  readonly required?: true;
  /** If this variable is set, the roles that read both start without it. */
  readonly unless?: string;
  /** The text that is read if the variable is not set. */
  readonly default?: string;
  /** For people: what applies if the variable is not set and has no default text. */
  readonly unset?: string;
  /** It holds a secret, which a file may hold instead: its name and `_FILE` name that file. */
  readonly secret?: true;
  /** It names a file that must be readable and not empty. */
  readonly readableFile?: true;
  /** For people: which values are valid, in Markdown. */
  readonly format: string;
  /** One sentence in Markdown. */
  readonly description: string;
  /** A link in Markdown to the details, relative to docs/. */
  readonly details?: string;
}
