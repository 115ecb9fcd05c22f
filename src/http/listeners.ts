import { type AddressInfo, type Server, createServer } from 'node:net';

// libuv accepts one connection of a listener in each turn of the event loop. Turns are long under load.
const listenerCount = 16;
// With it the kernel spreads the connections to a port over several listeners.
const reusePort = process.platform === 'linux';

/**
 * Listens with a server on a free port, and with further listeners that pass their connections to the server. The server
 * then accepts several connections in each turn of the event loop.
 */
export class Listeners {
  readonly #servers: readonly Server[];

  private constructor(servers: readonly Server[]) {
    this.#servers = servers;
  }

  /**
   * @param address - All interfaces without a host, and any free port for port 0.
   * @throws The error of the system if it cannot listen there.
   */
  static async listen(server: Server, address: { host: string | undefined; port: number }): Promise<Listeners> {
    if (!reusePort) return Listeners.#open([server], address);
    const free = await freeAddress(address);
    // @types/node lacks these properties of Node's server.
    const { allowHalfOpen, noDelay } = server as Server & {
      readonly allowHalfOpen: boolean;
      readonly noDelay: boolean;
    };
    const acceptors = Array.from({ length: listenerCount - 1 }, () => {
      const acceptor = createServer({ allowHalfOpen, noDelay });
      return acceptor.on('connection', (socket) => void server.emit('connection', socket));
    });
    return Listeners.#open([server, ...acceptors], free);
  }

  static async #open(servers: readonly Server[], address: object): Promise<Listeners> {
    const listeners = new Listeners(servers);
    try {
      await Promise.all(servers.map((server) => listen(server, { ...address, reusePort })));
    } catch (error) {
      await listeners.close();
      throw error;
    }
    return listeners;
  }

  /** Stops listening. Resolves when all accepted connections are closed. */
  async close(): Promise<void> {
    await Promise.all(
      this.#servers.map((server) => new Promise<void>((resolve) => void server.close(() => resolve()))),
    );
  }
}

/**
 * The address with the port that was found. Other listeners of the same user could share a port, so a listener that shares
 * nothing looks whether the port is free.
 */
async function freeAddress({ host, port }: { host: string | undefined; port: number }): Promise<object> {
  const probe = createServer();
  await listen(probe, { host, port });
  const { address, port: found } = probe.address() as AddressInfo;
  // The port is free at once.
  probe.close();
  return { host: address, port: found };
}

async function listen(server: Server, options: object): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(options, resolve);
  try {
    await promise;
  } finally {
    server.off('error', reject);
    server.off('listening', resolve);
  }
}
