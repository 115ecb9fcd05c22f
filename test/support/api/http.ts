import { expect } from '@jest/globals';
import { type Edge, composeMetrics, openApi } from '../../../src/compose/edge.ts';
import type { AppOptions } from '../../../src/http/app.ts';
import { Readiness } from '../../../src/http/health/readiness.ts';
import type { HttpServer } from '../../../src/http/server.ts';
import { UntrustedProxyWatch } from '../../../src/http/admission/untrusted-proxy.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import type { Metrics } from '../../../src/observability/metrics.ts';
import { writeFault } from '../../../src/store/database.ts';
import { schemaFault } from '../../../src/store/migrate.ts';
import { type Problem, problem } from '../../../src/wire/problem.ts';
import { type TestDatabase, createTestDatabase } from '../database/postgres.ts';
import { type StartOptions, type TestServices, startServices } from './services.ts';

/** The real app over the real services on a separate database, listening on a free port of 127.0.0.1. */
export interface TestApi {
  readonly database: TestDatabase;
  readonly services: TestServices;
  /** What its server of metrics would share with it. */
  readonly edge: Edge;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly untrustedProxies: UntrustedProxyWatch;
  readonly server: HttpServer;
  readonly port: number;
  /** Every line it has logged, at level debug, parsed. */
  readonly logs: readonly Readonly<Record<string, unknown>>[];
  /** A client that presents this token; without one it sends no Authorization. */
  client(token?: { reveal(): string }): HttpClient;
  close(): Promise<void>;
}

export interface TestApiServices extends StartOptions {
  /** A database to use, and to drop at the end, instead of a new one. */
  readonly database?: TestDatabase;
}

/** Without rate limits and trusted proxies by default. */
export async function startTestApi(options: AppOptions = {}, below: TestApiServices = {}): Promise<TestApi> {
  const database = below.database ?? (await createTestDatabase());
  const services = await startServices(database.url, below);
  const logs: Record<string, unknown>[] = [];
  const logger = createLogger('debug', {
    write: (line) => void logs.push(JSON.parse(line) as Record<string, unknown>),
  });
  const metrics = composeMetrics(services);
  const readiness = new Readiness({
    clock: systemClock,
    checks: [() => writeFault(services.database), () => schemaFault(services.database)],
  });
  const untrustedProxies = new UntrustedProxyWatch({ clock: systemClock, logger });
  const edge = { services, logger, metrics, readiness, untrustedProxies };
  const open = new AsyncDisposableStack();
  const address = { host: '127.0.0.1', port: 0 };
  const { api: server } = await openApi(edge, { address, options, graceMs: 1000 }, open);
  return {
    database,
    services,
    edge,
    readiness,
    metrics,
    untrustedProxies,
    server,
    logs,
    port: server.port,
    client: (token) => new HttpClient(`http://127.0.0.1:${server.port}`, token?.reveal()),
    async close() {
      await open.disposeAsync();
      await services.close();
      await database.drop();
    },
  };
}

/** Gives a user a role by its path, with the consent of the user. */
export async function giveRole(by: HttpClient, user: HttpClient, path: string, role: string): Promise<void> {
  const { id } = await by.expectStatus<{ id: string }>(202, 'PUT', path, { role });
  await user.expectStatus(200, 'POST', `/invitations/${id}/accept`);
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON; undefined where the answer has no body. */
  readonly body: unknown;
  readonly text: string;
}

/** Speaks to the app as one caller, and expects of every answer what holds for all of them. */
export class HttpClient {
  readonly #url: string;
  readonly #token: string | undefined;

  constructor(url: string, token: string | undefined) {
    this.#url = url;
    this.#token = token;
  }

  /** A request below /api/v1. A body that is text or bytes is sent as it is, anything else as JSON. */
  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<HttpAnswer> {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    return this.request(method, `/api/v1${path}`, {
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }),
    });
  }

  /** A request to any path. */
  async request(method: string, path: string, init: RequestInit = {}): Promise<HttpAnswer> {
    const authorization: Record<string, string> =
      this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` };
    const headers = { ...authorization, ...(init.headers as Record<string, string> | undefined) };
    const response = await fetch(this.#url + path, { ...init, method, headers });
    const text = await response.text();
    const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
    const answer = {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== '' ? JSON.parse(text) : undefined,
      text,
    };
    expectCommon(answer);
    return answer;
  }

  /** A request that must be answered with this status; answers the body. */
  async expectStatus<Body = unknown>(status: number, method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await this.send(method, path, body);
    if (answer.status !== status) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body as Body;
  }
}

/** Expects the answer to be a problem with this code, and answers it. */
export async function expectProblem(asked: Promise<HttpAnswer>, code: string): Promise<Problem> {
  const { body, text } = await asked;
  const found = problem.safeParse(body).data;
  if (found?.code !== code) throw new Error(`the answer is not ${code}: ${text}`);
  return found;
}

const noTag = '"00000000-0000-0000-0000-000000000000"';

function expectCommon({ status, headers, body }: HttpAnswer): void {
  const requestId = headers.get('x-request-id');
  expect(requestId).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none';/);
  expect(headers.has('x-powered-by')).toBe(false);
  // Of our own making alone: an id, never a digest of what is answered.
  expect(headers.get('etag') ?? noTag).toMatch(/^"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"$/);
  expect(headers.has('www-authenticate')).toBe(status === 401);
  expect(headers.has('allow')).toBe(status === 405);
  if (headers.get('content-type') !== 'application/problem+json') return;
  const { status: statusInBody, instance } = problem.parse(body);
  expect(statusInBody).toBe(status);
  expect(instance).toBe(`urn:uuid:${requestId}`);
}
