import { beforeEach, expect, test } from '@jest/globals';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { TokenResource } from '../../support/api/token-resource.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;
let own: TokenResource;

withWorlds((given) => ({ database, services, world } = given));

beforeEach(() => {
  own = new TokenResource(services, world);
});

function done<T>(settled: readonly PromiseSettledResult<T>[]): T[] {
  return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
}

test('controllers that mint the same serial at once make one token and one credential, and one secret becomes live', async () => {
  const minted = done(await Promise.allSettled(Array.from({ length: 6 }, () => own.mint())));
  expect(new Set(minted.map(({ tokenId }) => tokenId)).size).toBe(1);
  await Promise.allSettled(minted.map((one) => own.activate(one)));
  const live = await Promise.all(minted.map((one) => own.opens(one)));
  expect(live.filter((answer) => answer === 'opens')).toHaveLength(1);
  expect((await own.find())?.credentials).toMatchObject([{ serial: 1, state: 'active' }]);
  const where = { uid: own.caller.principal.id };
  expect(await prismaOf(services.database).resourceClaim.count({ where })).toBe(1);
  const tokens = { where: { createdById: own.caller.principal.id } };
  expect(await prismaOf(services.database).serviceToken.count(tokens)).toBe(1);
});

test('of a mint and an activation of the same serial at once one wins, and the loser opens nothing', async () => {
  const first = await own.mint();
  const [activation, again] = await Promise.allSettled([own.activate(first), own.mint()]);
  const [wins, loses] = [activation, again].toSorted((one) => (one.status === 'fulfilled' ? -1 : 1));
  expect(wins?.status).toBe('fulfilled');
  expect(loses).toMatchObject({ status: 'rejected', reason: { code: 'conflict' } });
  expect(await own.opens(first)).toBe(activation.status === 'fulfilled' ? 'opens' : 'unknown');
});

test('a mint that is held up until the resource is gone makes nothing', async () => {
  const lock = await LockSession.begin(database.url);
  const { cluster, id } = own.caller.principal;
  await lock.run(
    `INSERT INTO resource_claim (cluster, uid, operation, serial, kind, name)
     VALUES ($1, $2, 'token_end', 1, 'ServiceToken', 'x')`,
    [cluster, id],
  );
  await lock.commit();
  await expect(own.mint()).rejects.toMatchObject({ code: 'conflict' });
  expect(await own.find()).toBeUndefined();
});

test('a first mint that is under way when the resource goes is waited for, and revoked', async () => {
  const lock = await LockSession.begin(database.url);
  await lock.run('SELECT FROM project WHERE id = $1 FOR UPDATE', [world.project.id]);
  const minting = own.mint();
  await lock.waitForBlocked(1);
  const revoking = own.revoke();
  await lock.waitForBlocked(2);
  await lock.commit();
  const minted = await minting;
  await revoking;
  await expect(own.activate(minted)).rejects.toMatchObject({ code: 'conflict' });
  expect(await own.opens(minted)).not.toBe('opens');
});

test('a revocation and a mint at once leave nothing that opens', async () => {
  for (const serial of [1, 2]) {
    if (serial === 2) own = new TokenResource(services, world);
    if (serial === 2) await own.activate(await own.mint());
    const [minted] = await Promise.allSettled([own.mint({ serial: serial }), own.revoke()]);
    const secrets = done([minted]);
    const activations = await Promise.allSettled(secrets.map((one) => own.activate(one)));
    expect(activations.map(({ status }) => status)).toEqual(secrets.map(() => 'rejected'));
    expect(await Promise.all(secrets.map((one) => own.opens(one)))).not.toContain('opens');
    const left = await own.find();
    expect(left === undefined || left.revokedAt !== null).toBe(true);
    await expect(own.mint({ serial: serial + 1 })).rejects.toMatchObject({ code: 'conflict' });
  }
});
