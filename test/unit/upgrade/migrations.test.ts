import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { migrationFaults, type MigrationFile, type Releases } from './migration-rules.ts';
import { migrationNames, ownMigrations } from '../../support/database/own-migrations.ts';

const committed = JSON.parse(readFileSync(join(checkoutDirectory, 'prisma', 'releases.json'), 'utf8')) as Releases;

async function ownFiles(): Promise<MigrationFile[]> {
  const names = await migrationNames();
  return names.map((name) => ({ name, sql: readFileSync(join(ownMigrations, name, 'migration.sql'), 'utf8') }));
}

test('our migrations only expand the schema of the releases before them', async () => {
  const files = await ownFiles();
  expect(files.length).toBeGreaterThanOrEqual(3);
  expect(await migrationFaults(files, committed)).toEqual([]);
});

// A history of two releases, and then the one that is being worked on.
const base = `CREATE TYPE mood AS ENUM ('good');
  CREATE TABLE thing (id uuid PRIMARY KEY, name text NOT NULL, size int DEFAULT 1);
  CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN END $$;`;
const files = [
  { name: '2026_base', sql: base },
  { name: '2027_second', sql: 'ALTER TABLE thing ADD COLUMN note text' },
];
const digest = (index: number): string =>
  createHash('sha256')
    .update(files[index]?.sql ?? '')
    .digest('hex');
const releases = { '0.1.0': { '2026_base': digest(0) }, '0.2.0': { '2027_second': digest(1) } };

/** The faults of one migration more, without its name before them. */
async function faultsOf(sql: string, name = '2028_next'): Promise<string[]> {
  const faults = await migrationFaults([...files, { name, sql }], releases);
  return faults.map((fault) => fault.replace(`${name} `, ''));
}

describe('a migration after a release may', () => {
  test.each([
    'ALTER TABLE thing ADD COLUMN more text',
    'ALTER TABLE thing ADD COLUMN more int NOT NULL DEFAULT 0, ADD COLUMN other text UNIQUE',
    'ALTER TABLE thing ADD COLUMN more uuid REFERENCES thing (id) ON DELETE SET NULL',
    'ALTER TABLE thing ADD COLUMN more text; ALTER TABLE thing ADD CONSTRAINT thing_more_key UNIQUE (more)',
    `CREATE TABLE part (id uuid PRIMARY KEY, thing_id uuid NOT NULL REFERENCES thing (id) ON DELETE CASCADE);
     CREATE UNIQUE INDEX part_key ON part (thing_id); ALTER TABLE part ADD CHECK (id <> thing_id);
     ALTER TABLE part ALTER COLUMN thing_id DROP NOT NULL;
     CREATE TRIGGER guard BEFORE UPDATE ON part EXECUTE FUNCTION refuse();`,
    `CREATE TYPE colour AS ENUM ('red'); COMMENT ON TABLE thing IS 'DROP TABLE thing'; -- ALTER TABLE thing DROP COLUMN name`,
    `CREATE FUNCTION other() RETURNS void LANGUAGE sql AS 'SELECT 1'`,
    'ALTER TABLE thing ALTER COLUMN name SET STATISTICS 500',
  ])('expand: %s', async (sql) => {
    expect(await faultsOf(sql)).toEqual([]);
  });
});

