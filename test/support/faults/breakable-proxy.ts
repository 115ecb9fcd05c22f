import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';

/** Passes connections on to a server of this machine, until they are broken. */
export class BreakableProxy {
  #target: number;
  readonly #sockets = new Set<Socket>();
  #server: Server;
  #port = 0;

  private constructor(target: number) {
    this.#target = target;
    this.#server = this.#create();
  }

  static async start(target: number): Promise<BreakableProxy> {
    const proxy = new BreakableProxy(target);
    await proxy.#listen(0);
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Breaks all connections and refuses further ones. */
  stop(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Listens again, at the same address. */
  async resume(): Promise<void> {
    this.#server = this.#create();
    await this.#listen(this.#port);
  }

  /** Breaks all connections and leads further ones to another port. */
  leadTo(target: number): void {
    this.#target = target;
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.stop();
  }

  async #listen(port: number): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  #create(): Server {
    return createServer((socket) => {
      const onward = connect(this.#target, '127.0.0.1');
      for (const one of [socket, onward]) {
        this.#sockets.add(one);
        one.on('error', () => undefined);
        one.once('close', () => {
          this.#sockets.delete(one);
          socket.destroy();
          onward.destroy();
        });
      }
      socket.pipe(onward).pipe(socket);
    });
  }
}
