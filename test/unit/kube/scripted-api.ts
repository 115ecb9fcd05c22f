import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { KubeClient } from '../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../src/kube/client/objects.ts';
import { systemClock } from '../../../src/lib/clock.ts';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly accept: string;
  readonly isWatch: boolean;
  readonly body: string;
}

/** Answers one request. A watch stays open until its answer ends it. */
export type Answer = (response: ServerResponse, request: SeenRequest) => void;

/**
 * An API server that says what the test wrote down for it: the answers are given in their order, each to the next request
 * of its kind, and the last one again and again. It plays the faults that a real one does not have on demand.
 */
export class ScriptedApi {
  readonly requests: SeenRequest[] = [];
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #lists: Answer[] = [];
  readonly #watches: Answer[] = [];
  readonly #others: Answer[] = [];
  connections = 0;

  static async start(): Promise<ScriptedApi> {
    const api = new ScriptedApi();
    api.#server.on('connection', () => {
      api.connections += 1;
    });
    api.#server.listen(0, '127.0.0.1');
    await once(api.#server, 'listening');
    return api;
  }

  onList(...answers: Answer[]): void {
    this.#lists.push(...answers);
  }

  onWatch(...answers: Answer[]): void {
    this.#watches.push(...answers);
  }

  /** For every request that is neither a GET of a collection nor a watch. */
  onOther(...answers: Answer[]): void {
    this.#others.push(...answers);
  }

  get lists(): SeenRequest[] {
    return this.requests.filter(({ isWatch, method }) => !isWatch && method === 'GET');
  }

  get watches(): SeenRequest[] {
    return this.requests.filter(({ isWatch }) => isWatch);
  }

  client(user: object = { token: 'of the test' }): KubeClient {
    const config = new KubeConfig();
    const { port } = this.#server.address() as AddressInfo;
    config.loadFromOptions({
      clusters: [{ name: 'c', server: `http://127.0.0.1:${port}/`, skipTLSVerify: true }],
      users: [{ name: 'u', ...user }],
      contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
      currentContext: 'x',
    });
    return new KubeClient({ config, clock: systemClock });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://server');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const seen: SeenRequest = {
      method: request.method ?? '',
      path: pathname,
      query: searchParams,
      accept: request.headers.accept ?? '',
      isWatch: searchParams.get('watch') === 'true',
      body: Buffer.concat(chunks).toString('utf8'),
    };
    this.requests.push(seen);
    const script = seen.isWatch ? this.#watches : seen.method === 'GET' ? this.#lists : this.#others;
    const answer = script.length > 1 ? script.shift() : script[0];
    if (answer === undefined) status(500, 'NotScripted')(response, seen);
    else answer(response, seen);
  }
}

/** A Secret's metadata, as a list or watch has it. */
export function object(name: string, resourceVersion: string, more: Partial<KubeObject['metadata']> = {}): KubeObject {
  return { metadata: { name, namespace: 'ns', uid: `uid-${name}`, resourceVersion, ...more } };
}

export function json(body: unknown): Answer {
  return (response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(body));
  };
}

export function list(resourceVersion: string, items: readonly KubeObject[], next = ''): Answer {
  return json({ kind: 'List', metadata: { resourceVersion, continue: next }, items });
}

/** A Status object; `message` is what must never be passed on. */
export function status(code: number, reason: string, { message = 'the message', headers = {} } = {}): Answer {
  return (response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ kind: 'Status', status: 'Failure', reason, code, message }));
  };
}

export type Line = readonly [type: string, object: object];

function lineOf([type, body]: Line): string {
  return `${JSON.stringify({ type, object: body })}\n`;
}

/** A watch that says these events and stays open. */
export function watch(...lines: Line[]): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for (const line of lines) response.write(lineOf(line));
  };
}

/** A watch that says these events and ends as a server ends one. */
export function endingWatch(...lines: Line[]): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    for (const line of lines) response.write(lineOf(line));
    response.end();
  };
}

/** A watch that says these events, half of another, and breaks. */
export function resetWatch(...lines: Line[]): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    for (const line of lines) response.write(lineOf(line));
    response.write('{"type":"ADDED","obj', () => response.destroy());
  };
}
