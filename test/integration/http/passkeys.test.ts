import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { pageHeaders, SignedInBrowser } from '../../support/api/browser-session.ts';
import { createUser } from '../../support/api/services.ts';
import { startTestApi } from '../../support/api/http.ts';
import { TestAuthenticator } from '../../support/passkeys/authenticator.ts';
import { passkeyOrigin, PasskeySite } from '../../support/passkeys/site.ts';

let site: PasskeySite;

beforeAll(async () => {
  site = await PasskeySite.start();
});

afterAll(() => site.close());

describe('a passkey', () => {
  test('signs its user in on any replica, and the sign-in counts as recent', async () => {
    const { user, authenticator, passkey } = await site.registered();
    expect(passkey).toEqual({
      id: expect.any(String),
      name: 'Laptop',
      rpId: 'keyframe.example.com',
      backedUp: false,
      createdAt: expect.any(String),
      lastUsedAt: null,
      unusableSince: null,
      createdBy: null,
    });
    expect(await site.lastAudit()).toMatchObject({
      action: 'passkey.create',
      outcome: 'success',
      actor_id: user.id,
      target: { passkeyId: passkey.id, name: 'Laptop' },
    });
    const answer = await site.signIn(authenticator);
    expect(answer).toMatchObject({ status: 201, body: { signedInWith: 'passkey', current: true } });
    expect(answer.headers.get('set-cookie')).toMatch(/^__Host-keyframe=kf_ses_[^;]+; .*SameSite=Strict$/);
    expect(await site.lastAudit()).toMatchObject({
      action: 'session.create',
      outcome: 'success',
      actor_id: user.id,
      target: { signedInWith: 'passkey', passkeyId: passkey.id },
    });
    const session = site.sessionOf(answer);
    expect(await session.expectStatus(200, 'GET', '/me')).toMatchObject({
      id: user.id,
      session: { recentSignIn: true },
    });
    expect(await session.expectStatus(200, 'GET', '/passkeys')).toMatchObject({
      passkeys: [{ id: passkey.id, lastUsedAt: expect.any(String) }],
    });
    // Again, with a higher counter, and in place of the former session.
    const { options, cookie } = await site.begin();
    const both = `${session.cookie}; ${cookie}`;
    expect((await site.finish(both, authenticator.get(options))).status).toBe(201);
    await session.expectStatus(401, 'GET', '/me');
  });

  test('that does not count signs in each time', async () => {
    const { session } = await site.newcomer();
    const authenticator = new TestAuthenticator(passkeyOrigin);
    expect((await site.register(session, authenticator, { counter: 0 })).status).toBe(201);
    for (let time = 0; time < 2; time += 1) {
      expect((await site.signIn(authenticator, { counter: 0 })).status).toBe(201);
    }
  });

  test('ends its sessions when it is removed, and works no more', async () => {
    const { user, session, authenticator, passkey } = await site.registered();
    const inside = site.sessionOf(await site.signIn(authenticator));
    await session.expectStatus(204, 'DELETE', `/passkeys/${passkey.id}`);
    expect(await site.lastAudit()).toMatchObject({
      action: 'passkey.remove',
      target: { userId: user.id, passkeyId: passkey.id, name: 'Laptop', endedSessions: 1 },
    });
    await inside.expectStatus(401, 'GET', '/me');
    expect((await site.signIn(authenticator)).status).toBe(401);
    await session.expectStatus(404, 'DELETE', `/passkeys/${passkey.id}`);
  });

  test("is another user's business only for instance admins", async () => {
    const { user, passkey } = await site.registered();
    const other = await site.newcomer();
    await other.session.expectStatus(404, 'DELETE', `/passkeys/${passkey.id}`);
    await other.session.expectStatus(404, 'POST', `/passkeys/${passkey.id}/confirm`);
    const path = `/users/${user.id}/passkeys`;
    await other.session.expectStatus(403, 'GET', path);
    const { session: admin } = await site.newcomer({ instanceAdmin: true });
    expect(await admin.expectStatus(200, 'GET', path)).toMatchObject({ passkeys: [{ id: passkey.id }] });
    await admin.expectStatus(404, 'DELETE', `${path}/${randomUUID()}`);
    await admin.expectStatus(404, 'DELETE', `/users/${randomUUID()}/passkeys/${passkey.id}`);
    await admin.expectStatus(204, 'DELETE', `${path}/${passkey.id}`);
    expect(await admin.expectStatus(200, 'GET', path)).toMatchObject({ passkeys: [] });
  });

  test('is registered and removed only soon after a sign-in, and never with a token', async () => {
    const { user, session, passkey } = await site.registered();
    await site.first.client(user.token).expectStatus(403, 'POST', '/passkey-registrations');
    await site.sql('UPDATE session SET verified_at = NULL WHERE id = $1', await session.id());
    for (const [method, path] of [
      ['POST', '/passkey-registrations'],
      ['DELETE', `/passkeys/${passkey.id}`],
      ['POST', `/passkeys/${passkey.id}/confirm`],
    ] as const) {
      const refused = await session.send(method, path);
      expect(refused).toMatchObject({ status: 403, body: { code: 'recent_sign_in_required' } });
    }
    const { session: admin } = await site.newcomer({ instanceAdmin: true });
    await site.sql('UPDATE session SET verified_at = NULL WHERE id = $1', await admin.id());
    const ways = [`passkeys/${passkey.id}`, `identities/${randomUUID()}`];
    for (const way of ways) {
      const refused = await admin.send('DELETE', `/users/${user.id}/${way}`);
      expect(refused).toMatchObject({ status: 403, body: { code: 'recent_sign_in_required' } });
    }
  });

  test('is limited to 20 of a user', async () => {
    const { session } = await site.newcomer();
    for (let count = 0; count < 20; count += 1) {
      expect((await site.register(session, new TestAuthenticator(passkeyOrigin))).status).toBe(201);
    }
    const refused = await site.register(session, new TestAuthenticator(passkeyOrigin));
    expect(refused).toMatchObject({ status: 409, body: { code: 'quota_exceeded' } });
  });

  test('of an authenticator that has one is named in the options, and is not registered twice', async () => {
    const { session, authenticator } = await site.registered();
    const { options, cookie } = await site.beginRegistration(session);
    expect(options.excludeCredentials).toEqual([
      { type: 'public-key', id: authenticator.id, transports: ['internal', 'hybrid'] },
    ]);
    const again = await site.finishRegistration(session, cookie, authenticator.create(options));
    expect(again).toMatchObject({ status: 409, body: { code: 'conflict' } });
    const { session: other } = await site.newcomer();
    expect(await site.register(other, authenticator)).toMatchObject({ status: 409 });
  });

  test('is not registered in a session of a personal token that expires', async () => {
    const { user, session: lasting } = await site.newcomer();
    const api = site.first.client(user.token);
    const made = await api.expectStatus<{ token: string }>(201, 'POST', '/personal-tokens', {
      name: 'for a day',
      expiresInDays: 1,
    });
    const session = await SignedInBrowser.signIn(site.first, { reveal: () => made.token });
    const refused = await session.send('POST', '/passkey-registrations');
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(refused.text).toContain('a personal token that expires');
    expect(await site.lastAudit()).toMatchObject({ action: 'passkey.create', outcome: 'denied', actor_id: user.id });
    // Neither is one that was begun before a server of this release.
    const { options, cookie } = await site.beginRegistration(lasting);
    await site.sql(
      'UPDATE sign_in_flow SET session_id = $1 WHERE session_id = $2',
      await session.id(),
      await lasting.id(),
    );
    const response = new TestAuthenticator(passkeyOrigin).create(options);
    expect((await site.finishRegistration(session, cookie, response)).status).toBe(403);
    expect(await lasting.expectStatus(200, 'GET', '/passkeys')).toMatchObject({ passkeys: [] });
    expect((await site.register(lasting, new TestAuthenticator(passkeyOrigin))).status).toBe(201);
  });

  test('is registered in a session of a token that the server created, so that a locked-out admin gets in', async () => {
    const { user, session } = await site.newcomer({ instanceAdmin: true });
    await site.sql(
      `UPDATE personal_token SET expires_at = now() + interval '1 day', created_by_type = 'system',
        created_by_id = '00000000-0000-0000-0000-000000000000', created_by_name = 'keyframe-server admin-token'
        WHERE user_id = $1`,
      user.id,
    );
    expect((await site.register(session, new TestAuthenticator(passkeyOrigin))).status).toBe(201);
  });

  test('counts as made by the person whose token its user registered it with', async () => {
    const admin = await createUser(site.first.services, { instanceAdmin: true });
    const { user } = await site.newcomer();
    const made = await site.first
      .client(admin.token)
      .expectStatus<{ token: string }>(201, 'POST', `/users/${user.id}/personal-tokens`, { name: 'x' });
    const session = await SignedInBrowser.signIn(site.first, { reveal: () => made.token });
    const authenticator = new TestAuthenticator(passkeyOrigin);
    expect((await site.register(session, authenticator)).status).toBe(201);
    const inside = site.sessionOf(await site.signIn(authenticator));
    await inside.expectStatus(201, 'POST', '/personal-tokens', { name: 'derived' });
    const { personalTokens } = await inside.expectStatus<{ personalTokens: object[] }>(200, 'GET', '/personal-tokens');
    expect(personalTokens[0]).toMatchObject({ name: 'derived', createdBy: { id: admin.id, derived: true } });
  });
});

