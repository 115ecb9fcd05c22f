import { readFile } from 'node:fs/promises';
import { brotliDecompressSync } from 'node:zlib';
import pg from 'pg';
import { createLogger } from '../../../src/observability/logger.ts';
import { migrate } from '../../../src/store/migrate.ts';
import type { RecordedDatabase } from '../../../tools/record-release/database.ts';
import { putRows } from '../../../tools/record-release/rows.ts';
import type { ProgramFolder } from '../api/program-folder.ts';
import { formerDatabaseFile, formerRelease } from '../cluster/released.ts';
import { createEmptyDatabase } from './postgres.ts';

/** The recorded database of the former release, as that release left it. */
export interface FormerDatabase extends RecordedDatabase {
  readonly url: string;
}

/** Loads it into a new database with the schema of that release. It goes with `resources`. */
export async function loadFormerDatabase(
  resources: AsyncDisposableStack,
  { migrations: directory }: ProgramFolder,
): Promise<FormerDatabase> {
  const recorded = await readRecorded();
  const database = await createEmptyDatabase();
  resources.defer(() => database.drop());
  await migrate({ url: database.url, logger: createLogger('silent'), directory, release: formerRelease });
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  await putRows(pool, recorded.rows);
  await pool.end();
  return { ...recorded, url: database.url };
}

async function readRecorded(): Promise<RecordedDatabase> {
  return JSON.parse(brotliDecompressSync(await readFile(formerDatabaseFile)).toString()) as RecordedDatabase;
}
