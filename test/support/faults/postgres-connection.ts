import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Gate } from './gate.ts';
import type { Hold, Sighting } from './hold.ts';
import { type Frame, FrameSplitter, type FrontendMessage, FrontendReader, startupParameters } from './postgres-wire.ts';

/** What a rule does to the message it strikes. */
export type PostgresFault =
  | { readonly kind: 'hold'; readonly hold: Hold<FrontendMessage> }
  | { readonly kind: 'cut-before' | 'cut-after'; readonly struck: Sighting<FrontendMessage> };

export interface ConnectionDeps {
  readonly id: number;
  readonly client: Socket;
  readonly upstream: Socket;
  /** Called with each message before it is forwarded; returns the fault that strikes it. */
  readonly onMessage: (message: FrontendMessage) => PostgresFault | undefined;
}

const listenPattern = /^\s*listen\s+"?([^\s";]+)/i;

/** One connection through the proxy: a client's socket and the server's, joined message by message. */
export class PostgresConnection {
  readonly id: number;
  /** Channels it has LISTENed to. */
  readonly channels = new Set<string>();
  readonly gate = new Gate();
  #startup: ReadonlyMap<string, string> = new Map();
  readonly #deps: ConnectionDeps;
  readonly #reader: FrontendReader;
  // The server ends its answer to each Startup, Query and Sync with one ReadyForQuery: counting both shows where an
  // answer begins and ends.
  #readyExpected = 0;
  #readySeen = 0;
  #cutAt: { ready: number; struck: () => void } | undefined;

  constructor(deps: ConnectionDeps) {
    this.id = deps.id;
    this.#deps = deps;
    this.#reader = new FrontendReader(deps.id);
  }

  /** The client's startup parameters: user, database, application_name and such. */
  get startup(): ReadonlyMap<string, string> {
    return this.#startup;
  }

  /** Forwards both ways until either side ends. Never throws: a broken socket is an end. */
  async run(): Promise<void> {
    await Promise.all([this.#forwardClient(), this.#forwardServer()]);
  }

  /** Ends both sides at once, the client's by a reset. */
  kill(): void {
    this.#deps.client.resetAndDestroy();
    this.#deps.upstream.destroy();
    this.gate.open();
  }

  async #forwardClient(): Promise<void> {
    const { client, upstream } = this.#deps;
    const splitter = new FrameSplitter({ typed: false });
    await eachChunk(client, async (chunk) => {
      for (const frame of splitter.push(chunk)) await this.#forwardMessage(frame);
    });
    await this.gate.pass();
    upstream.end();
  }

  async #forwardServer(): Promise<void> {
    const { client, upstream } = this.#deps;
    const splitter = new FrameSplitter({ typed: true });
    await eachChunk(upstream, async (chunk) => {
      for (const frame of splitter.push(chunk)) await this.#forwardAnswer(frame);
    });
    await this.gate.pass();
    client.end();
  }

  async #forwardMessage(frame: Frame): Promise<void> {
    await this.gate.pass();
    const message = this.#reader.read(frame);
    if (message.type === 'SSLRequest' || message.type === 'GSSENCRequest') {
      await write(this.#deps.client, Buffer.from('N'));
      return;
    }
    if (message.type === 'Startup') this.#startup = startupParameters(frame);
    const fault = this.#deps.onMessage(message);
    if (fault !== undefined && !(await this.#survives(fault, message))) return;
    this.#note(message);
    await write(this.#deps.upstream, frame.bytes);
  }

  /** Applies a fault; answers whether the message is still to be forwarded. */
  async #survives(fault: PostgresFault, message: FrontendMessage): Promise<boolean> {
    if (fault.kind === 'cut-after') {
      this.#cutAt = { ready: this.#readyExpected + 1, struck: () => fault.struck.arrive(message) };
      return true;
    }
    if (fault.kind === 'hold' && (await fault.hold.present(message)) === 'forward') return true;
    this.kill();
    if (fault.kind === 'cut-before') fault.struck.arrive(message);
    return false;
  }

  #note({ type, sql = '' }: FrontendMessage): void {
    if (type === 'Startup' || type === 'Query' || type === 'Sync') this.#readyExpected += 1;
    if (type !== 'Query' && type !== 'Execute') return;
    const channel = listenPattern.exec(sql)?.[1];
    if (channel !== undefined) this.channels.add(channel);
  }

  async #forwardAnswer(frame: Frame): Promise<void> {
    await this.gate.pass();
    const cut = this.#cutAt;
    const isCut = cut !== undefined && this.#readySeen + 1 >= cut.ready;
    if (frame.type === 'Z') this.#readySeen += 1;
    if (!isCut) {
      await write(this.#deps.client, frame.bytes);
    } else if (this.#readySeen >= cut.ready) {
      this.kill();
      cut.struck();
    }
  }
}

async function eachChunk(socket: Socket, use: (chunk: Buffer) => Promise<void>): Promise<void> {
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) await use(chunk);
  } catch {
    // A reset ends the stream like a close does.
  }
}

async function write(socket: Socket, bytes: Buffer): Promise<void> {
  if (socket.destroyed || socket.write(bytes)) return;
  await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined);
}
