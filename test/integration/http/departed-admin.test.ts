import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { CreatedLinkView } from '../../../src/wire/sign-in-links.ts';
import { expectProblem, type HttpClient } from '../../support/api/http.ts';
import { redeem, signInWith } from '../../support/api/link-browser.ts';
import { createUser, createWorld, type TestUser } from '../../support/api/services.ts';
import { TestAuthenticator } from '../../support/passkeys/authenticator.ts';
import { passkeyOrigin, PasskeySite } from '../../support/passkeys/site.ts';

/** What an instance admin set up for other users, once they are disabled or are no instance admin any more. */

let site: PasskeySite;
let admin: TestUser;
let asAdmin: HttpClient;
let departed: TestUser;
let asDeparted: HttpClient;

beforeAll(async () => {
  site = await PasskeySite.start();
  admin = await createUser(site.first.services, { instanceAdmin: true });
  asAdmin = site.first.client(admin.token);
});
afterAll(() => site.close());
beforeEach(async () => {
  departed = await createUser(site.first.services, { instanceAdmin: true });
  asDeparted = site.first.client(departed.token);
});

type Sender = Pick<HttpClient, 'expectStatus'>;

async function tokenFor(id: string, by: Sender = asDeparted): Promise<HttpClient> {
  const path = `/users/${id}/personal-tokens`;
  const made = await by.expectStatus<{ token: string }>(201, 'POST', path, { name: 'first' });
  return site.first.client({ reveal: () => made.token });
}

async function linkFor(id: string, by: Sender): Promise<string> {
  return (await by.expectStatus<CreatedLinkView>(201, 'POST', `/users/${id}/sign-in-links`)).link;
}

const changes = [
  ['disabled', { disabled: true }],
  ['demoted', { instanceAdmin: false }],
] as const;

test.each(changes)('one who is %s has no way to sign in as another instance admin', async (_how, change) => {
  const token = await tokenFor(admin.id);
  const { link } = await asDeparted.expectStatus<CreatedLinkView>(201, 'POST', `/users/${admin.id}/sign-in-links`);
  const session = await signInWith(site.first, link);
  const authenticator = new TestAuthenticator(passkeyOrigin);
  expect((await site.register(session, authenticator)).status).toBe(201);

  await asAdmin.expectStatus(200, 'PATCH', `/users/${departed.id}`, change);
  for (const ended of [token, session]) await ended.expectStatus(401, 'GET', '/me');
  expect((await site.signIn(authenticator)).status).toBe(401);
  await asAdmin.expectStatus(200, 'GET', '/me');
  const sql = `SELECT action, actor_id AS actor, target->>'createdById' AS creator FROM audit_entry
    WHERE target->>'userId' = $1 AND target->>'createdById' = $2 AND target ? 'createdByEmail' AND organization_id IS NULL
      AND action IN ('session.end', 'passkey.remove', 'personal_token.revoke') ORDER BY id`;
  const by = { actor: admin.id, creator: departed.id };
  expect(await site.sql(sql, admin.id, departed.id)).toEqual([
    { action: 'session.end', ...by },
    { action: 'passkey.remove', ...by },
    { action: 'personal_token.revoke', ...by },
  ]);
});

test.each(changes)('the tokens of users who are no instance admins stay of one who is %s', async (_how, change) => {
  const { user } = await site.newcomer();
  const token = await tokenFor(user.id);
  await asAdmin.expectStatus(200, 'PATCH', `/users/${departed.id}`, change);
  await token.expectStatus(200, 'GET', '/me');
});

test('the credential of the request stays, although it goes back to the user whom it disables', async () => {
  const other = await createUser(site.first.services, { instanceAdmin: true });
  const token = await tokenFor(other.id);
  const second = await tokenFor(other.id);
  await token.expectStatus(200, 'PATCH', `/users/${departed.id}`, { disabled: true });
  await token.expectStatus(200, 'GET', '/users');
  await second.expectStatus(401, 'GET', '/me');
});

