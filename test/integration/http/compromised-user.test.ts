import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CreatedLinkView } from '../../../src/wire/sign-in-links.ts';
import { SignedInBrowser } from '../../support/api/browser-session.ts';
import { expectProblem, type HttpClient } from '../../support/api/http.ts';
import { redeem, signInWith } from '../../support/api/link-browser.ts';
import { createUser, createWorld, type TestUser } from '../../support/api/services.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { PasskeySite } from '../../support/passkeys/site.ts';

/** What an instance admin does about a user whose credentials another person has. */

let site: PasskeySite;
let admin: TestUser;
let asAdmin: HttpClient;

beforeAll(async () => {
  site = await PasskeySite.start();
  admin = await createUser(site.first.services, { instanceAdmin: true });
  asAdmin = site.first.client(admin.token);
});
afterAll(() => site.close());

test('one request ends the tokens, sessions, passkeys and the link of a user, and keeps their accounts', async () => {
  const { user, session, authenticator } = await site.registered();
  const { id: userId } = user;
  const inside = site.sessionOf(await site.signIn(authenticator));
  const path = `/users/${userId}`;
  const { link } = await asAdmin.expectStatus<CreatedLinkView>(201, 'POST', `${path}/sign-in-links`);
  const creator = { createdByType: 'user', createdById: userId, createdByName: user.email } as const;
  const identity = {
    id: randomUUID(),
    userId,
    issuer: 'https://id.example.com',
    subject: userId,
    delegators: [],
    ...creator,
  };
  await prismaOf(site.first.services.database).identity.create({ data: identity });

  await asAdmin.expectStatus(204, 'DELETE', `${path}/personal-tokens`);
  for (const ended of [site.first.client(user.token), session, inside]) await ended.expectStatus(401, 'GET', '/me');
  expect((await site.signIn(authenticator)).status).toBe(401);
  expect((await redeem(site.second, link)).status).toBe(401);
  expect(await asAdmin.expectStatus(200, 'GET', `${path}/passkeys`)).toMatchObject({ passkeys: [] });
  expect(await asAdmin.expectStatus(200, 'GET', `${path}/identities`)).toMatchObject({
    identities: [{ id: identity.id }],
  });
  const sql = `SELECT target FROM audit_entry WHERE action = 'personal_token.revoke' AND target->>'userId' = $1 ORDER BY id`;
  const target = { userId, email: user.email, revoked: 1, endedSessions: 2, removedPasskeys: 1, unlinkedIdentities: 0 };
  const links = { signInLinks: 1, createdLinks: 0 };
  expect(await site.sql(sql, userId)).toEqual([{ target: { ...target, ...links } }]);

  // The user is not disabled, and again changes nothing.
  await asAdmin.expectStatus(204, 'DELETE', `${path}/personal-tokens`);
  const none = { revoked: 0, endedSessions: 0, removedPasskeys: 0, signInLinks: 0 };
  expect(await site.sql(sql, userId)).toMatchObject([{}, { target: { ...target, ...links, ...none } }]);
  await asAdmin.expectStatus(201, 'POST', `${path}/sign-in-links`);
});

test('it unlinks an account that another person linked', async () => {
  const { user } = await site.newcomer();
  const { id: userId } = user;
  const issuer = 'https://id.example.com';
  const theirs = { createdByType: 'user', createdById: admin.id, createdByName: admin.email } as const;
  const data = {
    id: randomUUID(),
    userId,
    issuer,
    subject: userId,
    lastSignInAt: new Date(),
    delegators: [admin.id],
    ...theirs,
  };
  const prisma = prismaOf(site.first.services.database);
  await prisma.identity.create({ data });
  await prisma.groupMember.create({ data: { userId, groupName: 'g', expiresAt: new Date(Date.now() + 60_000) } });
  await asAdmin.expectStatus(204, 'DELETE', `/users/${userId}/personal-tokens`);
  expect(await asAdmin.expectStatus(200, 'GET', `/users/${userId}/identities`)).toMatchObject({ identities: [] });
  expect(await prisma.groupMember.count({ where: { userId } })).toBe(0);
  const sql = `SELECT target->'unlinkedIdentities' AS unlinked FROM audit_entry
    WHERE action = 'personal_token.revoke' AND target->>'userId' = $1`;
  expect(await site.sql(sql, userId)).toEqual([{ unlinked: 1 }]);
});

