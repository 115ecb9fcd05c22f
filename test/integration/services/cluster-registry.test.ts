import { expect, test } from '@jest/globals';
import { withServices } from '../../support/api/with-services.ts';
import type { TestServices } from '../../support/api/services.ts';

let services: TestServices;

withServices((given) => ({ services } = given));

async function age(name: string, interval: string): Promise<void> {
  const text = 'UPDATE cluster SET seen_at = clock_timestamp() - $2::interval WHERE name = $1';
  await services.database.pool.query(text, [name, interval]);
}

test('a cluster has its name as long as it is seen, and any number of names is free', async () => {
  expect(await services.clusters.claim('prod', 'one')).toBe('ours');
  expect(await services.clusters.claim('staging', 'two')).toBe('ours');
  await age('prod', '9 minutes');
  const refused = await services.clusters.claim('prod', 'two');
  expect(refused).toEqual({ heldBy: 'one', seenAt: expect.any(Date) });
  // A refusal does not renew the name of the other cluster.
  await age('prod', '10 minutes 1 second');
  expect(await services.clusters.claim('prod', 'two')).toBe('ours');
  expect(await services.clusters.claim('prod', 'one')).toMatchObject({ heldBy: 'two' });
});

test('each claim of its own cluster renews a name', async () => {
  await services.clusters.claim('own', 'one');
  await age('own', '20 minutes');
  expect(await services.clusters.claim('own', 'one')).toBe('ours');
  expect(await services.clusters.claim('own', 'two')).toMatchObject({ heldBy: 'one' });
});

test('of many clusters that claim a name at the same time one gets it', async () => {
  const uids = Array.from({ length: 20 }, (_, index) => `uid-${index}`);
  const answers = await Promise.all(uids.map((uid) => services.clusters.claim('contended', uid)));
  const winners = uids.filter((_uid, index) => answers[index] === 'ours');
  expect(winners).toHaveLength(1);
  const [winner] = winners;
  const holders = answers.flatMap((answer) => (answer === 'ours' ? [] : [answer.heldBy]));
  expect(new Set(holders)).toEqual(new Set([winner]));
});