test('so does the session of the request, and the passkey that it began with', async () => {
  const other = await createUser(site.first.services, { instanceAdmin: true });
  const { link } = await asDeparted.expectStatus<CreatedLinkView>(201, 'POST', `/users/${other.id}/sign-in-links`);
  const ofLink = await signInWith(site.first, link);
  const authenticator = new TestAuthenticator(passkeyOrigin);
  expect((await site.register(ofLink, authenticator)).status).toBe(201);
  const session = site.sessionOf(await site.signIn(authenticator));
  await session.expectStatus(200, 'PATCH', `/users/${departed.id}`, { disabled: true });
  await session.expectStatus(200, 'GET', '/users');
  await ofLink.expectStatus(401, 'GET', '/me');
  expect((await site.signIn(authenticator)).status).toBe(201);
});

test.each(changes)(
  'the session of a link ends of one who is %s, and what its user set up stays',
  async (_how, change) => {
    const { user } = await site.newcomer();
    const session = await signInWith(site.first, await linkFor(user.id, asDeparted));
    const authenticator = new TestAuthenticator(passkeyOrigin);
    expect((await site.register(session, authenticator)).status).toBe(201);
    const ofOther = await signInWith(site.first, await linkFor(user.id, asAdmin));
    await asAdmin.expectStatus(200, 'PATCH', `/users/${departed.id}`, change);
    await session.expectStatus(401, 'GET', '/me');
    await ofOther.expectStatus(200, 'GET', '/me');
    expect((await site.signIn(authenticator)).status).toBe(201);
    const sql = `SELECT actor_id AS actor, target->>'createdById' AS creator FROM audit_entry
    WHERE action = 'session.end' AND target->>'userId' = $1 AND organization_id IS NULL`;
    expect(await site.sql(sql, user.id)).toEqual([{ actor: admin.id, creator: departed.id }]);
  },
);

test('a link that is used at the same moment begins no session that stays', async () => {
  const { user } = await site.newcomer();
  const path = `/users/${departed.id}`;
  for (let round = 0; round < 8; round += 1) {
    await asAdmin.expectStatus(200, 'PATCH', path, { instanceAdmin: true });
    const links = [await linkFor(admin.id, asDeparted), await linkFor(user.id, asDeparted)];
    const [left, ...answers] = await Promise.all([
      asAdmin.send('PATCH', path, { instanceAdmin: false }),
      ...links.map((link) => redeem(site.second, link)),
      // Ends sessions of the same users.
      site.first.client(user.token).send('DELETE', '/sessions'),
    ]);
    expect(left.status).toBe(200);
    for (const answer of answers) expect([201, 204, 401]).toContain(answer.status);
    const open = await site.sql(
      `SELECT s.id FROM session s JOIN sign_in_link l ON l.id = s.sign_in_link_id WHERE l.created_by = $1 AND s.ended_at IS NULL`,
      departed.id,
    );
    expect(open).toEqual([]);
  }
});

describe('what one who departs set up as another instance admin', () => {
  test('ends as well: tokens, sessions and unused links', async () => {
    const { kept, earlier } = await threeAdmins();
    const token = await tokenFor(kept.last.id, kept.asMiddle);
    const used = await signInWith(site.first, await linkFor(kept.last.id, kept.asMiddle));
    const newcomer = await createUser(site.first.services);
    const unused = await linkFor(newcomer.id, kept.asMiddle);
    await asAdmin.expectStatus(200, 'PATCH', `/users/${departed.id}`, { instanceAdmin: false });
    for (const ended of [kept.asMiddle, token, used]) await ended.expectStatus(401, 'GET', '/me');
    await expectProblem(redeem(site.first, unused), 'unauthenticated');
    // The departed could not act as the other instance admin then.
    await earlier.expectStatus(200, 'GET', '/me');
  });

  test('not what others set up since, if the change is repeated', async () => {
    const { kept } = await threeAdmins();
    await asAdmin.expectStatus(200, 'PATCH', `/users/${departed.id}`, { instanceAdmin: false });
    const asMiddle = await signInWith(site.first, await linkFor(kept.middleId, asAdmin));
    const asLast = await signInWith(site.first, await linkFor(kept.last.id, asMiddle));
    await asAdmin.expectStatus(200, 'PATCH', `/users/${departed.id}`, { disabled: true });
    for (const stays of [asMiddle, asLast]) await stays.expectStatus(200, 'GET', '/users');
  });
});

