import { parseArgs } from 'node:util';
import { z } from 'zod';
import { ExitError, exitCodes } from '../../config/exit-error.ts';
import { emailAddress } from '../../config/schemas.ts';
import type { AdminTokenOptions } from '../../services/tokens/admin-token.ts';

const options = z.object({
  'token-file': z
    .string()
    .optional()
    .refine((path) => path !== undefined && path.trim() !== '', 'name the file to create for the token')
    .transform((path = '') => path),
  admin: z.string().trim().toLowerCase().pipe(emailAddress).optional(),
});

/** Reads the arguments after the role. Throws ExitError, which repeats none of them. */
export function readAdminTokenOptions(args: readonly string[]): AdminTokenOptions {
  const { data, error } = options.safeParse(given(args));
  const [issue] = error?.issues ?? [];
  if (issue !== undefined || data === undefined) throw usageError(`--${String(issue?.path[0])}: ${issue?.message}`);
  return { tokenFile: data['token-file'], admin: data.admin ?? null };
}

function given(args: readonly string[]): unknown {
  const type = 'string';
  try {
    return parseArgs({ args: [...args], options: { 'token-file': { type }, admin: { type } } }).values;
  } catch {
    throw usageError('it takes --token-file FILE and --admin EMAIL; see --help');
  }
}

function usageError(message: string): ExitError {
  return new ExitError(exitCodes.usage, `admin-token: ${message}`);
}