const contractions: readonly [what: string, sql: string][] = [
  ['DROP TABLE thing', 'DROP TABLE IF EXISTS "thing"'],
  ['DROP COLUMN thing.name', 'alter table only public.thing drop column if exists name cascade'],
  ['DROP TYPE mood', 'DROP TYPE mood'],
  ['DROP FUNCTION refuse', 'DROP FUNCTION refuse()'],
  ['DROP CONSTRAINT thing.thing_pkey', 'ALTER TABLE thing DROP CONSTRAINT thing_pkey'],
  ['DROP DEFAULT thing.size', 'ALTER TABLE thing ALTER size DROP DEFAULT'],
  ['RENAME TABLE thing', 'ALTER TABLE thing RENAME TO stuff'],
  ['RENAME COLUMN thing.name', 'ALTER TABLE thing RENAME name TO title'],
  ['RENAME VALUE good of mood', `ALTER TYPE mood RENAME VALUE 'good' TO 'fine'`],
  ['ALTER TYPE thing.size', 'ALTER TABLE thing ALTER COLUMN size TYPE bigint'],
  ['SET NOT NULL thing.size', 'ALTER TABLE thing ALTER COLUMN size SET NOT NULL'],
  ['ADD COLUMN thing.more NOT NULL without a default', 'ALTER TABLE thing ADD COLUMN more text NOT NULL'],
  ['UNIQUE thing_name_key on thing', 'ALTER TABLE thing ADD CONSTRAINT thing_name_key UNIQUE (name)'],
  ['UNIQUE of thing.more on thing', 'ALTER TABLE thing ADD COLUMN more int DEFAULT 1 UNIQUE'],
  ['UNIQUE INDEX thing_name on thing', 'CREATE UNIQUE INDEX thing_name ON thing (name)'],
  [
    'UNIQUE INDEX thing_more on thing',
    'ALTER TABLE thing ADD more int; CREATE UNIQUE INDEX thing_more ON thing (more, name) NULLS NOT DISTINCT',
  ],
  ['CHECK named on thing', `ALTER TABLE thing ADD CONSTRAINT named CHECK (name <> '') NOT VALID`],
  ['CHECK of thing.more on thing', `ALTER TABLE thing ADD COLUMN more text DEFAULT 'x' CHECK (more <> name)`],
  ['FOREIGN KEY mine on thing', 'ALTER TABLE thing ADD CONSTRAINT mine FOREIGN KEY (name) REFERENCES other (name)'],
  ['EXCLUDE apart on thing', 'ALTER TABLE thing ADD CONSTRAINT apart EXCLUDE (name WITH =)'],
];

const changes: readonly [what: string, sql: string][] = [
  ['REPLACE FUNCTION refuse', `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END'`],
  ['TRIGGER guard on thing', 'CREATE TRIGGER guard BEFORE UPDATE ON thing EXECUTE FUNCTION refuse()'],
  ['DROP TRIGGER thing.guard', 'DROP TRIGGER guard ON thing'],
  ['DROP INDEX thing_name', 'DROP INDEX thing_name'],
  ['INDEX thing_size on thing', 'CREATE INDEX thing_size ON thing (size)'],
  ['ADD VALUE bad of mood', `ALTER TYPE mood ADD VALUE 'bad'`],
  ['DROP NOT NULL thing.name', 'ALTER TABLE thing ALTER name DROP NOT NULL'],
  ['SET DEFAULT thing.size', 'ALTER TABLE thing ALTER size SET DEFAULT 2'],
  ['FOREIGN KEY of part keeps rows of thing', 'CREATE TABLE part (thing_id uuid REFERENCES thing (id))'],
  [
    'UNIQUE INDEX thing_more on thing',
    'ALTER TABLE thing ADD more int; CREATE UNIQUE INDEX thing_more ON thing (name, more)',
  ],
  ['CHECK sized on thing', 'ALTER TABLE thing ADD COLUMN more int, ADD CONSTRAINT sized CHECK (more > 0)'],
  ['CHECK mixed on thing', `ALTER TABLE thing ADD more int, ADD CONSTRAINT mixed CHECK (more IS NULL OR name = '')`],
  ['AT_EnableRowSecurity thing', 'ALTER TABLE thing ENABLE ROW LEVEL SECURITY'],
  ['DO', `DO $$ BEGIN EXECUTE 'DROP TABLE thing'; END $$`],
  ['UPDATE', `UPDATE thing SET size = 3`],
];