describe('a server without passkeys', () => {
  test.each([
    [undefined, 'no_public_url', 'KEYFRAME_PUBLIC_URL'],
    ['http://127.0.0.1:8700', 'ip_address', 'an IP address'],
    ['http://[::1]:8700', 'ip_address', 'an IP address'],
  ])('at %s says why', async (publicUrl, passkeysOff, reason) => {
    const api = await startTestApi({}, publicUrl === undefined ? {} : { publicUrl });
    try {
      const offered = await api.client().expectStatus(200, 'GET', '/sign-in');
      expect(offered).toMatchObject({ methods: [{ type: 'personal_token' }], passkeysOff });
      const refused = await api.client().send('POST', '/passkey-challenges', undefined, pageHeaders);
      expect(refused).toMatchObject({ status: 403, body: { detail: expect.stringContaining(reason) } });
    } finally {
      await api.close();
    }
  });

  test('is not one at localhost', async () => {
    const api = await startTestApi({}, { publicUrl: 'http://localhost:8700' });
    try {
      const offered = await api.client().expectStatus(200, 'GET', '/sign-in');
      const methods = [{ type: 'passkey', origin: 'http://localhost:8700' }, { type: 'personal_token' }];
      expect(offered).toMatchObject({ methods, passkeysOff: null });
    } finally {
      await api.close();
    }
  });
});
