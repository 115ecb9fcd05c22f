import { ClientError } from '../../client/client-error.ts';
import type { CliError } from '../core/cli-error.ts';
import { type ExitCode, exitCodeMeanings } from '../core/exit-codes.ts';
import type { ProblemOutput } from './shapes.ts';

/** What --output json prints of an error. An error of the server has all fields that the server sent. */
export function problemOf({ message, exitCode, next, cause }: CliError): ProblemOutput {
  const failed = cause instanceof ClientError ? cause : undefined;
  const code = failed === undefined || failed.fault === 'refused' ? codes[exitCode] : failed.fault;
  const own = { type: `urn:keyframe:cli:${code}`, title: exitCodeMeanings[exitCode], code };
  return { ...(failed?.problem ?? own), detail: message, exitCode, next: [...next] };
}

const codes: Readonly<Record<ExitCode, string>> = {
  0: 'ok',
  1: 'failure',
  2: 'usage',
  3: 'unauthenticated',
  4: 'forbidden',
  5: 'not_found',
  6: 'conflict',
  7: 'not_confirmed',
  8: 'different',
  9: 'late',
  130: 'interrupted',
};
