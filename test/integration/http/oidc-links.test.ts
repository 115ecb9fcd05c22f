import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { CreatedLinkView } from '../../../src/wire/sign-in-links.ts';
import { SignedInBrowser } from '../../support/api/browser-session.ts';
import { signInWith } from '../../support/api/link-browser.ts';
import { createUser, createWorld } from '../../support/api/services.ts';
import { LockSession } from '../../support/database/locks.ts';
import { OidcBrowser } from '../../support/oidc/browser.ts';
import { newAccount, OidcSite } from '../../support/oidc/site.ts';

/** Linking an account of OpenID Connect to a user who exists. */

let site: OidcSite;

beforeAll(async () => {
  site = await OidcSite.start();
});

afterEach(() => site.reset());

afterAll(() => site.close());

describe('linking', () => {
  /** A browser that has just signed in with the token of a user. */
  async function withToken(): Promise<{ browser: OidcBrowser; session: SignedInBrowser; id: string; email: string }> {
    const { id, email, token } = await createUser(site.first.services);
    const session = await SignedInBrowser.signIn(site.first, token);
    const browser = new OidcBrowser();
    browser.setCookie('__Host-keyframe', session.token);
    return { browser, session, id, email };
  }

  const fromPage = { 'sec-fetch-site': 'same-origin' };

  async function startLink(browser: OidcBrowser): Promise<string> {
    const { url } = await browser.begin(site.first, '?link=1&returnTo=/account', fromPage);
    return browser.signInAtIssuer(url);
  }

  const denied = { action: 'identity.link', outcome: 'denied' };

  test('binds the account to the user of the session, who then signs in with it', async () => {
    const { browser, id, email } = await withToken();
    site.issuer.account = newAccount({ email, email_verified: false });
    const page = await browser.finish(site.second, await startLink(browser));
    expect(page.text).toContain('url=/account');
    expect(page.headers.getSetCookie().filter((line) => line.startsWith('__Host-keyframe='))).toEqual([]);
    expect(await site.lastAudit()).toMatchObject({ action: 'identity.link', outcome: 'success', actor_id: id });
    expect((await site.me(await site.signIn(site.issuer.account))).id).toBe(id);
    // Again changes nothing.
    expect((await browser.finish(site.second, await startLink(browser))).status).toBe(200);
  });

  test('gives the account the delegators of the session, and the account gives them to its sessions', async () => {
    const admin = await createUser(site.first.services, { instanceAdmin: true });
    const { id } = await createUser(site.first.services);
    const path = `/users/${id}/sign-in-links`;
    const { link } = await site.first.client(admin.token).expectStatus<CreatedLinkView>(201, 'POST', path);
    const session = await signInWith(site.first, link);
    const browser = new OidcBrowser();
    browser.setCookie('__Host-keyframe', session.token);
    site.issuer.account = newAccount();
    expect((await browser.finish(site.second, await startLink(browser))).status).toBe(200);
    await site.signIn(site.issuer.account);
    const own = newAccount();
    const { id: ownId } = await site.me(await site.signIn(own));
    const made = (userId: string): Promise<object[]> =>
      site.sql(
        `SELECT i.delegators, s.delegators AS "ofSession" FROM identity i JOIN session s ON s.identity_id = i.id
         WHERE i.user_id = $1`,
        userId,
      );
    expect(await made(id)).toEqual([{ delegators: [admin.id], ofSession: [admin.id] }]);
    expect(await made(ownId)).toEqual([{ delegators: [], ofSession: [] }]);
  });

  test('is refused for an account of another user, and for a second account', async () => {
    const one = await withToken();
    const account = newAccount();
    const { id: owner } = await site.me(await site.signIn(account));
    site.issuer.account = account;
    await site.expectRefused(await one.browser.finish(site.second, await startLink(one.browser)), 'identity_taken', {
      ...denied,
      actor_id: one.id,
    });
    expect((await site.me(await site.signIn(account))).id).toBe(owner);
    site.issuer.account = newAccount();
    const fresh = await withToken();
    expect((await fresh.browser.finish(site.second, await startLink(fresh.browser))).status).toBe(200);
    site.issuer.account = newAccount();
    const again = new OidcBrowser();
    again.setCookie('__Host-keyframe', fresh.session.token);
    await site.expectRefused(await again.finish(site.second, await startLink(again)), 'identity_present', denied);
  });

  test('is refused in a session of a personal token that expires', async () => {
    const { browser, id } = await withToken();
    await site.sql(`UPDATE personal_token SET expires_at = now() + interval '1 day' WHERE user_id = $1`, id);
    site.issuer.account = newAccount();
    await site.expectRefused(await browser.finish(site.second, await startLink(browser)), 'token_expires', {
      ...denied,
      actor_id: id,
    });
    await site.sql('UPDATE personal_token SET expires_at = NULL WHERE user_id = $1', id);
    expect((await browser.finish(site.second, await startLink(browser))).status).toBe(200);
  });

  test('starts only on a page of this server, in a session, and after a recent sign-in', async () => {
    const { browser, session } = await withToken();
    for (const initiator of ['same-site', 'none']) {
      const { page } = await browser.begin(site.first, '?link=1', { 'sec-fetch-site': initiator });
      expect([page.status, page.headers.get('location')]).toEqual([401, null]);
    }
    // From another site the cookie is not there at all.
    expect((await browser.begin(site.first, '?link=1', { 'sec-fetch-site': 'cross-site' })).page.status).toBe(401);
    const user = await createUser(site.first.services);
    const bearer = { authorization: `Bearer ${user.token.reveal()}` };
    expect((await new OidcBrowser().begin(site.first, '?link=1', bearer)).page.text).toContain(
      '<code>session_ended</code>',
    );
    await site.sql(`UPDATE session SET verified_at = NULL WHERE id = $1`, await session.id());
    expect((await browser.begin(site.first, '?link=1', fromPage)).page.status).toBe(403);
  });

  test('ends with the session that started it', async () => {
    site.issuer.account = newAccount();
    const { browser, session, id } = await withToken();
    const path = await startLink(browser);
    await session.expectStatus(204, 'DELETE', '/sessions');
    await site.expectRefused(browser.finish(site.second, path), 'session_ended', { ...denied, actor_id: id });
    const other = await withToken();
    const later = await startLink(other.browser);
    await site.sql(
      `UPDATE session SET verified_at = verified_at - interval '5 minutes' WHERE id = $1`,
      await other.session.id(),
    );
    await site.expectRefused(other.browser.finish(site.second, later), 'session_ended', denied);
    expect(await site.sql('SELECT FROM identity WHERE subject = $1', site.issuer.account.sub)).toEqual([]);
  });

  test('is looked up again under the lock of the user, so that an unlinked account signs in no more', async () => {
    const { browser, session, id } = await withToken();
    const account = newAccount({ email_verified: false });
    site.issuer.account = account;
    expect((await browser.finish(site.second, await startLink(browser))).status).toBe(200);
    const [linked] = await site.sql<{ id: string }>('SELECT id FROM identity WHERE subject = $1', account.sub);
    const signIn = new OidcBrowser();
    const path = await signIn.start(site.first);
    const lock = await LockSession.begin(site.first.database.url);
    await lock.run('SELECT FROM app_user WHERE id = $1 FOR UPDATE', [id]);
    const unlinked = session.send('DELETE', `/identities/${linked?.id}`);
    await lock.waitForBlocked(1);
    const page = signIn.finish(site.second, path);
    await lock.waitForBlocked(2);
    await lock.commit();
    expect((await unlinked).status).toBe(204);
    await site.expectRefused(page, 'address_unverified');
  });

  test("cannot be finished in another browser, nor with another flow's response", async () => {
    const attacker = await withToken();
    const victim = await withToken();
    site.issuer.account = newAccount();
    const path = await startLink(attacker.browser);
    // The attacker's response in the browser of the victim, who is signed in.
    await site.expectRefused(victim.browser.finish(site.second, path), 'unknown_flow', null);
    // And if the victim is just linking, or signing in.
    await startLink(victim.browser);
    await site.expectRefused(victim.browser.finish(site.second, path), 'state_mismatch', denied);
    // A response for a link is no sign-in.
    const reader = new OidcBrowser();
    await reader.start(site.first);
    await site.expectRefused(reader.finish(site.second, path), 'state_mismatch');
    expect(await site.sql('SELECT FROM identity WHERE subject = $1', site.issuer.account.sub)).toEqual([]);
  });

  test("with another person's token is no way around an organization that forbids such tokens", async () => {
    const admin = await createUser(site.first.services, { instanceAdmin: true });
    const { owner, slugs } = await createWorld(site.first.services);
    const root = site.first.client(admin.token);
    const slug = slugs.organization;
    await site.first
      .client(owner.token)
      .expectStatus(200, 'PUT', `/organizations/${slug}/impersonation`, { forbidden: true });
    const made = await root.expectStatus<{ token: string }>(201, 'POST', `/users/${owner.id}/personal-tokens`, {
      name: 'x',
    });
    const session = await SignedInBrowser.signIn(site.first, { reveal: () => made.token });
    const browser = new OidcBrowser();
    browser.setCookie('__Host-keyframe', session.token);
    site.issuer.account = newAccount();
    expect((await browser.finish(site.second, await startLink(browser))).status).toBe(200);
    const signedIn = await site.signIn(site.issuer.account);
    expect((await site.me(signedIn)).id).toBe(owner.id);
    await signedIn.browser.session(site.first).expectStatus(403, 'GET', `/organizations/${slug}`);
    const audit = await site.first.client(owner.token).expectStatus(200, 'GET', `/audit/${slug}?action=identity.link`);
    expect(audit).toMatchObject({ entries: [{ action: 'identity.link', outcome: 'success' }] });
  });
});
