import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, expect, test } from '@jest/globals';
import { freePort } from '../../../tools/free-port.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { migrationNames } from '../../support/database/own-migrations.ts';
import { createEmptyDatabase } from '../../support/database/postgres.ts';

const resources = new AsyncDisposableStack();
const logger = createLogger('silent');

afterAll(() => resources.disposeAsync());

interface LateDatabase {
  /** An address at which nothing answers yet. */
  readonly url: string;
  open(): Promise<void>;
}

async function makeLateDatabase(): Promise<LateDatabase> {
  const database = await createEmptyDatabase();
  resources.defer(() => database.drop());
  const url = new URL(database.url);
  const [host, port] = [url.hostname, Number(url.port)];
  url.hostname = '127.0.0.1';
  url.port = String(await freePort());
  return {
    url: url.href,
    async open() {
      const sockets = new Set<Socket>();
      const server = createServer((inward) => {
        const outward = connect(port, host);
        for (const socket of [inward, outward]) {
          sockets.add(socket);
          socket.on('error', () => undefined).on('close', () => [inward, outward].forEach((each) => each.destroy()));
        }
        inward.pipe(outward).pipe(inward);
      });
      resources.defer(async () => {
        for (const socket of sockets) socket.destroy();
        await new Promise((resolve) => server.close(resolve));
      });
      server.listen(Number(url.port), '127.0.0.1');
      await once(server, 'listening');
    },
  };
}

test('migrate waits for a database that does not answer yet', async () => {
  const late = await makeLateDatabase();
  const { url } = late;
  const migrated = migrate({ url, logger, waitMs: 30_000 });
  await expect(Promise.race([migrated, migrate({ url, logger })])).rejects.toMatchObject({ code: 'store_unavailable' });
  await late.open();
  expect(await migrated).toEqual(await migrationNames());
});

test('migrate waits no longer than its limit', async () => {
  const { url } = await makeLateDatabase();
  await expect(migrate({ url, logger, waitMs: 600 })).rejects.toMatchObject({ code: 'store_unavailable' });
});

test('migrate does not wait where PostgreSQL refuses it', async () => {
  const database = await createEmptyDatabase();
  resources.defer(() => database.drop());
  const url = new URL(database.url);
  url.pathname = '/nowhere';
  // Jest's own limit is far shorter than the wait.
  await expect(migrate({ url: url.href, logger, waitMs: 600_000 })).rejects.toThrow();
});
