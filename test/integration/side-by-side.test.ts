import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createLogger } from '../../src/observability/logger.ts';
import { ownRelease } from '../../src/lib/release.ts';
import { migrate } from '../../src/store/migrate.ts';
import { ApiServers } from '../support/api/api-servers.ts';
import type { HttpClient } from '../support/api/http.ts';
import { LockSession } from '../support/database/locks.ts';
import { addMigration, copyMigrations } from '../support/database/own-migrations.ts';
import type { RunningProgram } from '../support/api/program.ts';
import { createTestDatabase } from '../support/database/postgres.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** Servers of this release on a database that a newer one has migrated. */

const logger = createLogger('silent');
const resources = new AsyncDisposableStack();
const secret = '/secrets/acme/web/prod/KEY';
let servers: ApiServers;
let running: RunningProgram;
let client: HttpClient;
/** The migrations that a newer release has. */
let newer: string;

beforeAll(async () => {
  servers = await ApiServers.make(resources);
  running = await servers.start();
  client = servers.client(running);
}, 60_000);

beforeEach(async () => {
  newer = await copyMigrations(resources);
});

afterAll(() => resources.disposeAsync());

async function readiness(): Promise<[status: number, reason: string | undefined]> {
  const answer = await fetch(`http://127.0.0.1:${running.metricsPort}/readyz`);
  return [answer.status, ((await answer.json()) as { reason?: string }).reason];
}

/** Writes and reads one after the other while something else happens; answers how often. */
async function usedWhile(work: Promise<unknown>): Promise<number> {
  const state = { isDone: false, count: 0 };
  const done = work.finally(() => (state.isDone = true));
  for (; !state.isDone; state.count += 1) await useOnce(client, `value ${state.count}`);
  await done;
  return state.count;
}

/** Goes through reads and transactions of both kinds. */
async function useOnce(by: HttpClient, value: string): Promise<void> {
  expect((await by.send('PUT', secret, { value })).status).toBeLessThan(300);
  expect(await by.expectStatus(200, 'GET', secret)).toMatchObject({ value });
  await by.expectStatus(201, 'POST', '/snapshots/acme/web/prod', {});
  await by.expectStatus(200, 'GET', '/organizations');
}

/** Has several of the server's connections prepare its statements, or use what they have prepared. */
async function onManyConnections(): Promise<void> {
  await Promise.all(Array.from({ length: 12 }, () => client.expectStatus(200, 'GET', '/organizations')));
}

// The types that statements of a running server answer change under it, which costs a prepared one its plan.
const expansion = `ALTER TABLE secret ADD COLUMN note text, ADD COLUMN weight integer NOT NULL DEFAULT 1;
  ALTER TABLE organization ALTER display_name TYPE varchar(999);
  ALTER TABLE secret ALTER key TYPE varchar(300);
  CREATE TABLE extra (secret_id uuid PRIMARY KEY REFERENCES secret (id) ON DELETE CASCADE);`;

describe('migrations of a newer release', () => {
  test('that expand the schema fail no request of a server that runs, and do not keep one from starting', async () => {
    await onManyConnections();
    await addMigration(newer, '99990101000000_expansion', expansion);
    const applied = migrate({ url: servers.database.url, logger, directory: newer });
    expect(await usedWhile(applied)).toBeGreaterThan(0);
    expect(await applied).toEqual(['99990101000000_expansion']);
    await onManyConnections();
    await useOnce(client, 'after it');
    expect(await readiness()).toEqual([200, undefined]);
    // As the pods of the older release do that are restarted during the upgrade: migrate comes first there.
    const [code, output] = await servers.run('migrate');
    expect([code, output]).toEqual([0, expect.stringContaining('"applied":0')]);
    const restarted = await servers.start();
    await useOnce(servers.client(restarted), 'by one that was restarted');
    await restarted.server.end();
  });

  test('wait for a table that others use without keeping the requests behind them', async () => {
    await addMigration(newer, '99990101000000_expansion', expansion);
    await addMigration(newer, '99990102000000_more', 'ALTER TABLE secret ADD COLUMN more text');
    // As a dump does.
    const reader = await LockSession.begin(servers.database.url);
    await reader.run('LOCK TABLE secret IN ACCESS SHARE MODE');
    const options = { url: servers.database.url, logger, directory: newer };
    const refused = migrate({ ...options, lockPatienceMs: 0 });
    await expect(refused).rejects.toMatchObject({
      code: 'overloaded',
      detail: expect.stringContaining('99990102000000_more waits for a table'),
    });
    const applied = migrate(options);
    await reader.waitForBlocked(1);
    // Behind it, until it gives way.
    await useOnce(client, 'behind it');
    await reader.commit();
    expect(await applied).toEqual(['99990102000000_more']);
    await useOnce(client, 'and after it');
  });

  // The last one: no server of this release can work then.
  test('that take away what this release uses are reported by name: not ready, and no start', async () => {
    const name = '99990103000000_contraction_since_99_0_0';
    const fault = `a newer server has changed the database for servers from 99.0.0 on (migration ${name}), and this one is ${ownRelease()}: run 99.0.0 or a later release`;
    const own = '99990103000000_contraction_since_' + ownRelease().replaceAll('.', '_');
    await addMigration(newer, '99990101000000_expansion', expansion);
    await addMigration(newer, '99990102000000_more', 'ALTER TABLE secret ADD COLUMN more text');
    await addMigration(newer, own, 'ALTER TABLE secret DROP COLUMN note');
    await migrate({ url: servers.database.url, logger, directory: newer });
    expect(await readiness()).toEqual([200, undefined]);
    await addMigration(newer, name, 'ALTER TABLE secret DROP COLUMN weight');
    await migrate({ url: servers.database.url, logger, directory: newer, release: '99.0.0' });
    await waitFor('readiness to fail', async () => (await readiness())[0] === 503);
    expect(await readiness()).toEqual([503, fault]);
    for (const role of ['api', 'migrate'] as const) {
      expect(await servers.run(role)).toEqual([78, `keyframe-server: ${fault}\n`]);
    }
  });
});

test('a migration that a deadlock ends is applied again', async () => {
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const sql = 'ALTER TABLE organization ADD COLUMN note text; ALTER TABLE secret ADD COLUMN note text';
  await addMigration(newer, '99990101000000_two_tables', sql);
  const holder = await LockSession.begin(database.url);
  await holder.run('LOCK TABLE organization IN ACCESS EXCLUSIVE MODE');
  const reader = await LockSession.begin(database.url);
  // PostgreSQL looks for a deadlock once in each wait: the reader's look comes before there is one.
  await reader.run("SET LOCAL deadlock_timeout = '1ms'");
  await reader.run('LOCK TABLE secret IN ACCESS SHARE MODE');
  const applied = migrate({ url: database.url, logger, directory: newer });
  await holder.waitForBlocked(1);
  const read = reader.run('LOCK TABLE organization IN ACCESS SHARE MODE');
  await holder.waitForBlocked(2);
  await pause(500);
  // Now the migration gets the first table, waits for the second one, and finds the deadlock.
  await holder.commit();
  await read;
  await reader.commit();
  expect(await applied).toEqual(['99990101000000_two_tables']);
});
