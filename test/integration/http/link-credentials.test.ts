import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { CreatedInvitationView, CreatedLinkView } from '../../../src/wire/sign-in-links.ts';
import type { SessionListView } from '../../../src/wire/sessions.ts';
import { SignedInBrowser } from '../../support/api/browser-session.ts';
import { expectProblem, type HttpClient } from '../../support/api/http.ts';
import { redeem, signInWith } from '../../support/api/link-browser.ts';
import { createUser, createWorld, type TestUser, type World } from '../../support/api/services.ts';
import { LockSession } from '../../support/database/locks.ts';
import { TestAuthenticator } from '../../support/passkeys/authenticator.ts';
import { passkeyOrigin, PasskeySite } from '../../support/passkeys/site.ts';

/** What a link, and a first token, owe to the credential that they were created with. */

let site: PasskeySite;
let admin: TestUser;
let asAdmin: HttpClient;
let world: World;

beforeAll(async () => {
  site = await PasskeySite.start();
  admin = await createUser(site.first.services, { instanceAdmin: true });
  asAdmin = site.first.client(admin.token);
});
afterAll(() => site.close());
beforeEach(async () => {
  world = await createWorld(site.first.services);
});

type Sender = Pick<HttpClient, 'expectStatus'>;

/** A personal token of a user that ends in a day. */
interface ShortToken {
  readonly id: string;
  readonly text: string;
  readonly expiresAt: string;
  readonly client: HttpClient;
}

async function shortToken({ token }: Pick<TestUser, 'token'>): Promise<ShortToken> {
  const made = await site.first
    .client(token)
    .expectStatus<{ id: string; token: string; expiresAt: string }>(201, 'POST', '/personal-tokens', {
      name: 'short',
      expiresInDays: 1,
    });
  const client = site.first.client({ reveal: () => made.token });
  return { id: made.id, text: made.token, expiresAt: made.expiresAt, client };
}

async function expire({ id }: ShortToken): Promise<void> {
  await site.sql(
    `UPDATE personal_token SET created_at = now() - interval '2 days', expires_at = now() - interval '1 day' WHERE id = $1`,
    id,
  );
}

async function linkFor({ id }: { readonly id: string }, by: Sender = asAdmin): Promise<string> {
  return (await by.expectStatus<CreatedLinkView>(201, 'POST', `/users/${id}/sign-in-links`)).link;
}

async function invite(by: Sender): Promise<string> {
  const path = `/organizations/${world.slugs.organization}/invitations`;
  const body = { email: `${randomUUID().slice(0, 8)}@new.example.test`, role: 'admin' };
  return (await by.expectStatus<CreatedInvitationView>(201, 'POST', path, body)).link;
}

async function faultOf(link: string): Promise<unknown> {
  await expectProblem(redeem(site.second, link), 'unauthenticated');
  const [row] = await site.sql<{ fault: string }>(
    `SELECT target->>'fault' AS fault FROM audit_entry WHERE outcome = 'denied' ORDER BY id DESC LIMIT 1`,
  );
  return row?.fault;
}

describe('a link that was created with a personal token', () => {
  test.each(['expired', 'been revoked'])('does not work once the token has %s', async (end) => {
    const short = await shortToken(world.admin);
    const instance = await createUser(site.first.services, { instanceAdmin: true });
    const shortInstance = await shortToken(instance);
    const links = [await invite(short.client), await linkFor(world.viewer, shortInstance.client)];
    if (end === 'expired') {
      await Promise.all([expire(short), expire(shortInstance)]);
    } else {
      await site.first.client(world.admin.token).expectStatus(204, 'DELETE', `/personal-tokens/${short.id}`);
      await site.first.client(instance.token).expectStatus(204, 'DELETE', `/personal-tokens/${shortInstance.id}`);
    }
    for (const link of links) expect(await faultOf(link)).toBe('token_ended');
  });

  test('works until then, and the user whom it makes sets up a way to sign in that stays', async () => {
    const short = await shortToken(world.admin);
    const session = await signInWith(site.first, await invite(short.client));
    const { sessions } = await session.expectStatus<SessionListView>(200, 'GET', '/sessions');
    expect(Date.parse(sessions[0]?.expiresAt ?? '')).toBeLessThanOrEqual(Date.parse(short.expiresAt));
    const authenticator = new TestAuthenticator(passkeyOrigin);
    expect((await site.register(session, authenticator)).status).toBe(201);
    await expire(short);
    expect((await site.signIn(authenticator)).status).toBe(201);
  });

  test('does not work after the token either if it was created in a session of the token', async () => {
    const short = await shortToken(world.admin);
    const browser = await SignedInBrowser.signIn(site.first, { reveal: () => short.text });
    const link = await invite(browser);
    await expire(short);
    expect(await faultOf(link)).toBe('token_ended');
  });

  test('begins a session that ends with the token at the latest', async () => {
    const short = await shortToken(world.admin);
    await site.sql(`UPDATE personal_token SET expires_at = now() + interval '1 hour' WHERE id = $1`, short.id);
    const session = await signInWith(site.first, await invite(short.client));
    const { sessions } = await session.expectStatus<SessionListView>(200, 'GET', '/sessions');
    expect(Date.parse(sessions[0]?.expiresAt ?? '')).toBeLessThanOrEqual(Date.now() + 3_600_000);
  });
});

