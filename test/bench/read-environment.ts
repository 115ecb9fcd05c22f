import { join } from 'node:path';
import pg from 'pg';
import { parseToken } from '../../src/crypto/token.ts';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { freePort } from '../../tools/free-port.ts';
import { CapturedProcess } from '../support/faults/captured-process.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';
import { type BenchApi, benchEnvironment, startBenchApi } from './bench-api.ts';
import { HttpLoad } from './http-load.ts';
import { compare, throughput } from './rounds.ts';

const rounds = 9;
const atOnce = 16;
/** Requests of one round, by the number of secrets: about a second each. */
const sizes: readonly (readonly [secrets: number, requests: number])[] = [
  [10, 1200],
  [100, 700],
  [1000, 150],
];
const notModifiedRequests = 2000;

/**
 * Reads of a whole environment by a service token, sixteen at once over kept-alive connections, in full and with an
 * ETag that still holds: requests a second beside those of the floor (read-floor.ts).
 */
export async function readEnvironment(): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const api = await startBenchApi(resources);
  const load = new HttpLoad();
  resources.defer(() => load.close());
  const environments = await Promise.all(sizes.map(([size]) => benchEnvironment(api.admin, size)));
  const tokens = await Promise.all(environments.map((environment) => environment.createToken()));
  const floorUrl = await startFloor(resources, api, tokens[0]?.token ?? '');
  console.log(`\nReading an environment (requests a second, ${atOnce} at once, ${rounds} interleaved rounds)`);
  for (const [index, [size, requests]] of sizes.entries()) {
    const path = environments[index]?.path ?? '';
    const headers = { authorization: `Bearer ${tokens[index]?.token}` };
    const floorHeaders = { authorization: headers.authorization };
    const url = `${api.url}/api/v1${path}`;
    await compare({
      title: `${size} secrets, in full`,
      rounds,
      unit: '/s',
      aim: 0.6,
      floor: () =>
        throughput(requests, atOnce, () =>
          load.send({ url: `${floorUrl}/${size}`, headers: floorHeaders, expected: 200 }),
        ),
      keyframe: () => throughput(requests, atOnce, () => load.send({ url, headers, expected: 200 })),
    });
    const etag = await etagOf(url, headers);
    const conditional = { ...headers, 'if-none-match': etag };
    await compare({
      title: `${size} secrets, not modified (304)`,
      rounds,
      unit: '/s',
      aim: 0.6,
      floor: () =>
        throughput(notModifiedRequests, atOnce, () =>
          load.send({ url: `${floorUrl}/${size}`, headers: conditional, expected: 304 }),
        ),
      keyframe: () =>
        throughput(notModifiedRequests, atOnce, () => load.send({ url, headers: conditional, expected: 304 })),
    });
  }
}

async function etagOf(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const answer = await fetch(url, { headers });
  await answer.arrayBuffer();
  return answer.headers.get('etag') ?? '';
}

async function startFloor(resources: AsyncDisposableStack, { databaseUrl }: BenchApi, token: string): Promise<string> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  await database.query(
    `CREATE TABLE floor_secret (size int, key text, value text, version int, updated_at timestamptz)`,
  );
  for (const [size] of sizes) {
    await database.query(
      `INSERT INTO floor_secret SELECT $1, 'KEY_' || lpad(n::text, 5, '0'), md5(n::text), 1, now() FROM generate_series(1, $1) n`,
      [size],
    );
  }
  await database.query('CREATE INDEX ON floor_secret (size, key)');
  await database.query('ANALYZE');
  await database.end();
  const port = await freePort();
  const floor = new CapturedProcess({
    name: 'floor',
    program: process.execPath,
    args: [join(checkoutDirectory, 'test', 'bench', 'read-floor.ts')],
    env: {
      FLOOR_DATABASE_URL: databaseUrl,
      FLOOR_PORT: String(port),
      FLOOR_CREDENTIAL_ID: parseToken(token)?.credentialId ?? '',
    },
  });
  resources.defer(async () => void (await floor.end()));
  await waitFor('the floor to listen', () => floor.output.toString().includes('ready'));
  return `http://127.0.0.1:${port}`;
}
