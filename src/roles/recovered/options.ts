import { parseArgs } from 'node:util';
import { z } from 'zod';
import { ExitError, exitCodes } from '../../config/exit-error.ts';
import { emailAddress } from '../../config/schemas.ts';

/** The options of the role `recovered`; docs/backup-and-recovery.md explains them. */
export interface RecoveredOptions {
  readonly tokenFile: string;
  /** An e-mail address in lower case; null if the option is not given. */
  readonly admin: string | null;
  /** Null if the option is not given. */
  readonly before: Date | null;
}

const moment = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with a UTC offset, such as 2027-01-31T12:00:00Z' })
  .transform((text) => new Date(text));

const options = z.object({
  'token-file': z
    .string()
    .optional()
    .refine(
      (path) => path !== undefined && path.trim() !== '',
      'name the file to create for the new token of an instance admin',
    )
    .transform((path = '') => path),
  admin: z.string().trim().toLowerCase().pipe(emailAddress).optional(),
  before: moment.optional(),
});

/** Reads the arguments after the role. Throws ExitError, which repeats none of them. */
export function readRecoveredOptions(args: readonly string[]): RecoveredOptions {
  const { data, error } = options.safeParse(given(args));
  const [issue] = error?.issues ?? [];
  if (issue !== undefined || data === undefined) throw usageError(`--${String(issue?.path[0])}: ${issue?.message}`);
  return { tokenFile: data['token-file'], admin: data.admin ?? null, before: data.before ?? null };
}

function given(args: readonly string[]): unknown {
  const type = 'string';
  try {
    return parseArgs({ args: [...args], options: { 'token-file': { type }, admin: { type }, before: { type } } })
      .values;
  } catch {
    throw usageError('it takes --token-file FILE, --admin EMAIL and --before TIME; see --help');
  }
}

function usageError(message: string): ExitError {
  return new ExitError(exitCodes.usage, `recovered: ${message}`);
}