test('a change in the session of a link waits for the revocation of the token of the link, and is lost', async () => {
  const instance = await createUser(site.first.services, { instanceAdmin: true });
  const short = await shortToken(instance);
  const session = await signInWith(site.first, await linkFor(world.viewer, short.client));
  const revocation = await LockSession.begin(site.first.database.url);
  await revocation.run('UPDATE personal_token SET revoked_at = now() WHERE id = $1', [short.id]);
  const change = session.send('POST', '/personal-tokens', { name: 'late' });
  await revocation.waitForBlocked(1);
  await revocation.commit();
  await expectProblem(change, 'unauthenticated');
});

describe('a token that expires', () => {
  test('sets up nothing that stays for its own user, by way of the links of two users', async () => {
    const instance = await createUser(site.first.services, { instanceAdmin: true });
    const short = await shortToken(instance);
    const asOther = await signInWith(site.first, await linkFor(admin, short.client));
    const back = await signInWith(site.first, await linkFor(instance, asOther));
    await expectProblem(back.send('POST', '/passkey-registrations'), 'forbidden');
    const made = await back.expectStatus<{ expiresAt: string }>(201, 'POST', '/personal-tokens', { name: 'more' });
    expect(made.expiresAt).toBe(short.expiresAt);
    await site.first.client(instance.token).expectStatus(204, 'DELETE', `/personal-tokens/${short.id}`);
    await back.expectStatus(401, 'GET', '/me');
  });

  test('makes users whose first token ends with it, and a session such as ends after 90 days', async () => {
    const instance = await createUser(site.first.services, { instanceAdmin: true });
    const short = await shortToken(instance);
    const firstTokenBy = async (by: Sender): Promise<string | null | undefined> => {
      const body = { email: `${randomUUID().slice(0, 8)}@new.example.test`, instanceAdmin: true };
      const { token } = await by.expectStatus<{ token: string }>(201, 'POST', '/users', body);
      const { personalTokens } = await site.first
        .client({ reveal: () => token })
        .expectStatus<{ personalTokens: { expiresAt: string | null }[] }>(200, 'GET', '/personal-tokens');
      return personalTokens[0]?.expiresAt;
    };
    expect(await firstTokenBy(short.client)).toBe(short.expiresAt);
    const inShort = await SignedInBrowser.signIn(site.first, { reveal: () => short.text });
    expect(await firstTokenBy(inShort)).toBe(short.expiresAt);
    const inLasting = await SignedInBrowser.signIn(site.first, instance.token);
    const days = (Date.parse((await firstTokenBy(inLasting)) ?? '') - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(89.9);
    expect(days).toBeLessThanOrEqual(90);
    expect(await firstTokenBy(site.first.client(instance.token))).toBeNull();
  });
});

describe('links end', () => {
  test('with the sessions of the user who created them', async () => {
    const browser = await SignedInBrowser.signIn(site.first, world.admin.token);
    const links = [await invite(browser), await invite(browser)];
    await site.first.client(world.admin.token).expectStatus(204, 'DELETE', '/sessions');
    expect(await faultOf(links[0] ?? '')).toBe('ended');
    const another = await invite(await SignedInBrowser.signIn(site.first, world.admin.token));
    await asAdmin.expectStatus(204, 'DELETE', `/users/${world.admin.id}/sessions`);
    expect([await faultOf(links[1] ?? ''), await faultOf(another)]).toEqual(['ended', 'ended']);
  });

  test('and so do invitations that were sent in one of these sessions', async () => {
    const thief = await createUser(site.first.services);
    const path = `/members/${world.slugs.organization}/${thief.id}`;
    const ends: readonly [HttpClient, string, string][] = [
      [site.first.client(world.admin.token), '/sessions', ''],
      [asAdmin, `/users/${world.admin.id}/sessions`, world.admin.id],
    ];
    for (const [by, sessions, userId] of ends) {
      const stolen = await SignedInBrowser.signIn(site.first, world.admin.token);
      const { id } = await stolen.expectStatus<{ id: string }>(202, 'PUT', path, { role: 'admin' });
      await by.expectStatus(204, 'DELETE', sessions);
      const accept = site.first.client(thief.token).send('POST', `/invitations/${id}/accept`);
      const { detail } = await expectProblem(accept, 'conflict');
      expect(detail).toContain('this invitation was withdrawn');
      const [entry] = await site.sql(
        `SELECT target FROM audit_entry WHERE action = 'session.end' ORDER BY id DESC LIMIT 1`,
      );
      expect(entry).toMatchObject({ target: { ...(userId === '' ? {} : { userId }), sentInvitations: 1 } });
    }
  });

  test('not if their creator only signs out', async () => {
    const browser = await SignedInBrowser.signIn(site.first, world.admin.token);
    const link = await invite(browser);
    await browser.expectStatus(204, 'DELETE', `/sessions/${await browser.id()}`);
    await signInWith(site.second, link);
  });

  test('if their creator gets a link of an instance admin', async () => {
    const link = await invite(site.first.client(world.admin.token));
    await signInWith(site.first, await linkFor(world.admin));
    expect(await faultOf(link)).toBe('ended');
  });
});
