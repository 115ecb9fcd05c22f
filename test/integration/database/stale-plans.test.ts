import { describe, expect, test } from '@jest/globals';
import { type Database, queryRows } from '../../../src/store/database.ts';
import { inTransaction } from '../../../src/store/transaction.ts';
import { withProxiedDatabase } from '../../support/database/proxied-database.ts';
import { type PostgresProxy, runs } from '../../support/faults/postgres-proxy.ts';

/** Statements that the connections of a running server have prepared, and that a migration has made useless. */

const text = 'SELECT display_name FROM organization';
const alter = 'ALTER TABLE organization ALTER display_name TYPE varchar(999)';
let proxy: PostgresProxy;
let database: Database;

// Two connections for reads and two for transactions.
withProxiedDatabase((given) => ({ proxy, database } = given));

const startups = (): number => proxy.count(({ type }) => type === 'Startup');

/** Runs the read on both connections of its pool at once: the first waits on its way while the second is sent. */
async function onBoth(read: () => Promise<unknown>): Promise<unknown[]> {
  const hold = proxy.hold(runs(/display_name FROM organization/));
  const first = read();
  await hold.arrived();
  const second = await read();
  hold.release();
  return [await first, second];
}

const reads: [string, () => Promise<unknown>][] = [
  ['reads', () => queryRows(database.pool, { name: 'test-names', text }, [])],
  ['transactions', () => inTransaction(database, (tx) => tx.rows`SELECT display_name FROM organization`)],
];

describe.each(reads)('stale preparations of %s', (_name, read) => {
  test('fail nothing, whichever connection they are on, and those connections are given up', async () => {
    expect(await onBoth(read)).toEqual([[], []]);
    await queryRows(database.pool, { name: 'test-alter', text: alter }, []);
    const before = startups();
    // Both are idle: what is tried again meets the other one, which is as stale.
    expect(await read()).toEqual([]);
    expect(await onBoth(read)).toEqual([[], []]);
    expect(startups()).toBeGreaterThan(before);
    // What took their place is prepared again, once.
    const parses = (): number => proxy.count(({ type, sql }) => type === 'Parse' && sql === text);
    await onBoth(read);
    const prepared = parses();
    await onBoth(read);
    expect(parses()).toBe(prepared);
  });
});

test('what the database does not support is reported, after two tries', async () => {
  const locked = { name: 'test-unsupported', text: 'SELECT count(*)::int FROM organization FOR UPDATE' };
  await expect(queryRows(database.pool, locked, [])).rejects.toMatchObject({ code: '0A000' });
  expect(proxy.count(({ type, sql }) => (type === 'Parse' || type === 'Query') && sql === locked.text)).toBe(2);
});
