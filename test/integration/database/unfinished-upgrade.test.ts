import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLogger } from '../../../src/observability/logger.ts';
import { migrate, schemaFault } from '../../../src/store/migrate.ts';
import { referencesMigration } from '../../../src/store/version-contents.ts';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { Programs } from '../../support/api/program.ts';
import { startServices, type TestServices } from '../../support/api/services.ts';
import { createWorldCalls, type WorldCalls } from '../../support/api/with-services.ts';
import { copyMigrations, migrationNames } from '../../support/database/own-migrations.ts';
import { createEmptyDatabase, type TestDatabase } from '../../support/database/postgres.ts';

/** A database of release 0.1.0 that this release upgraded, until the upgrade is finished and afterwards. */

const old = '0.1.0';
const logger = createLogger('silent');
const resources = new AsyncDisposableStack();
const programs = new Programs();
let database: TestDatabase;
let services: TestServices;
let by: WorldCalls;
/** The migrations of that release. */
let directory: string;

beforeAll(async () => {
  directory = await copyMigrations(resources);
  const releases = JSON.parse(readFileSync(join(checkoutDirectory, 'prisma', 'releases.json'), 'utf8')) as Readonly<
    Record<string, Readonly<Record<string, string>>>
  >;
  const released = Object.keys(releases[old] ?? {});
  const later = (await migrationNames()).filter((name) => !released.includes(name));
  await Promise.all(later.map((name) => rm(join(directory, name), { recursive: true })));
  database = await createEmptyDatabase();
  resources.defer(() => database.drop());
  await migrate({ url: database.url, logger, directory, release: old });
  await migrate({ url: database.url, logger });
  services = await startServices(database.url);
  resources.defer(() => services.close());
  resources.defer(() => programs.endAll());
  by = await createWorldCalls(services);
}, 60_000);

afterAll(() => resources.disposeAsync());

// The statements of release 0.1.0: the present state, a version, and versions by their ids.
const statements = {
  present: `SELECT s.key, v.version, v.ciphertext, v.data_key_id AS "dataKeyId", s.id AS "secretId"
    FROM environment e
    LEFT JOIN (secret s JOIN secret_version v ON v.id = s.current_version_id)
      ON s.environment_id = e.id AND s.deleted_at IS NULL
    WHERE e.id = $1 AND e.deleted_at IS NULL`,
  versions: `SELECT s.key, v.version, v.ciphertext, v.data_key_id AS "dataKeyId", s.id AS "secretId"
    FROM secret s LEFT JOIN secret_version v ON v.secret_id = s.id WHERE s.environment_id = $1`,
};

interface Row {
  readonly key: string;
  readonly version: number;
  readonly ciphertext: Buffer;
  readonly dataKeyId: string;
  readonly secretId: string;
}

/** What a server of that release reads, as `KEY 1` → value; `unreadable` for what it cannot open. */
async function readByOld(name: keyof typeof statements): Promise<Readonly<Record<string, string>>> {
  const { organization, project, environment } = by.world;
  const { rows } = await services.database.pool.query<Row>(statements[name], [environment.id]);
  const opener = await services.keyring.opener(new Set(rows.map(({ dataKeyId }) => dataKeyId)));
  const place = { organizationId: organization.id, projectId: project.id, environmentId: environment.id };
  const valueOf = ({ secretId, ciphertext, dataKeyId }: Row): string => {
    try {
      return opener.open({ ...place, secretId }, { ciphertext, dataKeyId }).reveal();
    } catch {
      return 'unreadable';
    }
  };
  return Object.fromEntries(rows.map((row) => [`${row.key} ${row.version}`, valueOf(row)]));
}

async function faultOfOld(): Promise<string | undefined> {
  return await schemaFault(services.database, { directory, release: old });
}

async function runMigrate(...options: readonly string[]): Promise<readonly [code: number | null, output: string]> {
  const captured = await programs.spawn({ args: ['migrate', ...options], env: { DATABASE_URL: database.url } });
  const { code } = await captured.ended;
  return [code, captured.output.toString()];
}

test('a server of the previous release reads all that is written, until an operator finishes the upgrade', async () => {
  const { calls, snapshots } = by;
  await calls.patch({ A: 'a1', B: 'b1' });
  const { id } = await snapshots.create();
  await calls.patch({ A: 'a2', B: 'b2' });
  await snapshots.restore(id);
  await calls.rollback('A', { targetVersion: 3 });
  const written = { 'A 1': 'a1', 'A 2': 'a2', 'A 3': 'a1', 'A 4': 'a1', 'B 1': 'b1', 'B 2': 'b2', 'B 3': 'b1' };
  expect(await readByOld('versions')).toEqual(written);
  expect(await readByOld('present')).toEqual({ 'A 4': 'a1', 'B 3': 'b1' });
  expect([await faultOfOld(), await schemaFault(services.database)]).toEqual([undefined, undefined]);
  // As pods do that start again during the upgrade: of either release, and nothing is finished by it.
  expect(await migrate({ url: database.url, logger, directory, release: old })).toEqual([]);
  const [code, output] = await runMigrate();
  expect(code).toBe(0);
  expect(output).toMatch(/"waiting":1,.*when no server of an earlier release will run again, run .* --finish-upgrade/);
  await calls.rollback('B', { targetVersion: 2 });
  expect(await readByOld('present')).toEqual({ 'A 4': 'a1', 'B 4': 'b2' });

  const [finishedCode, finished] = await runMigrate('--finish-upgrade');
  expect([finishedCode, finished]).toEqual([0, expect.stringContaining(referencesMigration)]);
  expect(await faultOfOld()).toBe(
    `a newer server has changed the database for servers from 0.2.0 on (migration ${referencesMigration}), and this one is ${old}: run 0.2.0 or a later release`,
  );
  await expect(migrate({ url: database.url, logger, directory, release: old })).rejects.toMatchObject({
    code: 'conflict',
  });
  expect(await schemaFault(services.database)).toBeUndefined();
  await calls.rollback('A', { targetVersion: 2 });
  await snapshots.restore(id);
  expect(await readByOld('versions')).toMatchObject({ ...written, 'A 5': 'unreadable', 'B 5': 'unreadable' });
  expect((await calls.read()).secrets).toEqual({ A: ['a1', 6], B: ['b1', 5] });
  expect(await runMigrate('--finish-upgrade')).toEqual([0, expect.stringContaining('"applied":0')]);
}, 60_000);

test('the role migrate refuses other options, and repeats none', async () => {
  const [code, help] = await runMigrate('--help');
  expect([code, help]).toEqual([0, expect.stringMatching(/^ {2}--finish-upgrade .*servers of the previous minor/m)]);
  const advice = 'keyframe-server: migrate: it takes only the option --finish-upgrade; see --help\n';
  for (const wrong of ['canary', '--canary', '--finish-upgrade=canary']) {
    expect(await runMigrate(wrong)).toEqual([64, advice]);
  }
});

test('a later minor release applies it without being asked, a patch of the same one does not', async () => {
  const upgraded = await createEmptyDatabase();
  resources.defer(() => upgraded.drop());
  const { url } = upgraded;
  const before = await migrate({ url, logger, directory, release: old });
  const lacking = (await migrationNames()).filter((name) => !before.includes(name) && name !== referencesMigration);
  expect(await migrate({ url, logger, release: '0.2.7' })).toEqual(lacking);
  expect(await migrate({ url, logger, release: '0.3.0' })).toEqual([referencesMigration]);
  expect(await migrate({ url, logger, release: '0.2.7' })).toEqual([]);
});
