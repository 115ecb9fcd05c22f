import { createServer } from 'node:http';
import { createConnection, createServer as createTcpServer } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pg from 'pg';
import type { Leak } from './heap-probe.ts';

// Loaded into a server before its program. On the port of its query, each request collects the garbage and is answered with
// the bytes that are left. `leak` in the query plants a leak.
const query = new URL(import.meta.url).searchParams;
const leakedBytes = 256 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

createServer((_, response) => {
  collectGarbage();
  response.setHeader('Connection', 'close').end(String(process.memoryUsage().heapUsed));
})
  .listen(Number(query.get('port')), '127.0.0.1')
  .unref();

const kept: unknown[] = [];

const plants: Readonly<Record<Leak, () => Promise<() => void>>> = {
  memory: () => Promise.resolve(() => kept.push(Array.from({ length: leakedBytes / 8 }, Math.random))),
  sockets: async () => {
    const server = createTcpServer((socket) => kept.push(socket));
    const { promise, resolve } = Promise.withResolvers<void>();
    server.listen(0, '127.0.0.1', resolve).unref();
    await promise;
    const address = server.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    return () => kept.push(createConnection(port, '127.0.0.1').unref());
  },
  connections: () =>
    Promise.resolve(() => {
      const client = new pg.Client({ connectionString: process.env['KEYFRAME_DATABASE_URL'] });
      kept.push(client);
      client.connect().catch((error: unknown) => console.error(error));
    }),
};

const leak = query.get('leak') as Leak | null;
// PostgreSQL has connections for a few minutes of it.
if (leak !== null) setInterval(await plants[leak](), leak === 'connections' ? 4_000 : 1_000).unref();
