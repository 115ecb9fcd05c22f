import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { createKeylessTokens, type NewKeylessToken } from '../../../src/store/keyless-tokens.ts';
import { deadlocksOf } from '../../support/database/deadlocks.ts';
import { createTestDatabase } from '../../support/database/postgres.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { StoreFixtures } from '../../support/database/store-fixtures.ts';

const rounds = 50;
const tokensOfRound = 20;

/** The same keyless tokens whenever it is called for a round, as two servers make them, but with other ids. */
function tokensOf(round: number, environmentId: string): NewKeylessToken[] {
  return Array.from({ length: tokensOfRound }, (_, index) => ({
    id: randomUUID(),
    name: 'test',
    cluster: 'test',
    namespace: `round-${round}-${index}`,
    environmentId,
    creator: { id: randomUUID(), name: 'test' },
    requestId: randomUUID(),
  }));
}

test('two servers that make the same tokens in opposite orders make no deadlock, and each token once', async () => {
  const server = await createTestDatabase();
  const databases = [openDatabase({ url: server.url }), openDatabase({ url: server.url })] as [Database, Database];
  const [one, other] = databases;
  const { environmentId } = await new StoreFixtures(one.pool).environment();
  const made = Array.from({ length: rounds }, (_, round) => [
    createKeylessTokens(one.pool, tokensOf(round, environmentId)),
    createKeylessTokens(other.pool, tokensOf(round, environmentId).toReversed()),
  ]);
  await Promise.all(made.flat());
  expect(await prismaOf(one).serviceToken.count({ where: { cluster: 'test' } })).toBe(rounds * tokensOfRound);
  expect(await deadlocksOf(one)).toBe(0);
  await Promise.all(databases.map((database) => database.close()));
  await server.drop();
});
