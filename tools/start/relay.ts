import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Relay {
  stop(): Promise<void>;
}

/** Passes the connections to a port of one address of this machine on to the same port of 127.0.0.1. */
export async function startRelay(address: string, port: number): Promise<Relay> {
  const open = new Set<Socket>();
  const server = createServer((from) => {
    const to = connect(port, '127.0.0.1');
    for (const [socket, other] of [[from, to] as const, [to, from] as const]) {
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  await once(server.listen(port, address), 'listening');
  return {
    async stop() {
      const closed = once(server.close(), 'close');
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
