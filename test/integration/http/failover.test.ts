import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readOnlyFault } from '../../../src/store/session.ts';
import { HttpClient } from '../../support/api/http.ts';
import { Programs, type RunningProgram } from '../../support/api/program.ts';
import { createWorld, newRootKey, startServices } from '../../support/api/services.ts';
import { ReplicatedPostgres } from '../../support/database/replicated-postgres.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

/** A real standby behind a switch takes the place of its primary, and a new standby that of this one. */

// What an operator of a database may expect of its clients.
const promisedMs = 5_000;
const rootKey = newRootKey();
const resources = new AsyncDisposableStack();
let postgres: ReplicatedPostgres;
let api: RunningProgram;
let client: HttpClient;
let secrets: string;

beforeAll(async () => {
  postgres = await ReplicatedPostgres.start(resources);
  const services = await startServices(postgres.url, { rootKeys: rootKey });
  const { owner, slugs } = await createWorld(services);
  await services.close();
  secrets = `/secrets/${slugs.organization}/${slugs.project}/${slugs.environment}`;
  const programs = new Programs();
  resources.defer(() => programs.endAll());
  api = await programs.start({ args: ['api'], env: { DATABASE_URL: postgres.url, ROOT_KEY: rootKey } });
  client = new HttpClient(`http://127.0.0.1:${api.port}`, owner.token.reveal());
}, 120_000);

afterAll(() => resources.disposeAsync());

const written: string[] = [];

/** Writes the next value; the status of the response. */
async function write(): Promise<number> {
  const value = `value-${written.length}`;
  const { status } = await client.send('PUT', `${secrets}/COUNT`, { value });
  if (status < 300) written.push(value);
  return status;
}

/** Writes until it is stopped, as applications do. Returns how to stop it. */
function keepWriting(): () => Promise<void> {
  const stopping = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await write();
      await pause(20);
    }
  })();
  return async () => {
    stopping.abort();
    await running;
  };
}

async function readiness(): Promise<{ status: number; reason?: string }> {
  const response = await fetch(`http://127.0.0.1:${api.metricsPort}/readyz`);
  const { reason } = (await response.json()) as { reason?: string };
  return { status: response.status, ...(reason === undefined ? {} : { reason }) };
}

test('writes work at once when a switch leads to the primary again, though its connections to the standby stay', async () => {
  expect(await write()).toBeLessThan(300);
  postgres.lead('standby', { kill: true });
  await waitFor('a write to be refused', async () => (await write()) === 503);
  expect(await readiness()).toEqual({ status: 503, reason: readOnlyFault });
  postgres.lead('primary', { kill: false });
  expect(await write()).toBeLessThan(300);
  await waitFor('the server to be ready', async () => (await readiness()).status === 200);
});

test.each(['to the standby', 'back to a new one'])(
  'a failover %s is over for writes when the standby is promoted',
  async () => {
    expect(await write()).toBeLessThan(300);
    expect(await readiness()).toEqual({ status: 200 });
    const stop = keepWriting();
    await pause(500);
    await postgres.failOver();
    await waitFor('the server to report the standby', async () => {
      expect(await readiness()).toEqual({ status: 503, reason: readOnlyFault });
      return true;
    });
    const acknowledged = written.length;
    await pause(500);
    expect([await write(), written.length]).toEqual([503, acknowledged]);
    await postgres.promote();
    const promotedAt = performance.now();
    await waitFor('a write to succeed', () => written.length > acknowledged, { pollMs: 20 });
    expect(performance.now() - promotedAt).toBeLessThan(promisedMs);
    await waitFor('the server to be ready', async () => (await readiness()).status === 200);
    await stop();
    await postgres.addStandby();
  },
  120_000,
);

test('every acknowledged value is in the history after both failovers', async () => {
  const found = new Set<string>();
  // A write whose response was lost may have been committed as well.
  for (let version = 1; found.size < written.length; version += 1) {
    const path = `${secrets.replace('/secrets/', '/versions/')}/COUNT/${version}`;
    found.add((await client.expectStatus<{ value: string }>(200, 'GET', path)).value);
  }
  expect(written.filter((value) => !found.has(value))).toEqual([]);
});

test('a server that starts on a standby exits with a message that says so', async () => {
  await postgres.failOver();
  const programs = new Programs();
  const server = await programs.spawn({ args: ['api'], env: { DATABASE_URL: postgres.url, ROOT_KEY: rootKey } });
  const { code } = await server.ended;
  expect([code, server.output.toString()]).toEqual([69, expect.stringContaining(`${readOnlyFault} (25006): correct`)]);
});
