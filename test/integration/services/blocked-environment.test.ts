import { expect, test } from '@jest/globals';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import { createWorld, type TestServices } from '../../support/api/services.ts';
import { withServices } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let database: TestDatabase;
let services: TestServices;

withServices((given) => ({ database, services } = given));

test('a locked environment holds up no other change, and those that wait for it end as overloaded', async () => {
  const stuck = await createWorld(services);
  const other = await createWorld(services);
  const token = await other.serviceToken();
  // So that no first use of a data key is measured below.
  await secretCalls(services, other, other.owner.caller).put('FIRST', 'one');
  const session = await LockSession.begin(database.url);
  await session.run('SELECT FROM environment WHERE id = $1 FOR UPDATE', [stuck.environment.id]);
  const writing = secretCalls(services, stuck, stuck.developer.caller);
  let ended = 0;
  const writes = Promise.allSettled(
    Array.from({ length: 12 }, (_, index) => writing.put(`KEY_${index}`, 'late').finally(() => (ended += 1))),
  );
  await session.waitForBlocked(2);

  const revoking = await other.onOrganization(other.owner.caller, 'service_token.revoke');
  await services.serviceTokens.revoke(revoking, token.id);
  const written = await secretCalls(services, other, other.owner.caller).put('KEY', 'one');
  expect({ ended, version: written.version }).toEqual({ ended: 0, version: 1 });

  const detail = expect.stringMatching(/^(?!.*cannot be reached).*try again$/);
  const overloaded = { status: 'rejected', reason: { code: 'overloaded', detail } };
  expect(await writes).toMatchObject(Array.from({ length: 12 }, () => overloaded));
  await session.commit();
  const environmentId = stuck.environment.id;
  expect(await prismaOf(services.database).environmentRevision.count({ where: { environmentId } })).toBe(0);
  // And it takes writes again.
  expect(await writing.put('KEY', 'one')).toMatchObject({ version: 1, revision: 1 });
});