test('it ends the links that the user created, for users and for addresses', async () => {
  const world = await createWorld(site.first.services);
  const { owner } = world;
  const asOwner = site.first.client(owner.token);
  const { user: other } = await site.newcomer();
  const ofUser = await asOwner.expectStatus<CreatedLinkView>(201, 'POST', `/users/${other.id}/sign-in-links`);
  const path = `/organizations/${world.slugs.organization}/invitations`;
  const invited = { email: `${randomUUID().slice(0, 8)}@example.test`, role: 'admin' };
  const ofAddress = await asOwner.expectStatus<CreatedLinkView>(201, 'POST', path, invited);
  const ofAdmin = await site.first
    .client(world.admin.token)
    .expectStatus<CreatedLinkView>(201, 'POST', path, { ...invited, email: `x${invited.email}` });
  await asAdmin.expectStatus(204, 'DELETE', `/users/${owner.id}/personal-tokens`);
  for (const { link } of [ofUser, ofAddress]) expect((await redeem(site.second, link)).status).toBe(401);
  expect((await redeem(site.second, ofAdmin.link)).status).toBe(201);
  const sql = `SELECT organization_id, target->'createdLinks' AS links FROM audit_entry
    WHERE action = 'personal_token.revoke' AND target->>'userId' = $1 ORDER BY organization_id NULLS FIRST`;
  expect(await site.sql(sql, owner.id)).toEqual([
    { organization_id: null, links: 2 },
    { organization_id: world.organization.id, links: 2 },
  ]);
  // Another invitation gives another link.
  await site.first.client(world.admin.token).expectStatus(201, 'POST', path, invited);
});

test('it withdraws the invitations that were sent as the user', async () => {
  const world = await createWorld(site.first.services);
  const { organization } = world.slugs;
  const thief = await createUser(site.first.services);
  const asThief = site.first.client(thief.token);
  const stolen = site.first.client(world.admin.token);
  const byOwner = site.first.client(world.owner.token);
  const ofUser = await stolen.expectStatus<{ id: string }>(202, 'PUT', `/members/${organization}/${thief.id}`, {
    role: 'admin',
  });
  const inProject = await stolen.expectStatus<{ id: string }>(
    202,
    'PUT',
    `/projects/${organization}/${world.slugs.project}/roles/${thief.id}`,
    { role: 'admin' },
  );
  // An identity provider, or an instance admin, may make a user of the address later.
  const email = `${randomUUID().slice(0, 8)}@thief.example.test`;
  await stolen.expectStatus(201, 'POST', `/organizations/${organization}/invitations`, { email, role: 'admin' });
  const other = await createUser(site.first.services);
  const kept = await byOwner.expectStatus<{ id: string }>(202, 'PUT', `/members/${organization}/${other.id}`, {
    role: 'viewer',
  });

  await asAdmin.expectStatus(204, 'DELETE', `/users/${world.admin.id}/personal-tokens`);
  for (const { id } of [ofUser, inProject]) {
    const { detail } = await expectProblem(asThief.send('POST', `/invitations/${id}/accept`), 'conflict');
    expect(detail).toContain('this invitation was withdrawn');
  }
  expect(await byOwner.expectStatus(200, 'GET', `/organizations/${organization}/invitations`)).toMatchObject({
    invitations: [{ id: kept.id }],
  });
  await asAdmin.expectStatus(201, 'POST', '/users', { email });
  expect(
    await site.sql(
      'SELECT FROM invitation i JOIN app_user u ON u.id = i.user_id WHERE u.email = $1 AND i.ended_at IS NULL',
      email,
    ),
  ).toEqual([]);
  const sql = `SELECT organization_id, target->'sentInvitations' AS invitations FROM audit_entry
    WHERE action = 'personal_token.revoke' AND target->>'userId' = $1 ORDER BY organization_id NULLS FIRST`;
  expect(await site.sql(sql, world.admin.id)).toEqual([
    { organization_id: null, invitations: 3 },
    { organization_id: world.organization.id, invitations: 3 },
  ]);
});

