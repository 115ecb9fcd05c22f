import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';
import { FaultRules, type Selection } from './fault-rules.ts';
import { Hold, Sighting } from './hold.ts';
import { PostgresConnection, type PostgresFault } from './postgres-connection.ts';
import type { FrontendMessage } from './postgres-wire.ts';

export type { FrontendMessage } from './postgres-wire.ts';

export type MessageMatch = (message: FrontendMessage) => boolean;

// Old messages are forgotten beyond this many, so that a long run stays small.
const rememberedMessages = 100_000;

/**
 * A TCP proxy before PostgreSQL that sees each message a client sends and can hold it, cut its connection before or
 * after it, freeze or kill connections and refuse new ones. It offers no TLS.
 */
export class PostgresProxy {
  #upstream: URL;
  readonly #server: Server;
  readonly #rules = new FaultRules<FrontendMessage, PostgresFault>();
  readonly #holds = new Set<Hold<FrontendMessage>>();
  readonly #connections = new Set<PostgresConnection>();
  readonly #messages: FrontendMessage[] = [];
  #port = 0;
  #lastId = 0;
  #frozen = false;

  private constructor(upstream: URL) {
    this.#upstream = upstream;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#join(client));
  }

  /** Listens on a free port of 127.0.0.1 before the server that the `postgresql://` URL names. */
  static async start(upstreamUrl: string): Promise<PostgresProxy> {
    const proxy = new PostgresProxy(new URL(upstreamUrl));
    await proxy.accept();
    return proxy;
  }

  /** The upstream's URL with the proxy's address in it. */
  get url(): string {
    const url = new URL(this.#upstream);
    url.hostname = '127.0.0.1';
    url.port = String(this.#port);
    return url.href;
  }

  /** The connections that are open now. */
  get connections(): readonly PostgresConnection[] {
    return [...this.#connections];
  }

  /** The open connections that have sent LISTEN, to `channel` if it is given. */
  listeners(channel?: string): readonly PostgresConnection[] {
    return this.connections.filter(({ channels }) =>
      channel === undefined ? channels.size > 0 : channels.has(channel),
    );
  }

  /** Stops the selected message, and what follows it on its connection, until the test lets it go on. */
  hold(match: MessageMatch, selection: Selection = {}): Hold<FrontendMessage> {
    const hold = new Hold<FrontendMessage>('the message to hold');
    this.#holds.add(hold);
    this.#rules.add(match, { kind: 'hold', hold }, selection);
    return hold;
  }

  /**
   * Cuts the connection of the selected message: `before` the server has it, or `after` the server has answered it
   * (and, in the extended protocol, its Sync), with the answer lost. The sighting arrives when that has happened.
   */
  cut(match: MessageMatch, when: 'before' | 'after', selection: Selection = {}): Sighting<FrontendMessage> {
    const struck = new Sighting<FrontendMessage>(`the message to cut ${when}`);
    this.#rules.add(match, { kind: `cut-${when}`, struck }, selection);
    return struck;
  }

  /** Leaves these connections open and forwards nothing on them. Without an argument: on all, later ones too. */
  freeze(connections?: readonly PostgresConnection[]): void {
    if (connections === undefined) this.#frozen = true;
    for (const { gate } of connections ?? this.#connections) gate.shut();
  }

  /** Ends every freeze; what came meanwhile is forwarded now. */
  thaw(): void {
    this.#frozen = false;
    for (const { gate } of this.#connections) gate.open();
  }

  /** Resets these connections; without an argument, all. */
  kill(connections: readonly PostgresConnection[] = this.connections): void {
    for (const connection of connections) connection.kill();
  }

  /** Refuses new connections, like a server that is not running. */
  refuse(): void {
    this.#server.close();
  }

  /** Leads later connections to the server that another URL names. Open ones stay where they are. */
  lead(upstreamUrl: string): void {
    this.#upstream = new URL(upstreamUrl);
  }

  /** Takes connections (again). */
  async accept(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** How many matching messages have come so far (of the last hundred thousand), whatever became of them. */
  count(match: MessageMatch): number {
    return this.#messages.filter(match).length;
  }

  /** Withdraws all rules, lets nothing that is held go on, and ends all connections. */
  async close(): Promise<void> {
    this.#rules.clear();
    for (const hold of this.#holds) hold.cut();
    if (this.#server.listening) this.refuse();
    this.kill();
  }

  #join(client: Socket): void {
    const { hostname, port } = this.#upstream;
    const upstream = createConnection({
      host: hostname,
      port: Number(port || 5432),
      allowHalfOpen: true,
      noDelay: true,
    });
    // An error is an end for the connection's loops; later ones do not matter.
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
    this.#lastId += 1;
    const onMessage = (message: FrontendMessage): PostgresFault | undefined => this.#seen(message);
    const connection = new PostgresConnection({ id: this.#lastId, client, upstream, onMessage });
    if (this.#frozen) connection.gate.shut();
    this.#connections.add(connection);
    void connection.run().then(() => this.#connections.delete(connection));
  }

  #seen(message: FrontendMessage): PostgresFault | undefined {
    this.#messages.push(message);
    if (this.#messages.length > rememberedMessages) this.#messages.shift();
    return this.#rules.strike(message);
  }
}

/** Matches messages that run a statement whose text fits: a simple Query, or the Execute of a prepared one. */
export function runs(pattern: RegExp): MessageMatch {
  return ({ type, sql }) => (type === 'Query' || type === 'Execute') && sql !== undefined && pattern.test(sql);
}
