import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { createLogger } from '../../../src/observability/logger.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { readFaults, sendReads } from '../../../tools/record-release/reads.ts';
import { EventReader } from '../../support/api/event-reader.ts';
import { HttpClient } from '../../support/api/http.ts';
import { type ProgramFolder, unpackFormer } from '../../support/api/program-folder.ts';
import { ServerProcess } from '../../support/api/server-process.ts';
import { execute } from '../../support/api/test-server.ts';
import { grantedKinds } from '../../../src/domain/kinds.ts';
import type { ClusterRulesView } from '../../../src/wire/clusters.ts';
import type { JwtExplanationView } from '../../../src/wire/federation.ts';
import type { ServiceTokenListView, ServiceTokenView } from '../../../src/wire/service-tokens.ts';
import { type FormerDatabase, loadFormerDatabase } from '../../support/database/former-database.ts';
import { JwtSigner, timesFor } from '../../support/oidc/jwt-signer.ts';

/**
 * The former release's program and the present one on the recorded database of the former release, as the role that
 * migrations grant. One story: each test goes on where the one before has ended.
 */

const resources = new AsyncDisposableStack();
const environment = 'acme/shop/production';
const role = `former_${randomBytes(6).toString('hex')}`;
let folder: ProgramFolder;
let database: FormerDatabase;
let runUrl: string;
let former: ServerProcess;
let present: ServerProcess;

beforeAll(async () => {
  folder = await unpackFormer(resources);
  database = await loadFormerDatabase(resources, folder);
  resources.defer(() => execute(database.url, `DROP OWNED BY ${role}; DROP ROLE ${role}`));
  runUrl = Object.assign(new URL(database.url), { username: role, password: 'change-me' }).href;
  await migrateByFormer();
}, 180_000);

afterAll(() => resources.disposeAsync());

function start(program?: string): Promise<ServerProcess> {
  const env = { DATABASE_URL: runUrl, ROOT_KEY: `test:${database.rootKey}`, PUBLIC_URL: 'http://localhost:8700' };
  return ServerProcess.start(resources, { role: 'api', env, program });
}

/** Runs `migrate` of the former release. */
async function migrateByFormer(): Promise<void> {
  const env = { DATABASE_URL: database.url, DATABASE_RUN_URL: runUrl };
  const migration = await ServerProcess.spawn(resources, { role: 'migrate', env, program: folder.program });
  expect(await migration.captured.ended).toMatchObject({ code: 0 });
}

/** The rights of the servers' role, such as `SELECT on secret`. */
async function roleRights(): Promise<string[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ right: string }>(
    `SELECT privilege_type || ' on ' || table_name AS right FROM information_schema.table_privileges WHERE grantee = $1
     UNION ALL
     SELECT privilege_type || ' on ' || object_name FROM information_schema.usage_privileges WHERE grantee = $1`,
    [role],
  );
  await client.end();
  return rows.map(({ right }) => right);
}

/** What a server does not answer as it was recorded, as `path: field`. */
async function faultsOf({ url }: ServerProcess): Promise<string[]> {
  const answers = await sendReads(
    { url, token: database.token },
    database.reads.map(({ path }) => path),
  );
  return database.reads.flatMap(({ path, status, body }, index) => {
    const answer = answers[index];
    const faults = answer?.status === status ? readFaults(body, answer.body) : [`status ${answer?.status}`];
    return faults.map((fault) => `${path}: ${fault}`);
  });
}

/** Waits for the event of a revision, which must not come from what a stream looks up by itself. */
async function waitForRevision(stream: EventReader, revisionId: string): Promise<void> {
  for (;;) {
    const event = await stream.nextAtOnce();
    if (event === undefined) throw new Error('the stream has ended');
    if (JSON.stringify(event.data).includes(revisionId)) return;
  }
}

const clientOf = ({ url }: ServerProcess): HttpClient => new HttpClient(url, database.token);

test('the former release answers every read of its database as it was recorded', async () => {
  former = await start(folder.program);
  expect(database.reads.length).toBeGreaterThan(30);
  expect(await faultsOf(former)).toEqual([]);
}, 120_000);

test('the present release migrates it under that server, and takes no right from its role', async () => {
  const before = await roleRights();
  expect(before.length).toBeGreaterThan(100);
  await migrate({ url: database.url, runUrl, logger: createLogger('silent') });
  const after = new Set(await roleRights());
  expect(before.filter((right) => !after.has(right))).toEqual([]);
}, 120_000);

test('both releases answer every read as it was recorded', async () => {
  present = await start();
  expect([await faultsOf(present), await faultsOf(former)]).toEqual([[], []]);
}, 120_000);

