import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An answer of the runner other than a JWT. */
export interface RunnerAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface GitHubRunnerOptions {
  /** A JWT of the issuer with this audience. */
  readonly jwtFor: (audience: string) => string | Promise<string>;
}

/**
 * The part of a runner of GitHub that gives JWTs to a job, as GitHub documents it: a GET of ACTIONS_ID_TOKEN_REQUEST_URL with
 * the parameter `audience` and the bearer ACTIONS_ID_TOKEN_REQUEST_TOKEN returns `{"count": …, "value": "<JWT>"}`.
 */
export class GitHubRunner {
  /** The audiences that were asked for, in this order. */
  readonly asked: string[] = [];
  /** What the next requests get in place of a JWT, one after the other; undefined breaks the connection. */
  readonly faults: (RunnerAnswer | undefined)[] = [];
  readonly requestToken = `gh-request-${randomBytes(24).toString('base64url')}`;
  readonly #options: GitHubRunnerOptions;
  readonly #server: Server;

  private constructor(options: GitHubRunnerOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(options: GitHubRunnerOptions): Promise<GitHubRunner> {
    const runner = new GitHubRunner(options);
    await new Promise<void>((resolve) => void runner.#server.listen(0, '127.0.0.1', resolve));
    return runner;
  }

  /** What a job has with `permissions: id-token: write`. */
  get variables(): { readonly ACTIONS_ID_TOKEN_REQUEST_URL: string; readonly ACTIONS_ID_TOKEN_REQUEST_TOKEN: string } {
    const { port } = this.#server.address() as AddressInfo;
    return {
      ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${port}/hubs/Actions/plans/1/jobs/2/idtoken?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: this.requestToken,
    };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://runner');
    const isKnown = pathname === '/hubs/Actions/plans/1/jobs/2/idtoken' && searchParams.get('api-version') === '2.0';
    const [, bearer] = /^bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
    if (request.method !== 'GET' || !isKnown) return void response.writeHead(404).end();
    if (bearer !== this.requestToken) return void response.writeHead(401).end();
    // Without the parameter, GitHub gives a JWT for the owner of the repository.
    const audience = searchParams.get('audience') ?? 'https://github.com/acme';
    this.asked.push(audience);
    if (this.faults.length > 0) return answerFault(this.faults.shift(), response);
    const value = await this.#options.jwtFor(audience);
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
    response.end(JSON.stringify({ count: value.length, value }));
  }
}

function answerFault(fault: RunnerAnswer | undefined, response: ServerResponse): void {
  if (fault === undefined) response.destroy();
  else response.writeHead(fault.status, fault.headers).end(fault.body);
}
