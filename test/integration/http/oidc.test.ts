import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestApi } from '../../support/api/http.ts';
import { createUser } from '../../support/api/services.ts';
import { OidcBrowser } from '../../support/oidc/browser.ts';
import { TestIssuer } from '../../support/oidc/issuer.ts';
import { newAccount, OidcSite } from '../../support/oidc/site.ts';

/** Sign-in with OpenID Connect at a real issuer. */

let site: OidcSite;

beforeAll(async () => {
  site = await OidcSite.start();
});

afterEach(() => site.reset());

afterAll(() => site.close());

describe('a sign-in', () => {
  test('starts at one replica, ends at another, and makes a user without roles', async () => {
    const account = newAccount();
    const { browser, page } = await site.signIn(account, { query: '?returnTo=%2Fenvironments%3Fa%3D1%26b%3D2' });
    expect(page.status).toBe(200);
    expect(page.text).toContain('<meta http-equiv="refresh" content="0; url=/environments?a=1&amp;b=2" />');
    const cookies = page.headers.getSetCookie();
    expect(cookies).toContainEqual(
      expect.stringMatching(
        /^__Host-keyframe=kf_ses_\w{71}; Max-Age=43200; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
      ),
    );
    expect(cookies).toContainEqual('__Host-keyframe-sign-in=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Lax');
    const user = await site.me({ browser });
    expect(user).toMatchObject({ name: account.claims?.['email'], instanceAdmin: false, organizations: [] });
    expect(user.session?.recentSignIn).toBe(false);
    const listed = await browser.session(site.first).expectStatus(200, 'GET', '/sessions');
    expect(listed).toMatchObject({ sessions: [{ signedInWith: 'oidc', verifiedAt: null }] });
    const audited = await site.sql<{ action: string; target: object }>(
      'SELECT action, target FROM audit_entry WHERE actor_id = $1 ORDER BY id',
      user.id,
    );
    expect(audited).toMatchObject([
      { action: 'user.create', target: { userId: user.id, issuer: new URL(site.issuer.url).host } },
      { action: 'session.create', target: { sessionId: user.session?.id, signedInWith: 'oidc' } },
    ]);
    // The same person again is the same user.
    expect((await site.me(await site.signIn(account))).id).toBe(user.id);
  });

  test('sends what protects the flow, and none of it reveals the secret of the cookie', async () => {
    const browser = new OidcBrowser();
    const { url, page } = await browser.begin(site.first);
    expect(page.status).toBe(303);
    expect(page.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-keyframe-sign-in=[\w-]{43}; Max-Age=600; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
      ),
    ]);
    const sent = Object.fromEntries(new URL(url).searchParams);
    expect(sent).toMatchObject({ response_type: 'code', code_challenge_method: 'S256', scope: 'openid email profile' });
    const secret = browser.cookie('__Host-keyframe-sign-in') ?? '';
    for (const value of [sent['state'], sent['nonce'], sent['code_challenge']]) {
      expect(value).toMatch(/^[\w-]{43}$/);
      expect(value).not.toBe(secret);
    }
    // One value for two purposes would let what one of them reveals serve the other.
    expect(new Set([sent['state'], sent['nonce'], sent['code_challenge'], secret]).size).toBe(4);
    const [flow] = await site.sql('SELECT * FROM sign_in_flow ORDER BY expires_at DESC LIMIT 1');
    expect(JSON.stringify([flow, site.first.logs])).not.toContain(secret);
  });

  test('is offered, and not without an issuer', async () => {
    const methods = [{ type: 'oidc', name: 'Test Login' }, { type: 'personal_token' }];
    expect(await site.first.client().expectStatus(200, 'GET', '/sign-in')).toEqual({
      open: true,
      methods,
      deviceLogin: true,
      passkeysOff: 'no_public_url',
    });
    const bare = await startTestApi();
    try {
      expect(await bare.client().expectStatus(200, 'GET', '/sign-in')).toEqual({
        open: true,
        methods: [{ type: 'personal_token' }],
        deviceLogin: true,
        passkeysOff: 'no_public_url',
      });
      expect((await bare.client().request('GET', '/sign-in/oidc')).status).toBe(404);
    } finally {
      await bare.close();
    }
  });

  test('is closed until an instance admin opens it, but for personal tokens', async () => {
    const admin = site.first.client((await createUser(site.first.services, { instanceAdmin: true })).token);
    const setOpen = (open: boolean) => admin.expectStatus(200, 'PUT', '/sign-in', { open });
    const methods = [{ type: 'personal_token' }];
    expect(await setOpen(false)).toMatchObject({ open: false, methods });
    expect(await site.second.client().expectStatus(200, 'GET', '/sign-in')).toMatchObject({ open: false, methods });
    const account = newAccount();
    const before = await site.sessions();
    await site.expectRefused((await site.signIn(account)).page, 'sign_in_closed');
    expect(await site.sessions()).toBe(before);
    await admin.expectStatus(201, 'POST', '/sessions');
    expect(await setOpen(true)).toMatchObject({ open: true, methods: [{ type: 'oidc' }, ...methods] });
    await site.me(await site.signIn(account));
    const changes = await site.sql(
      `SELECT outcome, target FROM audit_entry WHERE action = 'sign_in.update' ORDER BY id`,
    );
    expect(changes).toMatchObject([false, true].map((open) => ({ outcome: 'success', target: { open } })));
  });

  test('asks again for an action that needs a recent sign-in, and replaces the session', async () => {
    const account = newAccount();
    const { browser } = await site.signIn(account);
    const before = await site.me({ browser });
    await site.signIn(account, { browser, query: '?fresh=1' });
    const after = await site.me({ browser });
    expect(after.session).toMatchObject({ recentSignIn: true });
    const { sessions: listed } = await browser
      .session(site.first)
      .expectStatus<{ sessions: { id: string }[] }>(200, 'GET', '/sessions');
    expect(listed.map(({ id }) => id)).toEqual([after.session?.id]);
    expect(before.session?.id).not.toBe(after.session?.id);
    const made = await browser.session(site.first).send('POST', '/personal-tokens', { name: 'x' });
    const { expiresAt } = made.body as { expiresAt: string };
    expect(Math.round((Date.parse(expiresAt) - Date.now()) / 86_400_000)).toBe(90);
  });

  test('is recent for no longer if the clock of the issuer is ahead', async () => {
    site.issuer.alter = (claims) => ({ ...claims, auth_time: Math.floor(Date.now() / 1000) + 3_600 });
    const { session } = await site.me(await site.signIn(newAccount()));
    expect(session).toMatchObject({ recentSignIn: true });
    const [row] = await site.sql<{ isPast: boolean }>(
      `SELECT verified_at <= clock_timestamp() AS "isPast" FROM session WHERE id = $1`,
      session?.id,
    );
    expect(row).toEqual({ isPast: true });
  });

  test('that the issuer does not ask again for is refused if that was needed', async () => {
    const without = ({ auth_time: _time, ...claims }: Readonly<Record<string, unknown>>) => claims;
    const early = (claims: Readonly<Record<string, unknown>>) => ({ ...claims, auth_time: Date.now() / 1000 - 301 });
    for (const alter of [without, early]) {
      site.issuer.alter = alter;
      const before = await site.sessions();
      await site.expectRefused((await site.signIn(newAccount(), { query: '?fresh=1' })).page, 'not_fresh');
      expect(await site.sessions()).toBe(before);
    }
  });

  test('keeps the user if the address at the issuer changes, and the address of the user', async () => {
    const account = newAccount();
    const { id, name } = await site.me(await site.signIn(account));
    const changed = { ...account, claims: { ...account.claims, email: 'new@login.test' } };
    expect(await site.me(await site.signIn(changed))).toMatchObject({ id, name });
    const unverified = { ...account, claims: {} };
    expect(await site.me(await site.signIn(unverified))).toMatchObject({ id, name });
  });
});

