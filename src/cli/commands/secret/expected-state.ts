import type { ApiClient } from '../../../client/api-client.ts';
import { call } from '../../../client/call.ts';
import { CliError } from '../../core/cli-error.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { text, versionNumber } from '../../core/options.ts';
import { type Scope, scopeParams } from '../../settings/scope.ts';
import { shownScope } from './secrets-api.ts';

/** Writes that are refused if another change came first. */

export const expectedRevisionOption = {
  expectedRevision: text(
    '--expected-revision <revision>',
    'Change nothing unless this is the current revision (number or id)',
  ),
};

export const expectedVersionOption = {
  expectedVersion: versionNumber(
    'Change nothing unless this is the current version of the key; 0 if the key must not exist yet',
    {
      name: 'expected-version',
      min: 0,
    },
  ),
};

/** The state that a change is based on. */
export interface Revision {
  readonly revision: number;
  readonly revisionId: string;
}

/**
 * The id of the revision that a user expects, for a request: the server compares it in the change. A number is compared
 * here first, because only ids are unique. Throws CliError conflict.
 */
export async function expectedRevisionId(
  api: ApiClient,
  scope: Scope,
  expected: string | undefined,
): Promise<string | undefined> {
  if (expected === undefined || !/^[0-9]{1,15}$/.test(expected)) return expected;
  const { body: current } = await call(api, 'GET /environments/{org}/{project}/{env}', { params: scopeParams(scope) });
  requireRevision(scope, current, expected);
  return current.revisionId;
}

/** Throws CliError conflict if the current revision is not the expected one. */
export function requireRevision(scope: Scope, current: Revision, expected: string | undefined): void {
  if (expected === undefined || [String(current.revision), current.revisionId].includes(expected.toLowerCase())) return;
  const message = `${shownScope(scope)} is at revision ${current.revision}, not at the expected one; nothing was changed`;
  throw new CliError(exitCodes.conflict, message, { next: ['See what has changed: keyframe history'] });
}
