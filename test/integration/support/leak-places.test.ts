import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { findProcess } from '../../../tools/process-identity.ts';
import type { ProblemRecord } from '../../support/api/api-client.ts';
import { Canary } from '../../support/fixtures/canary.ts';
import { CapturedProcess } from '../../support/faults/captured-process.ts';
import {
  databaseBytes,
  databaseRows,
  metricsText,
  problemAnswers,
  processOutput,
} from '../../support/fixtures/leak-places.ts';
import { findLeaks } from '../../support/fixtures/leak-search.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

const canary = new Canary();
const base64 = Buffer.from(`x${canary.value}`).toString('base64');
const processes: CapturedProcess[] = [];
const problems: ProblemRecord = [];
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(async () => {
  await database.drop();
});

const places = () => [
  processOutput(() => processes),
  problemAnswers(problems),
  metricsText(() => []),
  databaseRows(database.url),
  databaseBytes(database.url),
];

describe('each place', () => {
  test('is clean before anything was planted', async () => {
    expect(await findLeaks(canary, places())).toEqual([]);
  });

  test.each(['process output', 'problem answers', 'metrics', 'database rows', 'database bytes'])(
    '«%s» shows what was planted there, plain or encoded, and nothing any more after its removal',
    async (name) => {
      const all = places();
      const place = all.find((candidate) => candidate.name === name);
      expect(place).toBeDefined();
      for (const text of [`leaked: ${canary.value}.`, `leaked: ${base64}.`]) {
        const remove = await place?.plant(text);
        // Another place may see the same leak in another form, such as bytes in the rows as text.
        expect((await findLeaks(canary, all)).map((leak) => leak.place)).toContain(name);
        expect(await findLeaks(new Canary(), all)).toEqual([]);
        await remove?.();
        expect(await findLeaks(canary, all)).toEqual([]);
      }
    },
  );
});

describe('the database', () => {
  test('is searched in all its tables and schemas, whatever their names and types', async () => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const search = async () =>
      (await findLeaks(canary, [databaseRows(database.url), databaseBytes(database.url)])).map(({ piece }) => piece);
    await client.query(
      'CREATE SCHEMA "Odd schema"; CREATE TABLE "Odd schema"."Odd ""table" (id int, "Odd column" bytea, tags text[], doc jsonb)',
    );
    const insert = 'INSERT INTO "Odd schema"."Odd ""table" VALUES (1, $1, $2, $3)';
    await client.query(insert, [Buffer.from(base64), [], '{}']);
    expect(await search()).toEqual(['"Odd schema"."Odd ""table"."Odd column"']);
    await client.query('DELETE FROM "Odd schema"."Odd ""table"');
    await client.query(insert, [null, ['other', canary.value], '{}']);
    expect(await search()).toEqual(['"Odd schema"."Odd ""table"']);
    await client.query('DELETE FROM "Odd schema"."Odd ""table"');
    await client.query(insert, [null, [], JSON.stringify({ a: [{ b: canary.value }] })]);
    expect(await search()).toEqual(['"Odd schema"."Odd ""table"']);
    await client.query('DROP SCHEMA "Odd schema" CASCADE');
    await client.end();
  });
});

describe('a captured process', () => {
  const started: CapturedProcess[] = [];
  const start = (script: string): CapturedProcess => {
    const env = { GIVEN: 'yes' };
    const captured = new CapturedProcess({ name: 'script', program: process.execPath, args: ['-e', script], env });
    started.push(captured);
    return captured;
  };

  afterEach(async () => {
    await Promise.all(started.splice(0).map((captured) => captured.end('SIGKILL')));
  });

  test('gives all of its output and its end', async () => {
    const captured = start(
      "console.log('out', process.env.GIVEN, Object.keys(process.env).length); console.error('err'); process.exitCode = 3",
    );
    expect(await captured.ended).toEqual({ code: 3, signal: null });
    expect(captured.output.toString()).toBe('out yes 1\nerr\n');
  });

  test('ends by the signal it is sent, even while it is suspended', async () => {
    const captured = start(
      "process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1000); console.log('up')",
    );
    await waitFor('it is up', () => captured.output.length > 0);
    captured.signal('SIGSTOP');
    expect(await captured.end()).toEqual({ code: 7, signal: null });
    expect(captured.isRunning).toBe(false);
  });

  test('is killed if it does not end by the signal in time', async () => {
    const captured = start("process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('up')");
    await waitFor('it is up', () => captured.output.length > 0);
    expect(await captured.end('SIGTERM', 100)).toEqual({ code: null, signal: 'SIGKILL' });
  });

  test('does not outlive the process that started it, even if that is killed by force', async () => {
    const module = new URL('../../support/faults/captured-process.ts', import.meta.url).href;
    const starter = start(`import(${JSON.stringify(module)}).then(async ({ CapturedProcess }) => {
      const script = 'console.log(process.pid); setInterval(() => {}, 1000)';
      const inner = new CapturedProcess({ name: 'inner', program: process.execPath, args: ['-e', script] });
      while (inner.output.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
      console.log(inner.output.toString());
    })`);
    await waitFor('the inner process runs', () => starter.output.includes('\n'));
    const inner = Number(starter.output.toString());
    expect(findProcess(inner)).toBeDefined();
    await starter.end('SIGKILL');
    await waitFor('the inner process has ended', () => findProcess(inner) === undefined);
  });

  test('that cannot be started has ended', async () => {
    const captured = new CapturedProcess({ name: 'missing', program: '/nonexistent', args: [] });
    expect(await captured.ended).toEqual({ code: null, signal: null });
  });
});
