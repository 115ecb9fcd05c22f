import type { ClientError, ClientFault } from '../client/client-error.ts';
import { CliError } from './cli-error.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';

/** The exit code for a failed request, and what the user can do next. */
export function cliErrorOf(error: ClientError): CliError {
  const next = error.fault === 'refused' ? nextStepsOf(error) : faultSteps[error.fault](error);
  return new CliError(exitCodeOf(error), error.message, { cause: error, next });
}

const faultSteps: Readonly<Record<Exclude<ClientFault, 'refused'>, (error: ClientError) => string[]>> = {
  invalid_path: () => [],
  unreachable: ({ networkCode, url }) => {
    if (networkCode === 'TIMEOUT') return ['To wait longer, add --timeout <seconds>'];
    if (networkCode === 'EPROTO') return [`If it uses http: --url ${url.replace(/^https:/, 'http:')}`];
    return /CERT|SIGNATURE|ISSUER/.test(networkCode)
      ? ['If it has a private certificate authority, name its file: NODE_EXTRA_CA_CERTS=/path/to/ca.pem']
      : ['Is the server running? Set another address with --url or KEYFRAME_URL'];
  },
  answer_lost: () => ['The change may have been made: check before you run the command again'],
  redirected: () => ['Set the address that it redirects to with --url'],
  not_keyframe: () => ['Is this the address of a Keyframe server, without /api/v1? Set it with --url or KEYFRAME_URL'],
  answer_too_long: () => [],
};

function exitCodeOf(error: ClientError): ExitCode {
  if (error.fault === 'invalid_path') return exitCodes.usage;
  const { status = 0 } = error;
  if (error.fault === 'refused') return statusExitCodes[status] ?? otherExitCode(error);
  return exitCodes.failure;
}

const statusExitCodes: Readonly<Record<number, ExitCode>> = {
  401: exitCodes.unauthenticated,
  403: exitCodes.forbidden,
  404: exitCodes.notFound,
  409: exitCodes.conflict,
  410: exitCodes.notFound,
  412: exitCodes.conflict,
};

function otherExitCode({ isOutage }: ClientError): ExitCode {
  return isOutage ? exitCodes.failure : exitCodes.usage;
}

function nextStepsOf({ url, problem, status, headers, isOutage }: ClientError): string[] {
  const { code, instance } = problem ?? { code: '', instance: '' };
  const step = steps.get(code);
  if (step !== undefined) return step(url);
  const retry = headers['retry-after'];
  if (status === 429) return [`Wait ${retry ?? 'some'} seconds and try again`];
  if (!isOutage) return [];
  const wait = retry === undefined ? [] : [`Try again in ${retry} seconds`];
  return [...wait, `See the server's log for details, under the request id ${instance.replace('urn:uuid:', '')}`];
}

const steps: ReadonlyMap<string, (url: string) => string[]> = new Map(
  Object.entries<(url: string) => string[]>({
    unauthenticated: (url) => [
      `Sign in: keyframe login --url ${url}`,
      'In automation: set KEYFRAME_TOKEN to another service token',
    ],
    forbidden: () => ['See who you are and what you may do: keyframe whoami'],
    not_found: () => ['See what exists: keyframe org list, keyframe project list, keyframe env list, keyframe list'],
    plan_outdated: () => [
      'Check the new plan: run the command again, with --dry-run in place of --plan-hash if that was given',
    ],
    secret_deleted: () => [
      'Restore it: keyframe rollback <key> --version <n> --undelete. Its versions: keyframe versions <key>',
    ],
    revert_conflict: () => ['To undo the change of these secrets too, add --overwrite'],
    value_in_other_versions: () => [
      'To destroy the value in all of them, add --same-value; to keep it in the others, --this-version-only',
    ],
    version_current: () => [
      'Give the secret another value first: keyframe rotate <key>, or keyframe set <key>=<value>',
    ],
    version_destroyed: () => [
      'See which versions still have a value: keyframe versions <key>',
      'To read the others of a revision: keyframe pull --revision <revision> --skip-destroyed',
    ],
    version_mismatch: () => ['Another user has changed it: check the change, and run the command again'],
  }),
);
