import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createLogger } from '../../../src/observability/logger.ts';
import { openDatabase, type Database } from '../../../src/store/database.ts';
import { migrate, schemaFault } from '../../../src/store/migrate.ts';
import { Programs } from '../../support/api/program.ts';
import { type ProgramFolder, copyProgram } from '../../support/api/program-folder.ts';
import { formerRelease } from '../../support/cluster/released.ts';
import { addMigration, migrationNames, ownMigrations } from '../../support/database/own-migrations.ts';
import { createEmptyDatabase, type TestDatabase } from '../../support/database/postgres.ts';

/**
 * A database of the former release that the next one has upgraded, with a migration that waits until the upgrade is
 * finished. The next release is this program with two more migrations.
 */

const next = '1.0.3';
const expansion = '99990101000000_expansion';
const waiting = '99990102000000_contraction_finish_since_1_0_0';
const logger = createLogger('silent');
const resources = new AsyncDisposableStack();
const programs = new Programs();
let folder: ProgramFolder;

beforeAll(async () => {
  resources.defer(() => programs.endAll());
  folder = await copyProgram(resources, next);
  await addMigration(folder.migrations, expansion, 'ALTER TABLE secret ADD COLUMN note text');
  await addMigration(folder.migrations, waiting, 'ALTER TABLE secret DROP COLUMN note');
}, 60_000);

afterAll(() => resources.disposeAsync());

/** A database that the former release has migrated. */
async function createFormer(): Promise<TestDatabase> {
  const database = await createEmptyDatabase();
  resources.defer(() => database.drop());
  await migrate({ url: database.url, logger, release: formerRelease });
  return database;
}

describe('an upgraded database', () => {
  let database: TestDatabase;
  let opened: Database;

  beforeAll(async () => {
    database = await createFormer();
    opened = openDatabase({ url: database.url });
    resources.defer(() => opened.close());
  });

  async function runMigrate(...options: readonly string[]): Promise<readonly [code: number | null, output: string]> {
    const { program } = folder;
    const env = { DATABASE_URL: database.url };
    const captured = await programs.spawn({ program, args: ['migrate', ...options], env });
    const { code } = await captured.ended;
    return [code, captured.output.toString()];
  }

  test('lacks what waits, and servers of both releases work on it, until an operator finishes the upgrade', async () => {
    const former = { directory: ownMigrations, release: formerRelease };
    const present = { directory: folder.migrations, release: next };
    for (const applied of [[expansion], []]) {
      const [code, output] = await runMigrate();
      expect([code, output]).toEqual([0, expect.stringContaining(`"applied":${applied.length}`)]);
      expect(output).toMatch(
        /"waiting":1,.*when no server of an earlier release will run again, run .* --finish-upgrade/,
      );
      // As pods do that start again during the upgrade.
      expect(await migrate({ url: database.url, logger, ...former })).toEqual([]);
      expect([await schemaFault(opened, former), await schemaFault(opened, present)]).toEqual([undefined, undefined]);
    }

    expect(await runMigrate('--finish-upgrade')).toEqual([0, expect.stringContaining(waiting)]);
    expect(await schemaFault(opened, former)).toBe(
      `a newer server has changed the database for servers from 1.0.0 on (migration ${waiting}), and this one is ${formerRelease}: run 1.0.0 or a later release`,
    );
    await expect(migrate({ url: database.url, logger, ...former })).rejects.toMatchObject({ code: 'conflict' });
    expect(await schemaFault(opened, present)).toBeUndefined();
    expect(await runMigrate('--finish-upgrade')).toEqual([0, expect.stringContaining('"applied":0')]);
  }, 60_000);

  test('is migrated by a role that refuses other options, and repeats none', async () => {
    const [code, help] = await runMigrate('--help');
    expect([code, help]).toEqual([0, expect.stringMatching(/^ {2}--finish-upgrade .*servers of the previous minor/m)]);
    const advice = 'keyframe-server: migrate: it takes only the option --finish-upgrade; see --help\n';
    for (const wrong of ['canary', '--canary', '--finish-upgrade=canary']) {
      expect(await runMigrate(wrong)).toEqual([64, advice]);
    }
  });
});

test('a later minor release applies it without being asked, a patch of the same one does not', async () => {
  const { url } = await createFormer();
  const directory = folder.migrations;
  expect(await migrate({ url, logger, directory, release: next })).toEqual([expansion]);
  expect(await migrate({ url, logger, directory, release: '1.1.0' })).toEqual([waiting]);
  expect(await migrate({ url, logger, directory, release: next })).toEqual([]);
});

test('a new database has it at once', async () => {
  const { url } = await createEmptyDatabase();
  const all = await migrationNames(folder.migrations);
  expect(await migrate({ url, logger, directory: folder.migrations, release: next })).toEqual(all);
});
