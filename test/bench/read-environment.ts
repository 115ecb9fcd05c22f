import { join } from 'node:path';
import pg from 'pg';
import { parseToken } from '../../src/crypto/token.ts';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { freePort } from '../../tools/free-port.ts';
import { CapturedProcess } from '../support/faults/captured-process.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';
import { FederationFixtures, jwtFor } from '../support/oidc/federation-fixtures.ts';
import { JwtSigner, timesFor } from '../support/oidc/jwt-signer.ts';
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
  await compareRoles(api, load);
  await compareJwts(api, load);
}

/** Reads with a JWT that RS256 signs, as GitHub and Kubernetes do, beside the same reads with the value of the token. */
async function compareJwts(api: BenchApi, load: HttpLoad): Promise<void> {
  const signer = new JwtSigner('RS256');
  const pool = new pg.Pool({ connectionString: api.databaseUrl, max: 1 });
  const fixtures = new FederationFixtures(pool);
  const issuer = await fixtures.issuer({ signers: [signer] });
  for (const [size, requests] of sizes) {
    const environment = await benchEnvironment(api.admin, size);
    const { id, token } = await environment.createToken();
    const audience = await fixtures.federate({ id, credentialId: parseToken(token)?.credentialId ?? '' }, issuer);
    const jwt = jwtFor(signer, issuer, audience, timesFor(3_600));
    const reads = (bearer: string): Promise<number> => {
      const headers = { authorization: `Bearer ${bearer}` };
      const url = `${api.url}/api/v1${environment.path}`;
      return throughput(requests, atOnce, () => load.send({ url, headers, expected: 200 }));
    };
    await compare({
      title: `${size} secrets, with a JWT / with a value`,
      rounds,
      unit: '/s',
      // A request with a JWT costs at most 1.3 times as much.
      aim: 0.77,
      floor: () => reads(token),
      keyframe: () => reads(jwt),
    });
  }
  await pool.end();
}

/** Reads by a user in an organization with as many role bindings as it may have, beside one with none. */
async function compareRoles(api: BenchApi, load: HttpLoad): Promise<void> {
  const [plain, crowded] = [await benchEnvironment(api.admin, 100), await benchEnvironment(api.admin, 100)];
  await bindRoles(api, crowded.ref.organization);
  const headers = { authorization: `Bearer ${api.adminToken}` };
  const reads = (path: string): Promise<number> =>
    throughput(1000, atOnce, () => load.send({ url: `${api.url}/api/v1${path}`, headers, expected: 200 }));
  await compare({
    title: '100 secrets, 10,000 roles by place / none',
    rounds,
    unit: '/s',
    aim: 0.95,
    floor: () => reads(plain.path),
    keyframe: () => reads(crowded.path),
  });
}

/** Half for users and half for groups; the reader is in fifty of the groups. */
async function bindRoles({ databaseUrl }: BenchApi, organization: string): Promise<void> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    await database.query(
      `WITH place AS (
         SELECT o.id AS organization_id, p.id AS project_id FROM organization o
         JOIN project p ON p.organization_id = o.id WHERE o.slug = $1 LIMIT 1
       ), users AS (
         INSERT INTO app_user (id, email) SELECT gen_random_uuid(), 'user-' || n || '@bench.example'
         FROM generate_series(1, 5000) n RETURNING id
       )
       INSERT INTO role_binding (id, organization_id, project_id, user_id, group_name, role)
       SELECT gen_random_uuid(), place.organization_id, place.project_id, users.id, NULL, 'viewer'::role FROM place, users
       UNION ALL
       SELECT gen_random_uuid(), place.organization_id, place.project_id, NULL, 'group-' || n, 'viewer'::role
       FROM place, generate_series(1, 5000) n`,
      [organization],
    );
    await database.query(
      `INSERT INTO group_member (user_id, group_name, expires_at)
       SELECT u.id, 'group-' || n, now() + interval '1 day' FROM app_user u, generate_series(1, 50) n
       WHERE u.instance_admin`,
    );
    await database.query('ANALYZE role_binding, group_member');
  } finally {
    await database.end();
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
