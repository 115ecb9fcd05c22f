import { describe, expect, test } from '@jest/globals';
import type { NameHolder } from '../../../src/domain/clusters.ts';
import { withServices } from '../../support/api/with-services.ts';
import type { TestServices } from '../../support/api/services.ts';

let services: TestServices;

withServices((given) => ({ services } = given));

/** Says hello as a controller that leads. Returns who has the name. */
async function claim(name: string, uid: string): Promise<NameHolder | 'ours'> {
  return (await services.clusters.hello(name, { uid, isLeading: true })).holder ?? 'ours';
}

async function age(name: string, interval: string): Promise<void> {
  const text = 'UPDATE cluster SET seen_at = clock_timestamp() - $2::interval WHERE name = $1';
  await services.database.pool.query(text, [name, interval]);
}

test('a cluster has its name as long as it is seen, and any number of names is free', async () => {
  expect(await claim('prod', 'one')).toBe('ours');
  expect(await claim('staging', 'two')).toBe('ours');
  await age('prod', '9 minutes');
  const refused = await claim('prod', 'two');
  expect(refused).toEqual({ heldBy: 'one', seenAt: expect.any(Date) });
  // A refusal does not renew the name of the other cluster.
  await age('prod', '10 minutes 1 second');
  expect(await claim('prod', 'two')).toBe('ours');
  expect(await claim('prod', 'one')).toMatchObject({ heldBy: 'two' });
});

test('each claim of its own cluster renews a name', async () => {
  await claim('own', 'one');
  await age('own', '20 minutes');
  expect(await claim('own', 'one')).toBe('ours');
  expect(await claim('own', 'two')).toMatchObject({ heldBy: 'one' });
});

test('of many clusters that claim a name at the same time one gets it', async () => {
  const uids = Array.from({ length: 20 }, (_, index) => `uid-${index}`);
  const answers = await Promise.all(uids.map((uid) => claim('contended', uid)));
  const winners = uids.filter((_uid, index) => answers[index] === 'ours');
  expect(winners).toHaveLength(1);
  const [winner] = winners;
  const holders = answers.flatMap((answer) => (answer === 'ours' ? [] : [answer.heldBy]));
  expect(new Set(holders)).toEqual(new Set([winner]));
});

describe('a standby controller', () => {
  const ask = async (name: string, uid: string): Promise<NameHolder | undefined> =>
    (await services.clusters.hello(name, { uid, isLeading: false })).holder;

  test('takes no name, and renews none', async () => {
    expect(await ask('standby', 'one')).toBeUndefined();
    expect(await claim('standby', 'two')).toBe('ours');
    await age('standby', '9 minutes');
    expect(await ask('standby', 'two')).toBeUndefined();
    await age('standby', '11 minutes');
    expect(await claim('standby', 'one')).toBe('ours');
  });

  test('learns who has its name', async () => {
    await claim('held', 'one');
    expect(await ask('held', 'two')).toEqual({ heldBy: 'one', seenAt: expect.any(Date) });
  });
});

test.each([true, false])('an answer has the time of the database (leading: %s)', async (isLeading) => {
  const before = Date.now();
  const { now } = await services.clusters.hello('timed', { uid: 'one', isLeading });
  expect(now.getTime()).toBeGreaterThanOrEqual(before - 1000);
  expect(now.getTime()).toBeLessThanOrEqual(Date.now() + 1000);
});

test.each([true, false])('an answer has the state of the cluster (leading: %s)', async (isLeading) => {
  const name = `stated-${isLeading}`;
  const stateOf = async (): Promise<string> => (await services.clusters.hello(name, { uid: 'one', isLeading })).state;
  expect(await stateOf()).toBe('enabled');
  const { pool } = services.database;
  await pool.query('INSERT INTO served_cluster (name, disabled_at) VALUES ($1, now())', [name]);
  expect(await stateOf()).toBe('disabled');
  await pool.query('UPDATE served_cluster SET forgotten_at = now() WHERE name = $1', [name]);
  expect(await stateOf()).toBe('forgotten');
});
