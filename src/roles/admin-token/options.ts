import type { AdminTokenOptions } from '../../services/tokens/admin-token.ts';
import { adminTokenOptions, readOptions } from '../option-reader.ts';

/** Reads the arguments after the role. Throws ExitError, which repeats none of them. */
export function readAdminTokenOptions(args: readonly string[]): AdminTokenOptions {
  const options = readOptions(args, {
    role: 'admin-token',
    shape: adminTokenOptions,
    usage: '--token-file FILE and --admin EMAIL',
  });
  return { tokenFile: options['token-file'], admin: options.admin ?? null };
}