describe('an unknown account', () => {
  test('with the address of a user gets no session, whatever the issuer says', async () => {
    const user = await createUser(site.first.services);
    const before = await site.sessions();
    const account = newAccount({ email: user.email.toUpperCase() });
    await site.expectRefused((await site.signIn(account)).page, 'address_taken');
    expect(await site.sessions()).toBe(before);
    expect(await site.sql('SELECT FROM identity WHERE subject = $1', account.sub)).toEqual([]);
  });

  test.each([[false], ['true'], [undefined], [1]])(
    'with an address that is verified as %p makes no user',
    async (verified) => {
      const account = newAccount({ email_verified: verified });
      await site.expectRefused((await site.signIn(account)).page, 'address_unverified');
      expect(await site.sql('SELECT FROM app_user WHERE email = $1', account.claims?.['email'])).toEqual([]);
    },
  );

  test('with an address that is read as a group makes no user', async () => {
    const account = newAccount({ email: 'Group:platform@example.test' });
    await site.expectRefused((await site.signIn(account)).page, 'address_unverified');
    expect(await site.sql('SELECT FROM app_user WHERE email = $1', 'group:platform@example.test')).toEqual([]);
  });

  test('makes one user if it signs in twice at once', async () => {
    site.issuer.account = newAccount();
    const browsers = [new OidcBrowser(), new OidcBrowser(), new OidcBrowser()];
    const paths: string[] = [];
    for (const browser of browsers) paths.push(await browser.start(site.first));
    await Promise.all(
      browsers.map((browser, index) => browser.finish(index === 0 ? site.first : site.second, paths[index] ?? '')),
    );
    const users = await Promise.all(browsers.map((browser) => site.me({ browser })));
    expect(new Set(users.map(({ id }) => id)).size).toBe(1);
  });
});