describe('a migration after a release must not without a word', () => {
  test.each(contractions)('contract: %s', async (what, sql) => {
    expect(await faultsOf(sql)).toEqual([`contracts the schema: ${what}; expand it, and contract in a later release`]);
    const declared = `-- Contracts: ${what}, for servers since 0.2.0\n${sql}`;
    expect(await faultsOf(declared, '2028_next_since_0_2_0')).toEqual([]);
  });

  test.each(changes)('change: %s', async (what, sql) => {
    expect(await faultsOf(sql)).toEqual([`does what an older server may not bear, and gives no reason: ${what}`]);
    expect(await faultsOf(`-- Side by side: ${what}: servers of 0.1 and 0.2 do without it\n${sql}`)).toEqual([]);
    expect(await faultsOf(`-- Side by side: ${what}: because\n${sql}`)).toHaveLength(1);
  });
});

describe('a declaration', () => {
  const sql = 'ALTER TABLE thing DROP COLUMN size';
  const what = 'DROP COLUMN thing.size';

  test.each(['0.3.0', '9.9.9'])(
    'of a contraction for servers since %s names no release that is out',
    async (release) => {
      const suffix = `_since_${release.replaceAll('.', '_')}`;
      expect(
        await faultsOf(`-- Contracts: ${what}, for servers since ${release}\n${sql}`, `2028_next${suffix}`),
      ).toEqual([`contracts for servers since ${release}, which was not out before it`]);
    },
  );

  test.each([
    ['0.3.0', true],
    ['0.2.0', false],
    ['0.1.0', false],
    ['0.2.1', false],
  ])('of one that waits for a finished upgrade to %s is right: %s', async (release, isRight) => {
    const name = `2028_next_finish_since_${release.replaceAll('.', '_')}`;
    const fault = `waits for a finished upgrade, but contracts for servers since ${release}, which is not the next minor release`;
    const declared = `-- Contracts: ${what}, for servers since ${release}\n${sql}`;
    expect(await faultsOf(declared, name)).toEqual(isRight ? [] : [fault]);
  });

  test('names what is done, at the head, and the migration’s name ends in the newest release', async () => {
    const line = `-- Contracts: ${what}, for servers since 0.2.0`;
    expect(await faultsOf(`${line}\n${sql}`)).toEqual(['must end in _since_0_2_0']);
    expect(await faultsOf(`${sql};\n${line}`)).toHaveLength(1);
    expect(await faultsOf(`${line}\nSELECT 1`, '2028_next_since_0_2_0')).toEqual([
      'does what an older server may not bear, and gives no reason: SELECT',
      `declares what it does not do: ${what}`,
    ]);
    expect(await faultsOf('CREATE TABLE part (id int)', '2028_next_since_0_2_0')).toEqual([
      'takes nothing away, so its name must not end in _since_0_2_0',
    ]);
    const two = `-- Contracts: DROP COLUMN thing.name, for servers since 0.1.0\n${line}\n${sql}, DROP COLUMN name`;
    expect(await faultsOf(two, '2028_next_since_0_2_0')).toEqual([]);
    expect(await faultsOf(two, '2028_next_since_0_1_0')).toEqual(['must end in _since_0_2_0']);
  });
});

describe('what came out with a release', () => {
  test('stays as it is', async () => {
    const [first, second] = files;
    if (first === undefined || second === undefined) throw new Error('There are two.');
    expect(await migrationFaults([first, { ...second, sql: `${second.sql};` }], releases)).toEqual([
      '2027_second was changed after it came out',
    ]);
    expect(await migrationFaults([second], releases)).toEqual(['2026_base came out with a release and is gone']);
  });

  test('has none before it that did not', async () => {
    expect(await faultsOf('CREATE TABLE part (id int)', '2026_late')).toEqual([
      'comes before 2027_second, which came out without it',
    ]);
  });

  test('is judged by the releases before it, the first one by none', async () => {
    const own = { ...releases, '0.3.0': { '2028_x_since_0_2_0': '' } };
    const sql = '-- Contracts: DROP COLUMN thing.size, for servers since 0.2.0\nALTER TABLE thing DROP COLUMN size';
    const all = [...files, { name: '2028_x_since_0_2_0', sql }];
    expect(await migrationFaults(all, own)).toEqual(['2028_x_since_0_2_0 was changed after it came out']);
  });
});
