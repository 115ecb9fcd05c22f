import { describe, expect, test } from '@jest/globals';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { createUser, type TestServices, type TestUser } from '../../support/api/services.ts';
import { userCalls } from '../../support/api/user-calls.ts';
import { withServices } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let database: TestDatabase;
let services: TestServices;

withServices((given) => ({ database, services } = given));

describe('the last instance admin', () => {
  /** Leaves two admins who are not disabled. */
  async function twoAdmins(): Promise<readonly [TestUser, TestUser]> {
    const two = [
      await createUser(services, { instanceAdmin: true }),
      await createUser(services, { instanceAdmin: true }),
    ] as const;
    const prisma = prismaOf(services.database);
    await prisma.user.updateMany({ where: { id: { notIn: two.map(({ id }) => id) } }, data: { instanceAdmin: false } });
    return two;
  }

  const fault = { code: 'conflict', detail: expect.stringContaining('make another user one first') };

  test('is neither demoted nor disabled, but goes when there is another', async () => {
    const [one, two] = await twoAdmins();
    await userCalls(services, one.caller).update(two.id, { instanceAdmin: false });
    for (const changes of [{ instanceAdmin: false }, { disabled: true }]) {
      await expect(userCalls(services, one.caller).update(one.id, changes)).rejects.toMatchObject(fault);
    }
    await userCalls(services, one.caller).update(two.id, { instanceAdmin: true });
    await userCalls(services, one.caller).update(one.id, { disabled: true });
    await expect(userCalls(services, two.caller).update(two.id, { instanceAdmin: false })).rejects.toMatchObject(fault);
    expect(
      await userCalls(services, two.caller).update(one.id, { disabled: false, instanceAdmin: false }),
    ).toMatchObject({
      disabledAt: null,
      instanceAdmin: false,
    });
  });

  test.each([
    ['demote each other', { instanceAdmin: false }, 'other'],
    ['disable each other', { disabled: true }, 'other'],
    ['demote themselves', { instanceAdmin: false }, 'self'],
    ['disable themselves', { disabled: true }, 'self'],
  ] as const)('stays when two %s at the same time', async (_name, changes, whom) => {
    const [one, two] = await twoAdmins();
    const session = await LockSession.begin(database.url);
    // Both are let in, and wait with what they know.
    await session.run('SELECT FROM app_user WHERE id = ANY($1::uuid[]) FOR UPDATE', [[one.id, two.id]]);
    const attempts = Promise.allSettled([
      userCalls(services, one.caller).update(whom === 'other' ? two.id : one.id, changes),
      userCalls(services, two.caller).update(whom === 'other' ? one.id : two.id, changes),
    ]);
    await session.waitForBlocked(2);
    await session.commit();
    expect((await attempts).map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const left = await prismaOf(services.database).user.count({ where: { instanceAdmin: true, disabledAt: null } });
    expect(left).toBe(1);
  });
});