test('what one who departs created as the caller ends, and not what the caller creates since', async () => {
  const caller = await createUser(site.first.services, { instanceAdmin: true });
  const last = await createUser(site.first.services, { instanceAdmin: true });
  const asCaller = await tokenFor(caller.id);
  const ofLast = await tokenFor(last.id, asCaller);
  await asCaller.expectStatus(200, 'PATCH', `/users/${departed.id}`, { instanceAdmin: false });
  await asCaller.expectStatus(200, 'GET', '/users');
  await ofLast.expectStatus(401, 'GET', '/me');
  const again = await signInWith(site.first, await linkFor(last.id, site.first.client(caller.token)));
  await site.first.client(caller.token).expectStatus(200, 'PATCH', `/users/${departed.id}`, { disabled: true });
  await asCaller.expectStatus(401, 'GET', '/me');
  await again.expectStatus(200, 'GET', '/users');
});

/** An instance admin as whom the departed can act, and another one with an earlier token of that one. */
async function threeAdmins(): Promise<{
  kept: { middleId: string; asMiddle: HttpClient; last: TestUser };
  earlier: HttpClient;
}> {
  const middle = await createUser(site.first.services, { instanceAdmin: true });
  const last = await createUser(site.first.services, { instanceAdmin: true });
  const earlier = await tokenFor(last.id, site.first.client(middle.token));
  const asMiddle = await tokenFor(middle.id);
  return { kept: { middleId: middle.id, asMiddle, last }, earlier };
}

test('one who steps down ends nothing of the others', async () => {
  const other = await createUser(site.first.services, { instanceAdmin: true });
  const token = await tokenFor(other.id);
  await asDeparted.expectStatus(200, 'PATCH', `/users/${departed.id}`, { instanceAdmin: false });
  await token.expectStatus(200, 'GET', '/users');
  // Being disabled later ends it, by a token that does not go back to them.
  await asAdmin.expectStatus(200, 'PATCH', `/users/${departed.id}`, { disabled: true });
  await token.expectStatus(401, 'GET', '/users');
});

test('one who stepped down gives no user more rights as another instance admin, also not themselves', async () => {
  const other = await createUser(site.first.services, { instanceAdmin: true });
  const kept = await tokenFor(other.id);
  await asDeparted.expectStatus(200, 'PATCH', `/users/${departed.id}`, { instanceAdmin: false });
  const disabled = await createUser(site.first.services);
  const world = await createWorld(site.first.services);
  for (const [id, force] of [
    [disabled.id, false],
    [world.owner.id, true],
  ] as const) {
    await asAdmin.expectStatus(200, 'PATCH', `/users/${id}`, { disabled: true, force });
  }
  const raises = [
    ['PATCH', `/users/${departed.id}`, { instanceAdmin: true }],
    ['PATCH', `/users/${disabled.id}`, { disabled: false }],
    ['PUT', `/organizations/${world.slugs.organization}/owner`, { user: departed.email }],
  ] as const;
  for (const [method, path, body] of raises) {
    const { detail } = await expectProblem(kept.send(method, path, body), 'forbidden');
    expect(detail).toContain(`goes back to ${departed.email}, who is no instance admin`);
  }
  // What gives no access stays possible, and the other instance admin does all of it with an own token.
  await kept.expectStatus(200, 'PATCH', `/users/${departed.id}`, { displayName: 'Former', instanceAdmin: false });
  const asOther = site.first.client(other.token);
  for (const [method, path, body] of raises) expect((await asOther.send(method, path, body)).status).toBeLessThan(300);
});
