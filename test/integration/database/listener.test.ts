import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChangeEvent } from '../../../src/domain/changes.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { Listener } from '../../../src/store/listener.ts';
import { notifyEnvironment, notifyServiceTokens } from '../../../src/store/notify.ts';
import { inTransaction } from '../../../src/store/transaction.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { PostgresProxy, runs } from '../../support/faults/postgres-proxy.ts';
import { startTransactionPooler } from '../../support/faults/transaction-pooler.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

let server: TestDatabase;
let proxy: PostgresProxy;
let database: Database;
let listener: Listener;
let heard: Recorder;

/** Everything the listener says, in order, to be awaited one by one. */
class Recorder {
  readonly said: (ChangeEvent | 'ready' | 'lost')[] = [];
  #next = 0;

  readonly handlers = {
    onReady: (): void => void this.said.push('ready'),
    onLost: (): void => void this.said.push('lost'),
    onMessage: (message: ChangeEvent): void => void this.said.push(message),
  };

  async next(): Promise<ChangeEvent | 'ready' | 'lost'> {
    const deadline = Date.now() + 60_000;
    while (this.said.length <= this.#next) {
      if (Date.now() > deadline) throw new Error(`nothing more was heard after ${JSON.stringify(this.said)}`);
      await sleep(5);
    }
    this.#next += 1;
    return this.said[this.#next - 1] as ChangeEvent | 'ready' | 'lost';
  }
}

beforeEach(async () => {
  server = await createTestDatabase();
  proxy = await PostgresProxy.start(server.url);
  database = openDatabase({ url: server.url, poolSize: 4 });
  listener = createListener(60_000);
  heard = new Recorder();
});

afterEach(async () => {
  await listener.close();
  await proxy.close();
  await database.close();
  await server.drop();
});

/** With a limit that no slow machine reaches, but in tests that wait for it. */
function createListener(limitMs: number): Listener {
  return new Listener({ url: proxy.url, logger: createLogger('silent'), heartbeatMs: 100, limitMs });
}

function newIds(): { readonly organizationId: string; readonly environmentId: string } {
  return { organizationId: randomUUID(), environmentId: randomUUID() };
}

async function commitRevision(): Promise<ChangeEvent> {
  const [ids, revisionId] = [newIds(), randomUUID()];
  await inTransaction(database, (tx) => notifyEnvironment(tx, ids, revisionId));
  return { kind: 'environment', ...ids, revisionId };
}

const terminateListener = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'keyframe-listener'`;

describe('the listener', () => {
  test('hears each commit once it is ready, and nothing of a transaction that is rolled back', async () => {
    listener.start(heard.handlers);
    expect(await heard.next()).toBe('ready');
    const rolledBack = inTransaction(database, async (tx) => {
      await notifyEnvironment(tx, newIds(), randomUUID());
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    const token = { organizationId: randomUUID(), serviceTokenId: randomUUID() };
    await inTransaction(database, (tx) => notifyServiceTokens(tx, [token]));
    expect(await heard.next()).toEqual({ kind: 'service_token', ...token });
    const sent = await commitRevision();
    expect(await heard.next()).toEqual(sent);
  });

  test('hears a commit only when it is made', async () => {
    listener.start(heard.handlers);
    await heard.next();
    const done = Promise.withResolvers<void>();
    const transaction = inTransaction(database, async (tx) => {
      await notifyEnvironment(tx, newIds(), randomUUID());
      await done.promise;
    });
    await sleep(150);
    expect(heard.said).toEqual(['ready']);
    done.resolve();
    await transaction;
    expect(await heard.next()).toMatchObject({ kind: 'environment' });
  });

  test('does not say it is ready before its own notification has come back', async () => {
    const held = proxy.hold(runs(/pg_notify/));
    listener.start(heard.handlers);
    await held.arrived();
    await sleep(100);
    expect(heard.said).toEqual([]);
    held.release();
    expect(await heard.next()).toBe('ready');
  });

  test('listens before it is ready, so that a commit in between is heard', async () => {
    const held = proxy.hold(runs(/pg_notify/));
    listener.start(heard.handlers);
    await held.arrived();
    const sent = await commitRevision();
    held.release();
    expect(await heard.next()).toEqual(sent);
    expect(await heard.next()).toBe('ready');
  });

  test('connects again when its backend is killed, and says so', async () => {
    listener.start(heard.handlers);
    await heard.next();
    await database.pool.query(terminateListener);
    expect(await heard.next()).toBe('lost');
    expect(await heard.next()).toBe('ready');
    const sent = await commitRevision();
    expect(await heard.next()).toEqual(sent);
  });

  test('finds a connection that stays open and silent', async () => {
    listener = createListener(8_000);
    listener.start(heard.handlers);
    await heard.next();
    proxy.freeze(proxy.listeners('keyframe'));
    await commitRevision();
    expect(await heard.next()).toBe('lost');
    expect(await heard.next()).toBe('ready');
    const sent = await commitRevision();
    expect(await heard.next()).toEqual(sent);
  });

  test('is never ready behind a pooler in transaction mode, and says so', async () => {
    const pooler = await startTransactionPooler(server.url);
    const lines: string[] = [];
    const logger = createLogger('warn', { write: (line) => void lines.push(line) });
    const deaf = new Listener({ url: pooler.url, logger, heartbeatMs: 100, limitMs: 2_000 });
    deaf.start(heard.handlers);
    try {
      await waitFor('the warning', () => lines[0]);
      await commitRevision();
    } finally {
      await deaf.close();
      pooler.close();
    }
    expect(heard.said).toEqual([]);
    expect(JSON.parse(lines[0] ?? '{}')).toMatchObject({
      code: 'store_unavailable',
      detail:
        'PostgreSQL responds, but no notification arrived within 2000 ms: give KEYFRAME_DATABASE_DIRECT_URL an address without a pooler (database.directKey of the chart)',
    });
  });

  test('keeps trying while the database is away, and is ready soon after it is back', async () => {
    proxy.refuse();
    listener.start(heard.handlers);
    await sleep(400);
    expect(heard.said).toEqual([]);
    await proxy.accept();
    expect(await heard.next()).toBe('ready');
    proxy.refuse();
    proxy.kill();
    expect(await heard.next()).toBe('lost');
    await sleep(400);
    await proxy.accept();
    expect(await heard.next()).toBe('ready');
  });

  test('gives up a connection attempt that is never answered', async () => {
    listener = createListener(1_000);
    proxy.freeze();
    listener.start(heard.handlers);
    await sleep(1_500);
    proxy.thaw();
    expect(await heard.next()).toBe('ready');
  });

  test('logs why it was interrupted', async () => {
    const lines: string[] = [];
    const logger = createLogger('warn', { write: (line) => void lines.push(line) });
    listener = new Listener({ url: proxy.url, logger, heartbeatMs: 50, limitMs: 3_000 });
    listener.start(heard.handlers);
    await heard.next();
    proxy.freeze();
    expect(await heard.next()).toBe('lost');
    proxy.thaw();
    const [line = '{}'] = lines;
    expect(JSON.parse(line)).toMatchObject({
      msg: 'listening for changes was interrupted; connecting again',
      error: 'DomainError',
      code: 'store_unavailable',
      detail: 'PostgreSQL did not respond within 3000 ms',
    });
  });

  test('ignores payloads it does not know', async () => {
    listener.start(heard.handlers);
    await heard.next();
    for (const payload of [
      '',
      'no json',
      '[]',
      '"text"',
      'null',
      '{"o":"1","e":"only half"}',
      '{"t":"2"}',
      '{"x":1}',
    ]) {
      await database.pool.query('SELECT pg_notify($1, $2)', ['keyframe', payload]);
    }
    const sent = await commitRevision();
    expect(await heard.next()).toEqual(sent);
  });

  test('once closed says nothing more and leaves no connection, whatever it was doing', async () => {
    listener.start(heard.handlers);
    await heard.next();
    await listener.close();
    await commitRevision();
    await sleep(200);
    expect(heard.said).toEqual(['ready']);
    expect(proxy.connections).toEqual([]);
    const waiting = new Listener({ url: 'postgres://x@127.0.0.1:1/x', logger: createLogger('silent') });
    waiting.start(heard.handlers);
    await sleep(50);
    await waiting.close();
    await new Listener({ url: proxy.url, logger: createLogger('silent') }).close();
  });

  test('closes at once, also in the middle of a connection or a proof that is never answered', async () => {
    proxy.freeze();
    const connecting = new Listener({ url: proxy.url, logger: createLogger('silent'), limitMs: 60_000 });
    connecting.start(heard.handlers);
    await sleep(100);
    await connecting.close();
    proxy.thaw();
    const proving = new Listener({ url: proxy.url, logger: createLogger('silent'), heartbeatMs: 50, limitMs: 60_000 });
    proving.start(heard.handlers);
    await heard.next();
    proxy.freeze();
    await sleep(150);
    await proving.close();
    expect(heard.said).toEqual(['ready']);
  });
});
