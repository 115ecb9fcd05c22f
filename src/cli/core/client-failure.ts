import type { ClientError, ClientFault } from '../../client/client-error.ts';
import type { RefusedJwt } from '../../client/jwt.ts';
import { relativeTime } from '../terminal/time.ts';
import { CliError } from './cli-error.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';

/** The exit code for a failed request, and what the user can do next. */
export function cliErrorOf(error: ClientError): CliError {
  const next = error.fault === 'refused' ? nextStepsOf(error) : faultSteps[error.fault](error);
  return new CliError(exitCodeOf(error), error.message, { cause: error, next });
}

const faultSteps: Readonly<Record<Exclude<ClientFault, 'refused'>, (error: ClientError) => string[]>> = {
  invalid_path: () => [],
  unreachable: (error) => {
    const { networkCode, url } = error;
    if (networkCode === 'TIMEOUT') return ['To wait longer, add --timeout <seconds>'];
    if (networkCode === 'EPROTO') return [`If it uses http: --url ${url.replace(/^https:/, 'http:')}`];
    return /CERT|SIGNATURE|ISSUER/.test(networkCode)
      ? ['If it has a private certificate authority, name its file: NODE_EXTRA_CA_CERTS=/path/to/ca.pem']
      : [...httpsHint(error), 'Is the server running? Set another address with --url or KEYFRAME_URL'];
  },
  proxy_failed: ({ networkCode, status, url }) => [
    ...(networkCode === 'TIMEOUT' ? ['To wait longer, add --timeout <seconds>'] : []),
    ...(status === 407 ? ['Give the variable both, percent-encoded: http://USER:PASSWORD@proxy.example.com:3128'] : []),
    `To connect to the server without the proxy: NO_PROXY=${new URL(url).hostname}`,
  ],
  answer_lost: (error) => [
    'The change may have been made: check before you run the command again',
    ...httpsHint(error),
  ],
  redirected: () => ['Set the address that it redirects to with --url'],
  not_keyframe: (error) => [
    ...httpsHint(error),
    'Is this the address of a Keyframe server, without /api/v1? Set it with --url or KEYFRAME_URL',
  ],
  answer_too_long: () => [],
};

// What a port of https does with a request in plain text: it breaks the connection, sends bytes of TLS, or 400.
const httpsCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'HPE_INVALID_CONSTANT']);

function httpsHint({ url, networkCode, status }: ClientError): string[] {
  if (!url.startsWith('http:') || !(httpsCodes.has(networkCode) || status === 400)) return [];
  return [`If the server uses https: --url ${url.replace('http:', 'https:')}`];
}

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
  408: exitCodes.failure,
  409: exitCodes.conflict,
  410: exitCodes.notFound,
  412: exitCodes.conflict,
  426: exitCodes.failure,
};

function otherExitCode({ isOutage }: ClientError): ExitCode {
  return isOutage ? exitCodes.failure : exitCodes.usage;
}

function nextStepsOf(error: ClientError): string[] {
  const { problem, status, headers, isOutage } = error;
  const { code, instance } = problem ?? { code: '', instance: '' };
  const step = steps.get(code);
  if (step !== undefined) return step(error);
  const retry = headers['retry-after'];
  if (status === 429) return [`Wait ${retry ?? 'some'} seconds and try again`];
  if (!isOutage) return [];
  const wait = retry === undefined ? [] : [`Try again in ${retry} seconds`];
  return [...wait, `See the server's log for details, under the request id ${instance.replace('urn:uuid:', '')}`];
}

/** What a suggested command names: the secret and the revision of the request, and the flags of its environment. */
interface Named {
  readonly key: string;
  readonly revision: string | undefined;
  /** With a space before each; empty if the request is for no environment. */
  readonly flags: string;
}

function namedBy({ path, message }: ClientError): Named {
  const { pathname, searchParams } = new URL(path, 'http://server');
  const place = /^\/(?:secrets|versions)\/(?<org>[^/]+)\/(?<project>[^/]+)\/(?<env>[^/]+)(?:\/(?<key>[^/]+))?/.exec(
    pathname,
  );
  const { org, project, env, key } = place?.groups ?? {};
  return {
    key: key ?? /\bsecret ([^ ,;]+)/.exec(message)?.[1] ?? '<key>',
    revision: searchParams.get('revision') ?? undefined,
    flags: place === null ? '' : ` -o ${org} -p ${project} -e ${env}`,
  };
}

/** The server does not say what is wrong with a JWT. An admin may ask it. */
function jwtSteps({ serviceTokenId, expiresAt }: RefusedJwt): string[] {
  const now = new Date();
  const hasExpired = expiresAt !== undefined && expiresAt <= now.getTime();
  const iso = new Date(expiresAt ?? 0).toISOString();
  return [
    ...(hasExpired
      ? [`The JWT expired ${relativeTime({ iso }, now)} by the clock of this machine: request a new one`]
      : []),
    `An admin of the organization sees what is wrong with a JWT: keyframe token explain ${serviceTokenId ?? '<id>'} (docs/ci.md)`,
  ];
}

const steps: ReadonlyMap<string, (error: ClientError) => string[]> = new Map(
  Object.entries<(error: ClientError) => string[]>({
    unauthenticated: ({ url, jwt }) => {
      if (jwt !== undefined) return jwtSteps(jwt);
      return [
        `Sign in: keyframe login --url ${url}`,
        'In automation: set KEYFRAME_TOKEN to another service token (keyframe token create-service)',
      ];
    },
    issuer_changed: ({ jwt }) => [
      `An admin of the organization must accept the issuer as it is now: keyframe token accept-issuer ${jwt?.serviceTokenId ?? '<id>'}`,
    ],
    forbidden: () => ['See who you are and what you may do: keyframe whoami'],
    not_found: () => ['See what exists: keyframe org list, keyframe project list, keyframe env list, keyframe list'],
    plan_outdated: () => [
      'Check the new plan: run the command again, with --dry-run in place of --plan-hash if that was given',
    ],
    secret_deleted: (error) => {
      const { key, flags } = namedBy(error);
      const version = /\bversion ([0-9]+)/.exec(error.message)?.[1] ?? '<n>';
      return [
        `Restore it: keyframe rollback ${key} --version ${version} --undelete${flags}`,
        `See its versions: keyframe versions ${key}${flags}`,
      ];
    },
    revert_conflict: () => ['To undo the change of these secrets too, add --overwrite'],
    value_in_other_versions: () => [
      'To destroy the value in all of them, add --same-value; to keep it in the others, --this-version-only',
    ],
    version_current: (error) => {
      const { key, flags } = namedBy(error);
      return [
        `Give the secret another value first: keyframe rotate ${key}${flags}`,
        `or set it to one of yours: keyframe set ${key}${flags}`,
      ];
    },
    version_destroyed: (error) => {
      const { key, revision, flags } = namedBy(error);
      const others = `To read the others: keyframe pull --revision ${revision} --skip-destroyed${flags}`;
      return [
        `See which versions still have a value: keyframe versions ${key}${flags}`,
        ...(revision === undefined ? [] : [others]),
      ];
    },
    version_mismatch: ({ message }) => {
      if (message.includes('does not exist'))
        return ['To create it, give --expected-version 0 or leave the option out'];
      return ['Another user may have changed it: check the change, and run the command again'];
    },
  }),
);
