import type { IncomingHttpHeaders } from 'node:http';
import type { Problem } from '../wire/problem.ts';
import { CliError } from './cli-error.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';

export interface RefusedAnswer {
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON; undefined where the answer is none. */
  readonly body: unknown;
}

/** What an answer other than a success means for the person at the terminal. */
export function answerError({ url, status, headers, body }: RefusedAnswer): CliError {
  if (status >= 300 && status < 400 && status !== 304) {
    return new CliError(exitCodes.failure, `${url} sends its callers elsewhere, and a token is not sent after them`, {
      next: ['Give the address that it leads to with --url'],
    });
  }
  const told = problemOf(body);
  if (told === undefined) return foreignAnswer(url, status);
  return new CliError(exitCodeOf(status), problemText(told), { next: nextSteps(url, told, headers) });
}

/** What it means that the answer is not one of Keyframe's. */
export function foreignAnswer(url: string, status: number): CliError {
  return new CliError(exitCodes.failure, `${url} answered ${status}, but not as Keyframe does`, {
    next: ['Is this the address of a Keyframe server, without /api/v1? Set it with --url or KEYFRAME_URL'],
  });
}

/** What it means that no answer came at all; to a request that writes, the answer alone may have been lost. */
export function networkError(url: string, error: unknown, { isWrite = false } = {}): CliError {
  const { code, message } = networkFault(error);
  const known = networkFaults[code];
  const reason = known ?? (code === '' ? message : code);
  if (isWrite && lostAnswers.has(code)) {
    return new CliError(exitCodes.failure, `${url} has not answered: ${reason}`, {
      cause: error,
      next: ['What was asked may have been done all the same: look before you run the command again'],
    });
  }
  return new CliError(exitCodes.failure, `${url} cannot be reached: ${reason}`, {
    cause: error,
    next: /CERT|SIGNATURE|ISSUER/.test(code)
      ? ['Where it has a certificate authority of its own, name its file: NODE_EXTRA_CA_CERTS=/path/to/ca.pem']
      : ['Is the server running? Another address is given by --url or KEYFRAME_URL'],
  });
}

/** Faults that come once the request may be there. */
const lostAnswers: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

const networkFaults: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection broke',
  EPIPE: 'the connection broke',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'its name cannot be looked up at the moment',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that network',
};

function networkFault(error: unknown): { code: string; message: string } {
  // Several addresses were tried: the last one tells.
  const single = error instanceof AggregateError ? (error.errors as unknown[]).at(-1) : error;
  const { code, message } = single as NodeJS.ErrnoException;
  return { code: code ?? '', message };
}

function exitCodeOf(status: number): ExitCode {
  switch (status) {
    case 401:
      return exitCodes.unauthenticated;
    case 403:
      return exitCodes.forbidden;
    case 404:
    case 410:
      return exitCodes.notFound;
    case 409:
    case 412:
      return exitCodes.conflict;
    default:
      return status >= 400 && status < 500 && status !== 429 ? exitCodes.usage : exitCodes.failure;
  }
}

function problemText({ detail, errors = [] }: Problem): string {
  // The detail tells the first of them.
  const others = errors.slice(1).map(({ field, message }) => `${field}: ${message}`);
  return others.length === 0 ? detail : [detail, ...others].join('; ');
}

function nextSteps(url: string, { code, status, instance }: Problem, headers: IncomingHttpHeaders): string[] {
  if (Object.hasOwn(steps, code)) return steps[code]?.(url) ?? [];
  if (status === 429) return [`Wait ${headers['retry-after'] ?? 'some'} seconds and try again`];
  if (status < 500) return [];
  const retry = headers['retry-after'];
  const wait = retry === undefined ? [] : [`Try again in ${retry} seconds`];
  return [...wait, `The server's log tells more under the request id ${instance.replace('urn:uuid:', '')}`];
}

const steps: Readonly<Record<string, (url: string) => string[]>> = {
  unauthenticated: (url) => [
    `Sign in: keyframe login --url ${url}`,
    'In automation: set KEYFRAME_TOKEN to another service token',
  ],
  forbidden: () => ['See who you are and what you may do: keyframe whoami'],
  not_found: () => ['See what is there: keyframe org list, keyframe project list, keyframe env list, keyframe list'],
  plan_outdated: () => [
    'Look at the new plan: run the command again, with --dry-run in place of --plan-hash if that was given',
  ],
  secret_deleted: () => ['Its history is kept: keyframe versions <key>. Write it anew: keyframe set <key>=<value>'],
  value_in_other_versions: () => [
    'To destroy the value in all of them, add --same-value; to keep it in the others, --this-version-only',
  ],
  version_current: () => ['Give the secret another value first: keyframe rotate <key>, or keyframe set <key>=<value>'],
  version_destroyed: () => ['See which versions still have a value: keyframe versions <key>'],
  version_mismatch: () => ['Somebody else has changed it meanwhile: look at it, and run the command again'],
};

function problemOf(body: unknown): Problem | undefined {
  const candidate = body as Partial<Problem> | undefined;
  const { code, detail, status, instance = '', errors = [] } = candidate ?? {};
  const isProblem =
    typeof code === 'string' &&
    typeof detail === 'string' &&
    typeof status === 'number' &&
    typeof instance === 'string' &&
    Array.isArray(errors);
  return isProblem ? ({ ...candidate, instance } as Problem) : undefined;
}
