import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent as HttpAgent, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, Agent as HttpsAgent, type RequestOptions, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import {
  type ApiAnswer,
  ApiExchange,
  type ApiFault,
  type ApiUpstream,
  type Moment,
  type ProxiedRequest,
} from './api-exchange.ts';
import { makeAuthority } from '../fixtures/certificate.ts';
import { FaultRules, type Selection } from './fault-rules.ts';
import { Hold, Sighting } from './hold.ts';

export type { ApiAnswer, ProxiedRequest } from './api-exchange.ts';

export type RequestMatch = (request: ProxiedRequest) => boolean;

/** Which request a fault strikes, and at which moment of it (`before` by default). */
export interface ApiSelection extends Selection {
  readonly when?: Moment;
}

/** A request and what the server answered to it, if it did. */
export interface Passage {
  readonly request: ProxiedRequest;
  /** When it came, on the clock of `performance.now()`. */
  readonly atMs: number;
  readonly status: number | undefined;
}

const rememberedPassages = 100_000;

/** What a proxy leads to. */
export interface ProxyTarget {
  readonly server: URL;
  /** Authorities of its certificate. */
  readonly ca?: RequestOptions['ca'];
}

/**
 * An HTTPS proxy before a server, with a certificate of an authority of its own, that passes the client's token on and can
 * hold, cut, delay or answer chosen requests, freeze streams, and be down. HTTP/1.1 only, no upgrades.
 */
export class HttpProxy {
  readonly #folder: string;
  readonly #authority = makeAuthority();
  #upstream: ApiUpstream;
  readonly #server: Server;
  readonly #rules = new FaultRules<ProxiedRequest, ApiFault>();
  readonly #holds = new Set<Hold<ProxiedRequest>>();
  readonly #exchanges = new Set<ApiExchange>();
  readonly #passages: Passage[] = [];
  readonly #frozen = new Set<RequestMatch>();
  #port = 0;

  protected constructor(folder: string, target: ProxyTarget) {
    this.#folder = folder;
    this.#upstream = upstreamOf(target);
    const { certificate: cert, key } = this.#authority.issue({ names: ['localhost'], addresses: ['127.0.0.1'] });
    this.#server = createServer({ cert, key });
    this.#server.on('request', (incoming, outgoing) => void this.#exchange(incoming, outgoing));
  }

  /** Listens on a free port of 127.0.0.1 before a server. */
  static async before(target: ProxyTarget): Promise<HttpProxy> {
    const proxy = new HttpProxy(await makeProxyFolder(), target);
    await writeFile(proxy.caFile, proxy.authority);
    await proxy.accept();
    return proxy;
  }

  /** What signed its certificate. */
  get authority(): string {
    return this.#authority.certificate;
  }

