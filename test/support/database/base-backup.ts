import { execFileSync } from 'node:child_process';
import { chownSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { postgresHome } from '../../../tools/devcluster/postgres/home.ts';

/** The server to copy: an address of its superuser, and its folder of data. */
export interface BackedUpServer {
  readonly url: string;
  readonly data: string;
}

/**
 * Copies the data of a running server to a folder that does not exist yet, by the server's own functions for that. A
 * server that starts on the copy and finds `signal` there recovers from it: `standby.signal` makes it a standby.
 */
export async function copyRunning(
  { url, data }: BackedUpServer,
  to: string,
  signal: 'recovery.signal' | 'standby.signal',
): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`SELECT pg_backup_start('of a test', true)`);
    execFileSync('cp', ['-a', data, to]);
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    // What was written while the files were copied is in the log alone.
    rmSync(join(to, 'pg_wal'), { recursive: true });
    execFileSync('cp', ['-a', join(data, 'pg_wal'), to]);
    writeOwn(join(to, 'backup_label'), rows[0]?.labelfile ?? '');
    writeOwn(join(to, signal), '');
    rmSync(join(to, 'postmaster.pid'), { force: true });
  } finally {
    await client.end();
  }
}

/** Writes a file as the server's own. */
function writeOwn(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 });
  const { account } = postgresHome();
  if (account !== undefined) chownSync(path, account.uid, account.gid);
}
