import {
  type Agent,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestPlain,
  type ServerResponse,
} from 'node:http';
import { request as requestSecure } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { Gate } from './gate.ts';
import type { Hold, Sighting } from './hold.ts';

/** A request to the server behind a proxy, as rules see it. */
export interface ProxiedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  readonly isWatch: boolean;
}

/** Whether the request changes something. The Lease does not count: a leader renews it all the time. */
export function isWrite({ method, path }: ProxiedRequest): boolean {
  return method !== 'GET' && !path.includes('/leases');
}

/** An answer the proxy gives in the server's stead. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

/** Before the server has the request, or after it has answered (the answer is then still with the proxy). */
export type Moment = 'before' | 'after';

/** What a rule does to the request it strikes. */
export type ApiFault =
  | { readonly kind: 'hold'; readonly when: Moment; readonly hold: Hold<ProxiedRequest> }
  | { readonly kind: 'cut'; readonly when: Moment; readonly struck: Sighting<ProxiedRequest> }
  | {
      readonly kind: 'answer';
      readonly when: Moment;
      readonly answer: ApiAnswer;
      readonly struck: Sighting<ProxiedRequest>;
    }
  | {
      readonly kind: 'delay';
      readonly when: Moment;
      readonly delayMs: number;
      readonly struck: Sighting<ProxiedRequest>;
    };

/** The server that a proxy leads to, and the connections to it. */
export interface ApiUpstream {
  readonly server: URL;
  /** For the protocol of the server. */
  readonly agent: Agent;
}

export interface ExchangeDeps {
  readonly request: ProxiedRequest;
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly upstream: ApiUpstream;
  readonly fault: ApiFault | undefined;
  /** Called with the server's answer as soon as its head arrives. */
  readonly onAnswer: (status: number) => void;
}

// Headers that belong to one connection (RFC 9110 section 7.6.1), and those Node writes itself.
const connectionHeaders = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'host',
]);

/** One request on its way through the proxy, and its answer on the way back. */
export class ApiExchange {
  readonly request: ProxiedRequest;
  readonly gate = new Gate();
  readonly #deps: ExchangeDeps;

  constructor(deps: ExchangeDeps) {
    this.request = deps.request;
    this.#deps = deps;
  }

  /** Runs to the end of the answer. Never throws: a broken connection on either side breaks the other. */
  async run(): Promise<void> {
    try {
      await this.gate.pass();
      if (!(await this.#survives('before'))) return;
      const response = await this.#forward();
      this.#deps.onAnswer(response.statusCode ?? 0);
      if (this.#deps.fault?.when === 'after') await this.#answerLate(response);
      else await this.#stream(response);
    } catch {
      this.kill();
    }
  }

  /** Breaks the client's connection. What the proxy holds can still be released to the server. */
  kill(): void {
    this.#deps.incoming.socket.destroy();
  }

  /** Applies a fault due at this moment; answers whether the exchange goes on. */
  async #survives(moment: Moment): Promise<boolean> {
    const { fault, outgoing } = this.#deps;
    if (fault?.when !== moment) return true;
    if (fault.kind === 'hold') {
      if ((await fault.hold.present(this.request)) === 'forward') return true;
      this.kill();
      return false;
    }
    fault.struck.arrive(this.request);
    if (fault.kind === 'delay') {
      await pause(fault.delayMs);
      return true;
    }
    if (fault.kind === 'cut') this.kill();
    else outgoing.writeHead(fault.answer.status, fault.answer.headers).end(fault.answer.body);
    return false;
  }

  async #forward(): Promise<IncomingMessage> {
    const { incoming, upstream, outgoing } = this.#deps;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const { hostname, port, protocol } = upstream.server;
    const target = { hostname, port, path: incoming.url ?? '/', method: this.request.method };
    const send = protocol === 'https:' ? requestSecure : requestPlain;
    const headers = { ...endToEnd(incoming.headers), 'content-length': this.request.body.length };
    const forwarded = send({ ...target, headers, agent: upstream.agent }, (response) => {
      // An answer that streams ends when its reader is gone.
      outgoing.once('close', () => forwarded.destroy());
      resolve(response);
    });
    forwarded.once('error', reject).end(this.request.body);
    return promise;
  }

  async #answerLate(response: IncomingMessage): Promise<void> {
    const body = await buffer(response);
    if (!(await this.#survives('after'))) return;
    this.#deps.outgoing.writeHead(response.statusCode ?? 500, endToEnd(response.headers)).end(body);
  }

  async #stream(response: IncomingMessage): Promise<void> {
    const { outgoing } = this.#deps;
    outgoing.writeHead(response.statusCode ?? 500, endToEnd(response.headers));
    outgoing.flushHeaders();
    for await (const chunk of response as AsyncIterable<Buffer>) {
      await this.gate.pass();
      outgoing.write(chunk);
    }
    await this.gate.pass();
    outgoing.end();
  }
}

function endToEnd(headers: IncomingMessage['headers']): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !connectionHeaders.has(name)));
}
