import { describe, expect, test } from '@jest/globals';
import type { NameHolder } from '../../../src/domain/clusters.ts';
import { listServedClusters } from '../../../src/store/served-clusters.ts';
import { withServices } from '../../support/api/with-services.ts';
import type { TestServices } from '../../support/api/services.ts';

const program = { release: '1.2.3', protocol: { min: 1, max: 1 }, kinds: ['SecretSync'] };
let services: TestServices;

withServices((given) => ({ services } = given));

/** Says hello as a controller that leads. Returns who has the name. */
async function claim(name: string, uid: string): Promise<NameHolder | 'ours'> {
  return (await services.clusters.hello(name, { uid, isLeading: true, ...program })).holder ?? 'ours';
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
    (await services.clusters.hello(name, { uid, isLeading: false, ...program })).holder;

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
  const { now } = await services.clusters.hello('timed', { uid: 'one', isLeading, ...program });
  expect(now.getTime()).toBeGreaterThanOrEqual(before - 1000);
  expect(now.getTime()).toBeLessThanOrEqual(Date.now() + 1000);
});

test.each([true, false])('an answer has the state of the cluster (leading: %s)', async (isLeading) => {
  const name = `stated-${isLeading}`;
  const stateOf = async (): Promise<string> =>
    (await services.clusters.hello(name, { uid: 'one', isLeading, ...program })).state;
  expect(await stateOf()).toBe('enabled');
  const { pool } = services.database;
  await pool.query('INSERT INTO served_cluster (name, disabled_at) VALUES ($1, now())', [name]);
  expect(await stateOf()).toBe('disabled');
  await pool.query('UPDATE served_cluster SET forgotten_at = now() WHERE name = $1', [name]);
  expect(await stateOf()).toBe('forgotten');
});

describe('what a leader says of itself', () => {
  const controllerOf = async (name: string): Promise<unknown> =>
    (await listServedClusters(services.database.pool)).find((cluster) => cluster.name === name)?.controller;

  test('is kept with each hello, and a standby changes nothing of it', async () => {
    await claim('said', 'one');
    expect(await controllerOf('said')).toEqual(program);
    const next = { release: '1.3.0', protocol: { min: 1, max: 2 }, kinds: ['SecretSync', 'ServiceToken'] };
    await services.clusters.hello('said', { uid: 'one', isLeading: false, ...next });
    expect(await controllerOf('said')).toEqual(program);
    await services.clusters.hello('said', { uid: 'one', isLeading: true, ...next });
    expect(await controllerOf('said')).toEqual(next);
  });

  test('does not count after a server of release 0.9 has renewed the name', async () => {
    await claim('older', 'one');
    // The statement of that release.
    const claimOfOlder = `INSERT INTO cluster (name, uid, seen_at) VALUES ($1, $2, clock_timestamp() + interval '1 second')
      ON CONFLICT (name) DO UPDATE SET uid = excluded.uid, seen_at = excluded.seen_at`;
    await services.database.pool.query(claimOfOlder, ['older', 'one']);
    expect(await controllerOf('older')).toBeNull();
    await services.database.pool.query(claimOfOlder, ['only-older', 'one']);
    expect(await controllerOf('only-older')).toBeNull();
    await claim('older', 'one');
    expect(await controllerOf('older')).toEqual(program);
  });

  test('is kept for no cluster whose name another one has', async () => {
    await claim('theirs', 'one');
    await services.clusters.hello('theirs', { uid: 'two', isLeading: true, ...program, release: '9.9.9' });
    expect(await controllerOf('theirs')).toEqual(program);
  });
});

test.each([true, false])('a protocol that the server does not know is refused (leading: %s)', async (isLeading) => {
  const name = `newer-${isLeading}`;
  const newer = { ...program, protocol: { min: 1000, max: 1001 } };
  const refused = services.clusters.hello(name, { uid: 'one', isLeading, ...newer });
  await expect(refused).rejects.toMatchObject({ code: 'protocol_unsupported' });
  expect(await claim(name, 'two')).toBe('ours');
});

test('a hello that no controller says is refused', async () => {
  const refused = services.clusters.hello('odd', { uid: 'one', isLeading: true, ...program, release: '1.0\u001B[2J' });
  await expect(refused).rejects.toMatchObject({ code: 'invalid_input' });
});
