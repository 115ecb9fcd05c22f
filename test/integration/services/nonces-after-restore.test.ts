import { afterEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { HttpClient } from '../../support/api/http.ts';
import { Programs } from '../../support/api/program.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import { type World, createWorld, newRootKey, startServices } from '../../support/api/services.ts';
import { type TestDatabase, copyTestDatabase, createTestDatabase } from '../../support/database/postgres.ts';

const rootKey = newRootKey();
const programs = new Programs();

afterEach(() => programs.endAll());

/** Lets a new process of the server write 60 versions. */
async function writeInNewProcess({ url }: TestDatabase, { developer, slugs }: World): Promise<void> {
  const { server, port } = await programs.start({ args: ['api'], env: { DATABASE_URL: url, ROOT_KEY: rootKey } });
  const client = new HttpClient(`http://127.0.0.1:${port}`, developer.token.reveal());
  const path = `/secrets/${slugs.organization}/${slugs.project}/${slugs.environment}`;
  for (let round = 0; round < 3; round += 1) {
    const set = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`K${index}`, `value ${round}`]));
    await client.expectStatus(200, 'PATCH', path, { set });
  }
  await server.end('SIGTERM');
}

/** The nonces of all versions, each after the id of its data key. */
async function noncesOf({ url }: TestDatabase): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ nonce: string }>(
    "SELECT data_key_id || ' ' || encode(substring(ciphertext FROM 2 FOR 12), 'hex') AS nonce FROM secret_version",
  );
  await client.end();
  return rows.map(({ nonce }) => nonce);
}

// Each server is a process of its own: within one process, a counter would not repeat either.
test('servers that were started afresh, also on a restored database, never use one nonce twice under a common key', async () => {
  const original = await createTestDatabase();
  const first = await startServices(original.url, { rootKeys: rootKey });
  const world = await createWorld(first);
  // Makes the data key that both have in common.
  await secretCalls(first, world, world.developer.caller).put('BEFORE', 'value');
  await first.close();
  const restored = await copyTestDatabase(original);
  await writeInNewProcess(original, world);
  await writeInNewProcess(original, world);
  await writeInNewProcess(restored, world);
  const nonces = [...(await noncesOf(original)), ...(await noncesOf(restored))];
  expect(new Set(nonces.map((nonce) => nonce.split(' ')[0])).size).toBe(1);
  expect(nonces).toHaveLength(1 + 120 + 1 + 60);
  // The version that was there before is in both.
  expect(new Set(nonces).size).toBe(nonces.length - 1);
  await restored.drop();
  await original.drop();
}, 60_000);
