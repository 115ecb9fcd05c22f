import { Agent, request } from 'node:http';
import { type Socket, connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { EventReader } from './event-reader.ts';
import type { RunningProgram } from './program.ts';

// A kubelet asks every 2 s, and then the endpoints travel to every node; faster here, in the same order.
const probeMs = 50;
const travelMs = 400;
const mostFailures = 20;
const retryMs = 50;
const reconnectMs = 10_000;

/** Where a new connection to the service is led. */
export interface LoadTarget {
  address(): { readonly host: string; readonly port: number };
}

/** What did not succeed. */
export interface LoadFailure {
  readonly what: string;
  /** When its client began to connect, in milliseconds since 1970; undefined if it never did. */
  readonly connectingAtMs: number | undefined;
}

/** The addresses behind a Service: who is there gets new connections; connections that are open stay where they are. */
export class Endpoints implements LoadTarget {
  readonly #servers = new Set<RunningProgram>();
  #picked = 0;

  /** Leads to a server until some time after it has become not ready. */
  add(server: RunningProgram): void {
    this.#servers.add(server);
    void this.#follow(server);
  }

  /** The port that a new connection is led to: one after the other, so that each has its share. */
  pick(): number {
    const servers = [...this.#servers];
    this.#picked += 1;
    const server = servers[this.#picked % servers.length];
    if (server === undefined) throw new Error('no endpoint is there');
    return server.port;
  }

  address(): { readonly host: string; readonly port: number } {
    return { host: '127.0.0.1', port: this.pick() };
  }

  async #follow(server: RunningProgram): Promise<void> {
    while (await isReady(server)) await pause(probeMs);
    await pause(travelMs);
    this.#servers.delete(server);
  }
}

async function isReady({ metricsPort }: RunningProgram): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${metricsPort}/readyz`)).ok;
  } catch {
    return false;
  }
}

/** A client's connection to a Service: kept and used again, to the server it was led to when it was made. */
class ServiceAgent extends Agent {
  readonly #target: LoadTarget;
  #connectingAtMs: number | undefined;

  constructor(target: LoadTarget) {
    super({ keepAlive: true, maxSockets: 1 });
    this.#target = target;
  }

  /** When the newest was begun. */
  get connectingAtMs(): number | undefined {
    return this.#connectingAtMs;
  }

  override createConnection(): Socket {
    this.#connectingAtMs = Date.now();
    return connect(this.#target.address());
  }
}

export interface LoadDeps {
  readonly target: LoadTarget;
  readonly token: string;
  /** Of the environment, such as `acme/web/prod`. */
  readonly environment: string;
  /** Whether a connection that is refused is tried again, because no server got any part of the request. */
  readonly connectsAgain?: boolean;
}

/** Steady use of one environment over a Service. Everything that does not succeed at its first try is in `failures`. */
export class ServiceLoad {
  readonly failures: LoadFailure[] = [];
  /** How many requests were answered, by the port that answered. */
  readonly answered = new Map<number, number>();
  /** The last value of each key whose write was acknowledged, and how many writes were. */
  readonly written = new Map<string, { readonly value: string; readonly times: number }>();
  /** The numbers of the revisions that the watch has reported, in its order. */
  readonly watched: number[] = [];
  /** How often the watch was begun. */
  streams = 0;
  readonly #deps: LoadDeps;
  readonly #running: Promise<void>[] = [];
  readonly #agents: ServiceAgent[] = [];
  #isEnding = false;
  #isWatchOver = false;
  #watch: EventReader | undefined;
  #lastEvent: string | undefined;

  constructor(deps: LoadDeps) {
    this.#deps = deps;
  }

  /** Of the environment, as it was reported. */
  get environment(): string {
    return this.#deps.environment;
  }

  /** Begins to write and read a key in turn, with a pause after each, on one separate connection. */
  writeAndRead(key: string, pauseMs: number): void {
    const agent = new ServiceAgent(this.#deps.target);
    this.#agents.push(agent);
    this.#running.push(this.#writeAndRead(agent, key, pauseMs));
  }

  /** Begins to follow the environment's changes, taking up each ended stream where it ended. */
  watch(): void {
    this.#running.push(this.#follow());
  }

  /** Lets what is under way finish. */
  async end(): Promise<void> {
    this.#isEnding = true;
    const ended = Promise.all(this.#running);
    // The watch alone does not end by itself. It may be opened again at this moment.
    await pause(500);
    this.#isWatchOver = true;
    this.#watch?.close();
    await ended;
    for (const agent of this.#agents) agent.destroy();
  }

  // A service that fails everything would be asked as fast as it can refuse.
  get #isOver(): boolean {
    return this.#isEnding || this.failures.length >= mostFailures;
  }

  async #writeAndRead(agent: ServiceAgent, key: string, pauseMs: number): Promise<void> {
    for (let count = 1; !this.#isOver; count += 1) {
      const value = `${key} ${count}`;
      const path = `/secrets/${this.#deps.environment}/${key}`;
      const put = await this.#ask(agent, 'PUT', path, { value });
      if (put !== undefined) this.written.set(key, { value, times: (this.written.get(key)?.times ?? 0) + 1 });
      await pause(pauseMs);
      const got = await this.#ask(agent, 'GET', path);
      const read = got === undefined ? value : (JSON.parse(got) as { value: string }).value;
      // What became of a write without an answer is open.
      if (put !== undefined && read !== value) this.#fail(`GET ${key} answered ${read}, not ${value}`, agent);
      await pause(pauseMs);
    }
  }

  /** The text of a 2xx answer; undefined after a failure. */
  async #ask(agent: ServiceAgent, method: string, path: string, body?: object): Promise<string | undefined> {
    try {
      const asked = { agent, method, path, token: this.#deps.token, body };
      const { status, text, port } = await this.#connecting(() => ask(asked));
      this.answered.set(port, (this.answered.get(port) ?? 0) + 1);
      if (status >= 200 && status < 300) return text;
      this.#fail(`${method} ${path}: ${status} ${text}`, agent);
    } catch (error) {
      this.#fail(`${method} ${path}: ${String(error)}`, agent);
    }
    return undefined;
  }

  #fail(what: string, { connectingAtMs }: Pick<LoadFailure, 'connectingAtMs'>): void {
    this.failures.push({ what, connectingAtMs });
  }

  async #follow(): Promise<void> {
    while (!this.#isOver) {
      const stream = { connectingAtMs: Date.now() };
      try {
        await this.#readStream(stream);
      } catch (error) {
        if (!this.#isEnding) this.#fail(`the watch: ${String(error)}`, stream);
      }
    }
  }

  /** Reads a stream from behind the last event to its end. */
  async #readStream(stream: { connectingAtMs: number }): Promise<void> {
    const { target, token, environment } = this.#deps;
    const headers: Record<string, string> = this.#lastEvent === undefined ? {} : { 'last-event-id': this.#lastEvent };
    const reader = await this.#connecting(() => {
      stream.connectingAtMs = Date.now();
      const { host, port } = target.address();
      const url = `http://${host}:${port}/api/v1/changes/${environment}`;
      return EventReader.open(url, { reveal: () => token }, headers);
    });
    this.#watch = reader;
    this.streams += 1;
    if (this.#isWatchOver) reader.close();
    for (let event = await reader.next(); event !== undefined; event = await reader.next()) {
      this.#lastEvent = event.id ?? this.#lastEvent;
      if (event.event === 'change') this.watched.push((event.data as { revision: number }).revision);
    }
  }

  async #connecting<T>(attempt: () => Promise<T>): Promise<T> {
    const deadlineMs = Date.now() + reconnectMs;
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (this.#deps.connectsAgain !== true || !isRefused(error) || Date.now() > deadlineMs) throw error;
        await pause(retryMs);
      }
    }
  }
}

function isRefused(error: unknown): boolean {
  // What fetch says stands in its cause.
  const { code, cause } = error as { code?: string; cause?: { code?: string } };
  return code === 'ECONNREFUSED' || cause?.code === 'ECONNREFUSED';
}

interface Request {
  readonly agent: Agent;
  readonly method: string;
  readonly path: string;
  readonly token: string;
  readonly body: object | undefined;
}

function ask({ agent, method, path, token, body }: Request): Promise<{ status: number; text: string; port: number }> {
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) };
  return new Promise((resolve, reject) => {
    const outgoing = request({ agent, host: 'keyframe', method, path: `/api/v1${path}`, headers, timeout: 90_000 });
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer within 90 s')));
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      const port = response.socket.remotePort ?? 0;
      response
        .setEncoding('utf8')
        .toArray()
        .then(
          (chunks) => resolve({ status: response.statusCode ?? 0, text: (chunks as string[]).join(''), port }),
          reject,
        );
    });
    outgoing.end(body && JSON.stringify(body));
  });
}
