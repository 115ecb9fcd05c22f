import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/**
 * The TCP connections below TLS connections. Limits count a connection from its first byte, when it has no TLS yet. Node
 * does not report which TCP connection a TLS connection uses. Both have the same addresses and ports.
 */
export class Transports {
  readonly #open = new Map<string, Socket>();
  readonly #below = new WeakMap<Socket, Socket>();
  /** TCP connections whose handshake has not ended. */
  readonly #beginning = new WeakSet<Socket>();
  /** The bytes that the handshake of a TLS connection took. */
  readonly #handshakes = new WeakMap<Socket, number>();

  /** Adds a TCP connection on which TLS begins. */
  add(socket: Socket): void {
    const name = nameOf(socket);
    this.#open.set(name, socket);
    this.#beginning.add(socket);
    socket.once('close', () => {
      if (this.#open.get(name) === socket) this.#open.delete(name);
    });
  }

  /** Adds a TLS connection after its handshake. Returns its TCP connection, unless that has closed. */
  secured(socket: TLSSocket): Socket | undefined {
    this.#handshakes.set(socket, socket.bytesRead);
    const below = this.#open.get(nameOf(socket));
    if (below === undefined) return undefined;
    this.#below.set(socket, below);
    this.#beginning.delete(below);
    return below;
  }

  /** The TCP connection of a connection: itself without TLS. */
  of(socket: Socket): Socket {
    return this.#below.get(socket) ?? socket;
  }

  /** Whether no byte of a request was received. */
  isUnused(socket: Socket): boolean {
    return this.#beginning.has(socket) || socket.bytesRead <= (this.#handshakes.get(socket) ?? 0);
  }
}

function nameOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return [remoteAddress, remotePort, localAddress].join(' ');
}
