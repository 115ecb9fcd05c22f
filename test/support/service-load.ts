import { Agent, request } from 'node:http';
import { type Socket, connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { EventReader } from './event-reader.ts';
import type { RunningProgram } from './program.ts';

// A kubelet asks every 2 s, and then the endpoints travel to every node; faster here, in the same order.
const probeMs = 50;
const travelMs = 400;
const mostFailures = 20;

/** The addresses behind a Service: who is there gets new connections; connections that are open stay where they are. */
export class Endpoints {
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

/** A client's connections to a Service: kept and used again, each to the server it was led to when it was made. */
class ServiceAgent extends Agent {
  readonly #endpoints: Endpoints;

  constructor(endpoints: Endpoints) {
    super({ keepAlive: true, maxSockets: 1 });
    this.#endpoints = endpoints;
  }

  override createConnection(): Socket {
    return connect(this.#endpoints.pick(), '127.0.0.1');
  }
}

export interface LoadDeps {
  readonly endpoints: Endpoints;
  readonly token: string;
  /** Of the environment, such as `acme/web/prod`. */
  readonly environment: string;
}

/** Steady use of one environment over a Service. Everything that does not succeed at its first try is in `failures`. */
export class ServiceLoad {
  readonly failures: string[] = [];
  /** How many requests were answered, by the port that answered. */
  readonly answered = new Map<number, number>();
  /** The last value of each key whose write was acknowledged, and how many writes were. */
  readonly written = new Map<string, { readonly value: string; readonly times: number }>();
  /** The numbers of the revisions that the watch has told, in the order it has told them. */
  readonly watched: number[] = [];
  /** How often the watch was begun. */
  streams = 0;
  readonly #deps: LoadDeps;
  readonly #running: Promise<void>[] = [];
  readonly #agents: Agent[] = [];
  #isEnding = false;
  #watch: EventReader | undefined;

  constructor(deps: LoadDeps) {
    this.#deps = deps;
  }

  /** Begins to write and read a key in turn, with a pause after each, on one connection of its own. */
  writeAndRead(key: string, pauseMs: number): void {
    const agent = new ServiceAgent(this.#deps.endpoints);
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
    const watch = this.#watch;
    const ended = Promise.all(this.#running);
    // The watch alone does not end by itself.
    await pause(500);
    watch?.close();
    await ended;
    for (const agent of this.#agents) agent.destroy();
  }

  // A service that fails everything would be asked as fast as it can refuse.
  get #isOver(): boolean {
    return this.#isEnding || this.failures.length >= mostFailures;
  }

  async #writeAndRead(agent: Agent, key: string, pauseMs: number): Promise<void> {
    for (let count = 1; !this.#isOver; count += 1) {
      const value = `${key} ${count}`;
      const path = `/secrets/${this.#deps.environment}/${key}`;
      const put = await this.#ask(agent, 'PUT', path, { value });
      if (put !== undefined) this.written.set(key, { value, times: (this.written.get(key)?.times ?? 0) + 1 });
      await pause(pauseMs);
      const got = await this.#ask(agent, 'GET', path);
      const read = got === undefined ? undefined : (JSON.parse(got) as { value: string }).value;
      if (read !== this.written.get(key)?.value) this.failures.push(`GET ${key} answered ${read}, not ${value}`);
      await pause(pauseMs);
    }
  }

  /** The text of a 2xx answer; undefined after a failure. */
  async #ask(agent: Agent, method: string, path: string, body?: object): Promise<string | undefined> {
    try {
      const { status, text, port } = await ask({ agent, method, path, token: this.#deps.token, body });
      this.answered.set(port, (this.answered.get(port) ?? 0) + 1);
      if (status >= 200 && status < 300) return text;
      this.failures.push(`${method} ${path}: ${status} ${text}`);
    } catch (error) {
      this.failures.push(`${method} ${path}: ${String(error)}`);
    }
    return undefined;
  }

  async #follow(): Promise<void> {
    let last: string | undefined;
    while (!this.#isOver) {
      try {
        last = await this.#readStream(last);
      } catch (error) {
        if (!this.#isEnding) this.failures.push(`the watch: ${String(error)}`);
      }
    }
  }

  /** Reads a stream from behind an event to its end; answers the id of its last one. */
  async #readStream(from: string | undefined): Promise<string | undefined> {
    const { endpoints, token, environment } = this.#deps;
    const url = `http://127.0.0.1:${endpoints.pick()}/api/v1/changes/${environment}`;
    const headers: Record<string, string> = from === undefined ? {} : { 'last-event-id': from };
    const reader = await EventReader.open(url, { reveal: () => token }, headers);
    this.#watch = reader;
    this.streams += 1;
    let last = from;
    for (let event = await reader.next(); event !== undefined; event = await reader.next()) {
      last = event.id ?? last;
      if (event.event === 'change') this.watched.push((event.data as { revision: number }).revision);
    }
    return last;
  }
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
    const outgoing = request({ agent, host: 'keyframe', method, path: `/api/v1${path}`, headers, timeout: 10_000 });
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer within 10 s')));
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
