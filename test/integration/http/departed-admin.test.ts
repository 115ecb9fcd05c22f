import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { CreatedLinkView } from '../../../src/wire/sign-in-links.ts';
import { expectProblem, type HttpClient } from '../../support/api/http.ts';
import { signInWith } from '../../support/api/link-browser.ts';
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

async function tokenFor(id: string): Promise<HttpClient> {
  const path = `/users/${id}/personal-tokens`;
  const made = await asDeparted.expectStatus<{ token: string }>(201, 'POST', path, { name: 'first' });
  return site.first.client({ reveal: () => made.token });
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
