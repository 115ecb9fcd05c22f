import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiClient } from '../../../client/api-client.ts';
import { call } from '../../../client/call.ts';
import { CliError } from '../../core/cli-error.ts';
import type { CommandContext } from '../../core/command.ts';
import { exitCodes } from '../../core/exit-codes.ts';

/** Signs in through a browser, in which the user approves this command (docs/people.md, "Sign-in of the command"). */

type Context = Pick<CommandContext, 'client' | 'io' | 'environment'>;

const limitMs = 5 * 60_000;

/** Whether a browser can be opened on this machine, and its user can see it. */
export function hasBrowser(variables: Readonly<NodeJS.ProcessEnv>): boolean {
  if (variables['SSH_CONNECTION'] !== undefined) return false;
  if (process.platform === 'darwin' || process.platform === 'win32') return true;
  return ['BROWSER', 'DISPLAY', 'WAYLAND_DISPLAY'].some((name) => (variables[name] ?? '') !== '');
}

/**
 * Signs in with the browser of this machine (RFC 8252): it passes a code on to a port of 127.0.0.1. Returns the token.
 * Throws CliError unauthenticated if the user does not approve within 5 minutes, and ClientError.
 */
export async function loginInBrowser({ client, io, environment }: Context, url: string): Promise<string> {
  const secret = newSecret();
  const state = randomBytes(16).toString('base64url');
  const { server, port, code } = await listen(state);
  try {
    const page = new URL(`${url}/login`);
    page.search = new URLSearchParams({ port: String(port), challenge: secret.challenge, state }).toString();
    io.note(`Approve the sign-in in your browser: ${page.href}`);
    openBrowser(page.href, environment.variables);
    const token = await requestToken(client({ url }), await withinLimit(code), secret);
    if (token !== undefined) return token;
    throw notApproved();
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/**
 * Signs in with a browser on another machine, in which the user types a code (RFC 8628). Returns the token. Throws CliError
 * unauthenticated if the user does not approve within 5 minutes, and ClientError.
 */
export async function loginOnOtherMachine({ client, io }: Context, url: string): Promise<string> {
  const secret = newSecret();
  const api = client({ url });
  const { body: begun } = await call(api, 'POST /device-logins', { body: { codeChallenge: secret.challenge } });
  io.note(`Open ${url}/device in a browser, and type the code ${begun.userCode}`);
  const endsAt = Date.now() + limitMs;
  while (Date.now() < endsAt) {
    await pause(begun.intervalSeconds * 1000);
    const token = await requestToken(api, begun.deviceCode, secret);
    if (token !== undefined) return token;
  }
  throw notApproved();
}

interface Secret {
  readonly verifier: string;
  readonly challenge: string;
}

/** RFC 7636, method S256. */
function newSecret(): Secret {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** The token; undefined while the user has not approved. */
async function requestToken(api: ApiClient, code: string, { verifier }: Secret): Promise<string | undefined> {
  const name = `keyframe on ${hostname()}`.slice(0, 200);
  const answer = await call(api, 'POST /login-tokens', { body: { code, codeVerifier: verifier, name } });
  return answer.status === 201 ? answer.body.token : undefined;
}

interface Listening {
  readonly server: Server;
  readonly port: number;
  /** The code that the browser passes on. */
  readonly code: Promise<string>;
}

/** Waits for the browser on a free port of 127.0.0.1, which no other machine reaches. */
async function listen(state: string): Promise<Listening> {
  const server = createServer();
  const code = new Promise<string>((resolve) => {
    server.on('request', (request, response) => serveCallback(request, response, { state, resolve }));
  });
  await new Promise<void>((listening, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', listening);
  });
  const { port } = server.address() as AddressInfo;
  return { server, port, code };
}

interface Expected {
  readonly state: string;
  readonly resolve: (code: string) => void;
}

function serveCallback(request: IncomingMessage, response: ServerResponse, { state, resolve }: Expected): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
  const code = searchParams.get('code');
  // Without the state, another page of the browser could sign the command in as its own user.
  const isOurs = pathname === '/callback' && code !== null && searchParams.get('state') === state;
  response.writeHead(isOurs ? 200 : 400, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'",
    'Referrer-Policy': 'no-referrer',
    Connection: 'close',
  });
  response.end(
    isOurs ? 'You are signed in. You can close this page.\n' : 'This is not the sign-in that keyframe waits for.\n',
  );
  if (isOurs) resolve(code);
}

async function withinLimit(code: Promise<string>): Promise<string> {
  const timeout = new AbortController();
  try {
    return await Promise.race([
      code,
      pause(limitMs, undefined, { signal: timeout.signal }).then(() => {
        throw notApproved();
      }),
    ]);
  } finally {
    timeout.abort();
  }
}

function notApproved(): CliError {
  return new CliError(exitCodes.unauthenticated, 'the sign-in was not approved within 5 minutes', {
    next: ['Try again: keyframe login', 'Or give a token: keyframe login --token - < token.txt'],
  });
}

/** Opens a page. The address was printed, so a browser that does not open is no error. */
function openBrowser(page: string, variables: Readonly<NodeJS.ProcessEnv>): void {
  const [program, ...args] = browserCommand(page, variables);
  const child = spawn(program, args, { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}

function browserCommand(page: string, variables: Readonly<NodeJS.ProcessEnv>): [string, ...string[]] {
  const chosen = variables['BROWSER'] ?? '';
  if (chosen !== '') return [chosen, page];
  if (process.platform === 'darwin') return ['open', page];
  // Through a shell, `&` in the address would end the command.
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', page];
  return ['xdg-open', page];
}