  /** The same as a file. */
  get caFile(): string {
    return join(this.#folder, 'ca.crt');
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }

  /** Stops the selected request before it reaches the server, or its answer before it reaches the client. */
  hold(match: RequestMatch, { when = 'before', ...selection }: ApiSelection = {}): Hold<ProxiedRequest> {
    const hold = new Hold<ProxiedRequest>('the request to hold');
    this.#holds.add(hold);
    this.#rules.add(match, { kind: 'hold', when, hold }, selection);
    return hold;
  }

  /** Cuts the connection of the selected request; with `after` the server has done it and the answer is lost. */
  cut(match: RequestMatch, { when = 'before', ...selection }: ApiSelection = {}): Sighting<ProxiedRequest> {
    const struck = new Sighting<ProxiedRequest>('the request to cut');
    this.#rules.add(match, { kind: 'cut', when, struck }, selection);
    return struck;
  }

  /** Answers the selected request itself; with `after` the server has done it all the same. */
  answer(
    match: RequestMatch,
    answer: ApiAnswer,
    { when = 'before', ...selection }: ApiSelection = {},
  ): Sighting<ProxiedRequest> {
    const struck = new Sighting<ProxiedRequest>('the request to answer');
    this.#rules.add(match, { kind: 'answer', when, answer, struck }, selection);
    return struck;
  }

  /** Lets the selected request, or its answer, wait for `delayMs` milliseconds. */
  delay(
    match: RequestMatch,
    delayMs: number,
    { when = 'before', ...selection }: ApiSelection = {},
  ): Sighting<ProxiedRequest> {
    const struck = new Sighting<ProxiedRequest>('the request to delay');
    this.#rules.add(match, { kind: 'delay', when, delayMs, struck }, selection);
    return struck;
  }

  /** Leaves matching requests, the open streams among them, without any further byte until the thaw. */
  freeze(match: RequestMatch = () => true): void {
    this.#frozen.add(match);
    for (const { request, gate } of this.#exchanges) if (match(request)) gate.shut();
  }

  /** Ends every freeze; what came meanwhile is forwarded now. */
  thaw(): void {
    this.#frozen.clear();
    for (const { gate } of this.#exchanges) gate.open();
  }

  /** Breaks the connections of matching requests that are under way; without an argument all connections. */
  kill(match?: RequestMatch): void {
    if (match === undefined) this.#server.closeAllConnections();
    else for (const exchange of this.#exchanges) if (match(exchange.request)) exchange.kill();
  }

  /** Refuses new connections, like a server that is not running. */
  refuse(): void {
    this.#server.close();
  }

  /** Takes connections (again). */
  async accept(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** The matching requests so far (of the last hundred thousand) with the server's answers, oldest first. */
  passages(match: RequestMatch = () => true): readonly Passage[] {
    return this.#passages.filter(({ request }) => match(request));
  }

  /** How many matching requests have come so far, whatever became of them. */
  count(match: RequestMatch): number {
    return this.passages(match).length;
  }

  /** How many matching requests, such as watches, are under way. */
  countOpen(match: RequestMatch): number {
    return [...this.#exchanges].filter(({ request }) => match(request)).length;
  }

  /** From now on it leads to this server. */
  leadTo(target: ProxyTarget): void {
    this.#upstream.agent.destroy();
    this.#upstream = upstreamOf(target);
  }

  /** Withdraws all rules, lets nothing that is held go on, ends all connections and removes its files. */
  async close(): Promise<void> {
    this.#rules.clear();
    for (const hold of this.#holds) hold.cut();
    this.thaw();
    this.#server.close();
    this.kill();
    this.#upstream.agent.destroy();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #exchange(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = await readRequest(incoming);
    if (request === undefined) return;
    const passage: Passage & { status: number | undefined } = { request, atMs: performance.now(), status: undefined };
    this.#passages.push(passage);
    if (this.#passages.length > rememberedPassages) this.#passages.shift();
    const exchange = new ApiExchange({
      request,
      incoming,
      outgoing,
      upstream: this.#upstream,
      fault: this.#rules.strike(request),
      onAnswer: (status) => {
        passage.status = status;
      },
    });
    if ([...this.#frozen].some((match) => match(request))) exchange.gate.shut();
    this.#exchanges.add(exchange);
    await exchange.run();
    this.#exchanges.delete(exchange);
  }
}

export function makeProxyFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'keyframe-proxy-'));
}

function upstreamOf({ server, ca }: ProxyTarget): ApiUpstream {
  const isSecure = server.protocol === 'https:';
  return { server, agent: isSecure ? new HttpsAgent({ keepAlive: true, ca }) : new HttpAgent({ keepAlive: true }) };
}

/** Undefined if the client broke off before its request was whole. */
async function readRequest(incoming: IncomingMessage): Promise<ProxiedRequest | undefined> {
  const { method = 'GET', headers } = incoming;
  const { pathname, searchParams } = new URL(incoming.url ?? '/', 'https://api');
  const isWatch = ['1', 'true'].includes(searchParams.get('watch') ?? '');
  const body = await buffer(incoming).catch(() => undefined);
  return body === undefined ? undefined : { method, path: pathname, query: searchParams, headers, body, isWatch };
}
