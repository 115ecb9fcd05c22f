import { expect, test } from '@jest/globals';
import { copyTestDatabase, createTestDatabase } from '../../support/database/postgres.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import { type TestServices, type World, createWorld, newRootKey, startServices } from '../../support/api/services.ts';

const rootKeys = newRootKey();

/** Writes values and returns, for each data key, the nonces under it. */
async function writtenNonces(services: TestServices, world: World): Promise<Map<string, string[]>> {
  const onEnvironment: World['onEnvironment'] = (caller, action) =>
    services.access.environment(caller, action, world.slugs);
  const calls = secretCalls(services, { ...world, onEnvironment }, world.developer.caller);
  for (let round = 0; round < 3; round += 1) {
    await calls.patch(Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`K${index}`, `value ${round}`])));
  }
  const versions = await services.database.prisma.secretVersion.findMany({
    select: { dataKeyId: true, ciphertext: true },
  });
  const nonces = new Map<string, string[]>();
  for (const { dataKeyId, ciphertext } of versions) {
    nonces.set(dataKeyId, [...(nonces.get(dataKeyId) ?? []), Buffer.from(ciphertext.subarray(1, 13)).toString('hex')]);
  }
  return nonces;
}

test('a database that was restored and the one that went on never use one nonce twice under their common key', async () => {
  const original = await createTestDatabase();
  const first = await startServices(original.url, { rootKeys });
  const world = await createWorld(first);
  // Makes the data key that both have in common.
  await secretCalls(first, world, world.developer.caller).put('BEFORE', 'value');
  const before = await first.database.prisma.secretVersion.count();
  await first.close();
  const restored = await copyTestDatabase(original);
  const nonces: Map<string, string[]>[] = [];
  for (const { url } of [original, restored]) {
    const services = await startServices(url, { rootKeys });
    nonces.push(await writtenNonces(services, world));
    await services.close();
  }
  const [[dataKeyId = '', one = []] = []] = nonces[0] ?? [];
  const other = nonces[1]?.get(dataKeyId) ?? [];
  expect([one.length, other.length]).toEqual([60 + before, 60 + before]);
  // What was there before is in both.
  expect(new Set([...one, ...other]).size).toBe(120 + before);
  await restored.drop();
  await original.drop();
});
