import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { startPostgres } from '../../tools/devcluster/postgres/server.ts';
import { compare, throughput } from './rounds.ts';

const rounds = 5;
/** Commits of one round, by how many writers commit at once: about a second each. */
const sizes = [
  [1, 300],
  [8, 1_500],
  [32, 3_000],
] as const;
// As that of a new revision.
const payload = JSON.stringify({ o: randomUUID(), e: randomUUID(), r: randomUUID() });

/**
 * How many transactions a second can notify: each inserts a row, and the floor does that without NOTIFY. PostgreSQL commits
 * those that notify one after the other.
 */
export async function notify(): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const postgres = await startPostgres({});
  resources.defer(() => postgres.stop());
  const listener = new pg.Client({ connectionString: postgres.urlOf('postgres') });
  await listener.connect();
  resources.defer(() => listener.end());
  await listener.query('CREATE TABLE written (id bigserial PRIMARY KEY, value text NOT NULL)');
  await listener.query('LISTEN keyframe');
  const pool = new pg.Pool({ connectionString: postgres.urlOf('postgres'), max: 32 });
  // At the end, a session may outlive its pool.
  pool.on('error', () => {});
  resources.defer(() => pool.end());
  const insert = { name: 'insert', text: 'INSERT INTO written (value) VALUES ($1)', values: [payload] };
  const insertAndNotify = {
    name: 'notify',
    text: `WITH inserted AS (INSERT INTO written (value) VALUES ($1)) SELECT pg_notify('keyframe', $1)`,
    values: [payload],
  };
  console.log(`\nCommits with a notification of ${payload.length} bytes, beside those without (${rounds} rounds)`);
  for (const [atOnce, commits] of sizes) {
    await compare({
      title: `${atOnce} at once`,
      rounds,
      unit: '/s',
      floor: () => throughput(commits, atOnce, () => pool.query(insert)),
      keyframe: () => throughput(commits, atOnce, () => pool.query(insertAndNotify)),
    });
  }
}
