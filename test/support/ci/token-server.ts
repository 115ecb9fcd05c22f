import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BodyOf } from '../../../src/client/call.ts';

const id = '5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e';
const place = { id, slug: 'acme' };
const me: BodyOf<'GET /me'> = {
  type: 'service_token',
  id,
  name: 'ci',
  expiresAt: null,
  serverVersion: '1.0.0',
  scope: 'environment',
  permission: 'read',
  organization: place,
  project: { ...place, slug: 'shop' },
  environment: { ...place, slug: 'production' },
};
const secret = { key: 'A', value: 'hunter2', version: 1 };

/** Answers the command as Keyframe does, with 401 for each token that it does not accept. A stream ends after one event. */
export class TokenServer {
  readonly presented: string[] = [];
  readonly accepted = new Set<string>();
  /** Called for each token, before it is judged. */
  onToken: (token: string) => void = () => undefined;
  readonly #server: Server;
  #streams = 0;

  private constructor() {
    this.#server = createServer((request, response) => this.#serve(request, response));
  }

  static async start(): Promise<TokenServer> {
    const server = new TokenServer();
    await new Promise<void>((resolve) => void server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Forgets tokens of a former test. */
  reset(): void {
    this.presented.length = 0;
    this.accepted.clear();
    this.onToken = () => undefined;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve({ url: path = '', headers }: IncomingMessage, response: ServerResponse): void {
    if (path === '/readyz') return send(response, { status: 'ok' });
    const token = (headers.authorization ?? '').replace(/^Bearer /, '');
    this.presented.push(token);
    this.onToken(token);
    if (!this.accepted.has(token)) return refuse(response);
    if (path.startsWith('/api/v1/changes/')) return this.#stream(response);
    const list = { revision: 1, revisionId: id, secrets: [secret] };
    send(response, path === '/api/v1/me' ? me : path.endsWith('/A') ? secret : list);
  }

  #stream(response: ServerResponse): void {
    this.#streams += 1;
    const data = JSON.stringify({ revision: this.#streams, revisionId: id });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`id: ${this.#streams}\nevent: ready\ndata: ${data}\n\n`);
  }
}

function send(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function refuse(response: ServerResponse): void {
  const detail = 'the token is not valid';
  const problem = { type: 'x', title: 'x', status: 401, code: 'unauthenticated', detail, instance: `urn:uuid:${id}` };
  response.writeHead(401, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
}