test('it ends the sessions of links that were created as the user, but not that of the request', async () => {
  const compromised = await createUser(site.first.services, { instanceAdmin: true });
  const stolen = site.first.client(compromised.token);
  const { user: victim } = await site.newcomer();
  const linkFor = async (id: string): Promise<string> =>
    (await stolen.expectStatus<CreatedLinkView>(201, 'POST', `/users/${id}/sign-in-links`)).link;
  const theirs = await signInWith(site.first, await linkFor(victim.id));
  const responder = await signInWith(site.first, await linkFor(admin.id));
  await responder.expectStatus(204, 'DELETE', `/users/${compromised.id}/personal-tokens`);
  await theirs.expectStatus(401, 'GET', '/me');
  await responder.expectStatus(200, 'GET', '/users');
  const sql = `SELECT target->'sessionsOfLinks' AS ended FROM audit_entry
    WHERE action = 'personal_token.revoke' AND target->>'userId' = $1`;
  expect(await site.sql(sql, compromised.id)).toEqual([{ ended: 1 }]);
});

test('of another user, it does not free the session of a link from the token of the link', async () => {
  const compromised = await createUser(site.first.services, { instanceAdmin: true });
  const stolen = site.first.client(compromised.token);
  const path = `/users/${admin.id}/sign-in-links`;
  const thief = await signInWith(site.first, (await stolen.expectStatus<CreatedLinkView>(201, 'POST', path)).link);
  const { id } = await createUser(site.first.services);
  await thief.expectStatus(204, 'DELETE', `/users/${id}/personal-tokens`);
  await stolen.expectStatus(204, 'DELETE', `/personal-tokens/${compromised.caller.principal.credentialId}`);
  await thief.expectStatus(401, 'GET', '/me');
});

test('it ends what was created as an instance admin for another one, but not for users who are none', async () => {
  const compromised = await createUser(site.first.services, { instanceAdmin: true });
  const other = await createUser(site.first.services, { instanceAdmin: true });
  const stolen = site.first.client(compromised.token);
  const { user } = await site.newcomer();
  const tokenFor = async (id: string, by = stolen): Promise<HttpClient> => {
    const path = `/users/${id}/personal-tokens`;
    const made = await by.expectStatus<{ token: string }>(201, 'POST', path, { name: 'x' });
    return site.first.client({ reveal: () => made.token });
  };
  const ofOther = await tokenFor(other.id);
  const ofAdmin = await tokenFor(admin.id, ofOther);
  const ofUser = await tokenFor(user.id);
  await asAdmin.expectStatus(204, 'DELETE', `/users/${compromised.id}/personal-tokens`);
  for (const ended of [ofOther, ofAdmin]) await ended.expectStatus(401, 'GET', '/me');
  for (const kept of [ofUser, site.first.client(other.token), asAdmin]) await kept.expectStatus(200, 'GET', '/me');
  const sql = `SELECT target->'signInsOfAdmins' AS ended FROM audit_entry
    WHERE action = 'personal_token.revoke' AND target->>'userId' = $1 AND target ? 'revoked'`;
  expect(await site.sql(sql, compromised.id)).toEqual([{ ended: 2 }]);
});

test('in a session it needs a recent sign-in, as the removal of one passkey does', async () => {
  const { user, authenticator } = await site.registered();
  const browser = await SignedInBrowser.signIn(site.first, admin.token);
  const path = `/users/${user.id}/personal-tokens`;
  await site.sql(`UPDATE session SET verified_at = now() - interval '6 minutes' WHERE id = $1`, await browser.id());
  await expectProblem(browser.send('DELETE', path), 'recent_sign_in_required');
  expect((await site.signIn(authenticator)).status).toBe(201);
  await (await SignedInBrowser.signIn(site.first, admin.token)).expectStatus(204, 'DELETE', path);
});

test('the refusal to disable an only owner names that request', async () => {
  const { user } = await site.newcomer();
  await asAdmin.expectStatus(201, 'POST', '/organizations', { slug: `only-${user.id.slice(0, 8)}`, displayName: 'x' });
  await asAdmin.expectStatus(202, 'PUT', `/members/only-${user.id.slice(0, 8)}/${user.id}`, { role: 'owner' });
  const waiting = await site.first
    .client(user.token)
    .expectStatus<{ invitations: { id: string }[] }>(200, 'GET', '/invitations');
  await site.first
    .client(user.token)
    .expectStatus(200, 'POST', `/invitations/${waiting.invitations[0]?.id ?? ''}/accept`);
  await asAdmin.expectStatus(204, 'DELETE', `/members/only-${user.id.slice(0, 8)}/${admin.id}`);
  const { detail } = await expectProblem(asAdmin.send('PATCH', `/users/${user.id}`, { disabled: true }), 'conflict');
  expect(detail).toContain(
    `end the user's tokens, sessions, passkeys and sign-in link with DELETE /api/v1/users/${user.id}/personal-tokens`,
  );
});