test('each cluster of the former release is a home cluster, and rules for it do not disturb that release', async () => {
  const [organization = ''] = environment.split('/');
  const path = `/organizations/${organization}/clusters`;
  const { clusters } = await clientOf(present).expectStatus<{ clusters: ClusterRulesView[] }>(200, 'GET', path);
  expect(clusters.length).toBeGreaterThan(0);
  const generations = { acceptedGeneration: null, generation: null, isOutdated: false };
  const before = { isHome: true, rules: null, version: 0, ...generations };
  expect(clusters).toEqual(clusters.map(({ name }) => ({ name, ...before })));
  const everything = { project: '*', environments: ['*'], permission: 'read_write', kinds: grantedKinds };
  const body = { rules: [everything], expectedVersion: 0 };
  for (const { name } of clusters) await clientOf(present).expectStatus(200, 'PUT', `${path}/${name}`, body);
  expect(await faultsOf(former)).toEqual([]);
  for (const { name } of clusters) await clientOf(present).expectStatus(204, 'DELETE', `${path}/${name}`);
}, 120_000);

interface Federated {
  readonly path: string;
  readonly jwt: string;
}

/** Creates a federated token at the present release. Both have the name. */
async function federated(name: string): Promise<Federated> {
  const signer = new JwtSigner();
  const iss = 'https://ci.example.test';
  const issuer = { preset: 'none', iss, keys: [signer.jwk] };
  await clientOf(present).expectStatus(200, 'PUT', `/trusted-issuers/${name}`, issuer);
  const body = {
    name,
    scope: 'organization',
    permission: 'read',
    federation: { issuer: name, claims: { sub: ['job'] } },
  };
  const token = await clientOf(present).expectStatus<ServiceTokenView>(201, 'POST', '/service-tokens/acme', body);
  const jwt = signer.sign({ iss, aud: token.federation?.audience, sub: 'job', ...timesFor(300) });
  return { path: `/service-tokens/acme/${token.id}`, jwt };
}

/** What a bearer gets from a server. */
async function statusOf({ url }: ServerProcess, bearer: string): Promise<number> {
  return (await new HttpClient(url, bearer).send('GET', '/me')).status;
}

test('the former release takes no JWT, and lists and revokes the token that it proves', async () => {
  const { path, jwt } = await federated('revoked');
  expect([await statusOf(present, jwt), await statusOf(former, jwt)]).toEqual([200, 401]);
  const { serviceTokens } = await clientOf(former).expectStatus<ServiceTokenListView>(
    200,
    'GET',
    '/service-tokens/acme',
  );
  expect(serviceTokens.find(({ id }) => path.endsWith(id))).toMatchObject({ name: 'revoked', revokedAt: null });
  await clientOf(former).expectStatus(204, 'DELETE', path);
  expect([await statusOf(present, jwt), await statusOf(former, jwt)]).toEqual([401, 401]);
  const explained = await clientOf(present).expectStatus<JwtExplanationView>(200, 'POST', `${path}/explain`, { jwt });
  expect(explained.checks.at(-1)).toMatchObject({ outcome: 'failed', detail: expect.stringContaining('was revoked') });
}, 120_000);

test('a federated token that the former release rotates has a value, and no JWT proves it', async () => {
  const { path, jwt } = await federated('rotated');
  const { token } = await clientOf(former).expectStatus<{ token: string }>(200, 'POST', `${path}/rotate`, {});
  expect(await statusOf(present, jwt)).toBe(401);
  expect([await statusOf(present, token), await statusOf(former, token)]).toEqual([200, 200]);
  expect(await clientOf(present).expectStatus(200, 'GET', path)).not.toHaveProperty('federation');
}, 120_000);

test('each of them reads what the other one writes, and its streams report the changes of the other one', async () => {
  for (const [writer, reader] of [
    [former, present],
    [present, former],
  ] as const) {
    const stream = await EventReader.open(`${reader.url}/api/v1/changes/${environment}`, {
      reveal: () => database.token,
    });
    const value = `by ${writer === former ? 'the former' : 'the present'} one`;
    const written = await clientOf(writer).expectStatus<{ revisionId: string }>(
      200,
      'PATCH',
      `/secrets/${environment}`,
      {
        set: { SIDE_BY_SIDE: value },
      },
    );
    await waitForRevision(stream, written.revisionId);
    stream.close();
    const read = await clientOf(reader).expectStatus(200, 'GET', `/secrets/${environment}/SIDE_BY_SIDE`);
    expect(read).toMatchObject({ value });
    const { changes } = await clientOf(present).expectStatus<{ changes: unknown[] }>(
      200,
      'GET',
      `/changes/${environment}?limit=1`,
    );
    expect(changes).toMatchObject([{ revisionId: written.revisionId, changedByCluster: null }]);
  }
}, 120_000);

test('after a rollback the former release starts again, and reads what the present one wrote', async () => {
  await Promise.all([present.stop(), former.stop()]);
  await migrateByFormer();
  former = await start(folder.program);
  const read = await clientOf(former).expectStatus(200, 'GET', `/secrets/${environment}/SIDE_BY_SIDE`);
  expect(read).toMatchObject({ value: 'by the present one' });
}, 120_000);
