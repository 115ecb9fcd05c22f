import { parseArgs } from 'node:util';
import { z } from 'zod';
import { ExitError, exitCodes } from '../config/exit-error.ts';
import { emailAddress } from '../config/schemas.ts';

/** The options of roles that create a token for an instance admin. */
export const adminTokenOptions = {
  'token-file': z
    .string()
    .optional()
    .refine(
      (path) => path !== undefined && path.trim() !== '',
      'name the file to create for the new token of an instance admin',
    )
    .transform((path = '') => path),
  admin: z.string().trim().toLowerCase().pipe(emailAddress).optional(),
};

/** What a role takes after its name. */
interface OptionsOf<Shape extends z.ZodRawShape> {
  readonly role: string;
  readonly shape: Shape;
  /** Names of options without a value. */
  readonly flags?: readonly (keyof Shape & string)[];
  /** What it takes, for a message. */
  readonly usage: string;
}

/** Reads the options of a role. Throws ExitError, which repeats none of the arguments. */
export function readOptions<Shape extends z.ZodRawShape>(
  args: readonly string[],
  { role, shape, flags = [], usage }: OptionsOf<Shape>,
): z.output<z.ZodObject<Shape>> {
  const usageError = (message: string): ExitError => new ExitError(exitCodes.usage, `${role}: ${message}`);
  const typeOf = (name: string): 'boolean' | 'string' => (flags.includes(name) ? 'boolean' : 'string');
  const options = Object.fromEntries(Object.keys(shape).map((name) => [name, { type: typeOf(name) }]));
  let given: object;
  try {
    given = parseArgs({ args: [...args], options }).values;
  } catch {
    throw usageError(`it takes ${usage}; see --help`);
  }
  const { data, error } = z.object(shape).safeParse({ ...given });
  const [issue] = error?.issues ?? [];
  if (issue !== undefined || data === undefined) throw usageError(`--${String(issue?.path[0])}: ${issue?.message}`);
  return data;
}
