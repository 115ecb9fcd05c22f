import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import { FrameSplitter } from './postgres-wire.ts';

/** A stand-in for a pooler in transaction mode. */
export interface TransactionPooler {
  /** The database through it. */
  readonly url: string;
  close(): void;
}

const notification = 'A';
const readyForQuery = 'Z';

/**
 * Gives clients notifications as PgBouncer does in transaction mode: one that arrives while the client runs a statement
 * is passed on, such as the client's own, and any other is lost.
 */
export async function startTransactionPooler(databaseUrl: string): Promise<TransactionPooler> {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = createConnection({ host: hostname, port: Number(port) });
    let isBusy = false;
    client.on('data', (chunk) => {
      isBusy = true;
      upstream.write(chunk);
    });
    const splitter = new FrameSplitter({ typed: true });
    upstream.on('data', (chunk) => {
      for (const { type, bytes } of splitter.push(chunk)) {
        if (type === notification && !isBusy) continue;
        if (type === readyForQuery) isBusy = false;
        client.write(bytes);
      }
    });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => [client, upstream].forEach((each) => each.destroy()));
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