describe('a user', () => {
  test('who is disabled is refused, and the audit names them', async () => {
    const account = newAccount();
    const { id } = await site.me(await site.signIn(account));
    await site.sql('UPDATE app_user SET disabled_at = clock_timestamp() WHERE id = $1', id);
    const before = await site.sessions();
    const { page } = await site.signIn(account);
    await site.expectRefused(page, 'user_disabled', { action: 'session.create', outcome: 'denied', actor_id: id });
    expect(await site.sessions()).toBe(before);
  });

  test('unlinks the account, which ends its sessions', async () => {
    const account = newAccount();
    const { browser } = await site.signIn(account, { query: '?fresh=1' });
    const stranger = await site.signIn(newAccount(), { query: '?fresh=1' });
    const path = '/identities';
    const { identities } = await browser
      .session(site.first)
      .expectStatus<{ identities: { id: string }[] }>(200, 'GET', path);
    expect(identities).toMatchObject([{ issuer: site.issuer.url, subject: account.sub }]);
    const [{ id } = { id: '' }] = identities;
    await stranger.browser.session(site.first).expectStatus(404, 'DELETE', `${path}/${id}`);
    await browser.session(site.first).expectStatus(204, 'DELETE', `${path}/${id}`);
    await browser.session(site.first).expectStatus(401, 'GET', '/me');
    await stranger.browser.session(site.first).expectStatus(200, 'GET', '/me');
    await site.expectRefused((await site.signIn(account)).page, 'address_taken');
  });

  test('loses the account and its sessions if an instance admin unlinks it', async () => {
    const account = newAccount();
    const { browser } = await site.signIn(account);
    const { id, name } = await site.me({ browser });
    const admin = await createUser(site.first.services, { instanceAdmin: true });
    const root = site.first.client(admin.token);
    const path = `/users/${id}/identities`;
    const { identities } = await root.expectStatus<{ identities: { id: string }[] }>(200, 'GET', path);
    expect(identities).toMatchObject([{ issuer: site.issuer.url, subject: account.sub }]);
    const [{ id: identity } = { id: '' }] = identities;
    // By the id of its user alone.
    await root.expectStatus(404, 'DELETE', `/users/${admin.id}/identities/${identity}`);
    await browser.session(site.first).expectStatus(200, 'GET', '/me');
    await root.expectStatus(204, 'DELETE', `${path}/${identity}`);
    await browser.session(site.first).expectStatus(401, 'GET', '/me');
    expect(await site.lastAudit()).toMatchObject({
      action: 'authenticate',
      outcome: 'denied',
    });
    const [entry] = await site.sql(
      "SELECT target FROM audit_entry WHERE action = 'identity.unlink' ORDER BY id DESC LIMIT 1",
    );
    expect(entry).toMatchObject({ target: { userId: id, email: name, identityId: identity, endedSessions: 1 } });
  });
});

describe('an issuer', () => {
  test('that ends the sign-in is reported', async () => {
    const browser = new OidcBrowser();
    const { url } = await browser.begin(site.first);
    const state = new URL(url).searchParams.get('state') ?? '';
    const path = `/sign-in/oidc/callback?error=access_denied&error_description=SECRET&state=${state}&iss=${encodeURIComponent(site.issuer.url)}`;
    const page = await browser.finish(site.second, path);
    await site.expectRefused(page, 'issuer_refused');
    expect(page.text + JSON.stringify(site.second.logs)).not.toContain('SECRET');
  });

  test('that is down or slow prevents neither the start nor requests with tokens', async () => {
    const gone = await TestIssuer.start();
    await gone.close();
    const api = await startTestApi({}, { oidc: gone.options() });
    try {
      const user = await createUser(api.services);
      await api.client(user.token).expectStatus(200, 'GET', '/me');
      const { page } = await new OidcBrowser().begin(api);
      expect([page.status, page.text]).toEqual([503, expect.stringContaining('<code>issuer_unavailable</code>')]);
    } finally {
      await api.close();
    }
    const slow = await TestIssuer.start();
    let answer = (): void => {};
    slow.delay = new Promise((resolve) => (answer = resolve));
    const waiting = await startTestApi({}, { oidc: slow.options({ timeoutMs: 5_000 }) });
    try {
      expect((await new OidcBrowser().begin(waiting)).page.status).toBe(503);
      answer();
      slow.delay = undefined;
      // The next one asks again.
      expect((await new OidcBrowser().begin(waiting)).page.status).toBe(303);
    } finally {
      await waiting.close();
      await slow.close();
    }
  });

  test('that goes away during a sign-in is reported and audited as a failure', async () => {
    const other = await TestIssuer.start();
    other.account = newAccount();
    const api = await startTestApi({}, { oidc: other.options() });
    try {
      const browser = new OidcBrowser();
      const path = await browser.start(api);
      await other.close();
      expect((await browser.finish(api, path)).text).toContain('<code>issuer_unavailable</code>');
      const { rows } = await api.services.database.pool.query(
        "SELECT outcome FROM audit_entry WHERE target->>'fault' = 'issuer_unavailable'",
      );
      expect(rows).toEqual([{ outcome: 'failed' }]);
    } finally {
      await api.close();
    }
  });
});
