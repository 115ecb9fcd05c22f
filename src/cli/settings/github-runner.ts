import { networkFault } from '../../client/answer-error.ts';
import { ClientError } from '../../client/client-error.ts';
import { type PlainText, getPlain } from '../../client/plain-get.ts';
import { CliError } from '../core/cli-error.ts';
import { exitCodes } from '../core/exit-codes.ts';
import type { Environment } from './environment.ts';
import { isLoopback } from './loopback.ts';
import { proxyFor } from './proxy-variables.ts';
import { tokenOf } from './token-form.ts';

/** What the runner of a job of GitHub is asked. */
export interface RunnerRequest {
  readonly audience: string;
  readonly environment: Pick<Environment, 'runner' | 'proxies'>;
  /** By default 10 seconds. */
  readonly timeoutMs: number | undefined;
}

const defaultTimeoutMs = 10_000;
const maxBytes = 64 * 1024;
const pausesMs = [200, 1_000];

/**
 * Asks the runner for a JWT with this audience, as GitHub documents it: a GET of ACTIONS_ID_TOKEN_REQUEST_URL with the
 * parameter `audience` and the bearer ACTIONS_ID_TOKEN_REQUEST_TOKEN. Throws CliError, with neither of the tokens.
 */
export async function askRunner({ audience, environment, timeoutMs }: RunnerRequest): Promise<string> {
  const { requestUrl, requestToken, isJob } = environment.runner;
  if (requestUrl === undefined || requestToken === undefined) throw notPermitted(isJob);
  const url = runnerUrl(requestUrl);
  url.searchParams.set('audience', audience);
  const { origin, href } = url;
  const get = async (): Promise<PlainText> =>
    await getPlain({
      address: href,
      headers: { accept: 'application/json', authorization: `Bearer ${requestToken}`, 'user-agent': 'keyframe-cli' },
      proxy: proxyFor(href, environment.proxies),
      timeoutMs: timeoutMs ?? defaultTimeoutMs,
      maxBytes,
    });
  const { status, text } = await withRetries(get).catch((error: unknown) => {
    throw notReached(origin, error);
  });
  if (status === 401 || status === 403) throw refusedBy(origin, status);
  const value = status === 200 ? valueIn(text) : undefined;
  if (value !== undefined) return tokenOf(value, `the answer of GitHub's runner (${origin})`);
  throw failure(`GitHub's runner (${origin}) answered ${status} without a token`);
}

/** Without a host that anyone else may read: the request carries a token. */
function runnerUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isProtected = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url !== undefined && isProtected) return url;
  throw new CliError(exitCodes.refused, 'ACTIONS_ID_TOKEN_REQUEST_URL must be an https address; nothing was sent');
}

/** What the runner cannot do at the moment is tried again. */
async function withRetries(get: () => Promise<PlainText>): Promise<PlainText> {
  for (const pauseMs of pausesMs) {
    const answer = await get().catch((error: unknown) => {
      if (!isDropped(error)) throw error;
    });
    if (answer !== undefined && answer.status < 500) return answer;
    await process.getBuiltinModule('node:timers/promises').setTimeout(pauseMs);
  }
  return await get();
}

function isDropped(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');
}

function valueIn(text: string): string | undefined {
  try {
    const body = JSON.parse(text) as { readonly value?: unknown } | null;
    return typeof body?.value === 'string' && body.value !== '' ? body.value : undefined;
  } catch {
    return undefined;
  }
}

const permissionSteps = [
  'Give the job in the workflow the permission: permissions: { id-token: write, contents: read }',
  'A pull request from a fork gets no such token',
];

function notPermitted(isJob: boolean): CliError {
  if (isJob) {
    const message =
      'KEYFRAME_AUDIENCE is set, and this job may not request a JWT: it lacks `permissions: id-token: write`';
    return new CliError(exitCodes.unauthenticated, message, { next: permissionSteps });
  }
  const message = 'KEYFRAME_AUDIENCE is set, and this is no job of GitHub Actions, whose runner gives a JWT';
  return new CliError(exitCodes.unauthenticated, message, {
    next: ['Elsewhere set KEYFRAME_TOKEN or KEYFRAME_TOKEN_FILE to a JWT with this audience (docs/ci.md)'],
  });
}

function refusedBy(origin: string, status: number): CliError {
  const message = `GitHub's runner (${origin}) gave no JWT: it answered ${status}`;
  return new CliError(exitCodes.unauthenticated, message, { next: permissionSteps });
}

function notReached(origin: string, error: unknown): CliError {
  const message = `GitHub's runner (${origin})`;
  if (error instanceof ClientError) return failure(`${message} cannot be reached: ${error.message}`);
  if (error instanceof RangeError) return failure(`${message} gave an answer that is ${error.message}`);
  if ((error as Error).name === 'TimeoutError') return failure(`${message} has not answered in time`);
  return failure(`${message} cannot be reached: ${networkFault(error).reason}`);
}

function failure(message: string): CliError {
  return new CliError(exitCodes.failure, message, { next: ['Run the job again'] });
}
