import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import { startTestApi } from '../../support/api/http.ts';
import { OidcBrowser, type Page } from '../../support/oidc/browser.ts';
import { newAccount, OidcSite } from '../../support/oidc/site.ts';

/** Attacks on a sign-in with OpenID Connect. None begins a session. */

let site: OidcSite;

beforeAll(async () => {
  site = await OidcSite.start();
});

afterEach(() => site.reset());

afterAll(() => site.close());

describe('an attack', () => {
  let before = 0;

  async function expectNothing(page: Page | Promise<Page>, fault: string, audited?: object | null): Promise<void> {
    await site.expectRefused(page, fault, audited);
    expect(await site.sessions()).toBe(before);
  }

  async function started(): Promise<{ browser: OidcBrowser; path: string }> {
    site.issuer.account = newAccount();
    const browser = new OidcBrowser();
    const path = await browser.start(site.first);
    before = await site.sessions();
    return { browser, path };
  }

  test('with another state is refused, and ends the flow', async () => {
    const { browser, path } = await started();
    const wrong = path.replace(/state=[^&]+/, `state=${'A'.repeat(43)}`);
    const cookie = browser.cookie('__Host-keyframe-sign-in') ?? '';
    await expectNothing(browser.finish(site.second, wrong), 'state_mismatch');
    browser.setCookie('__Host-keyframe-sign-in', cookie);
    await expectNothing(browser.finish(site.second, path), 'unknown_flow', null);
  });

  test.each([
    ['no state', (path: string) => path.replace(/&?state=[^&]+/, '')],
    ['two states', (path: string) => `${path}&state=x`],
  ])('with %s is refused', async (_name, change) => {
    const { browser, path } = await started();
    await expectNothing(browser.finish(site.second, change(path)), 'state_mismatch');
  });

  test('in a browser that has started no sign-in (login CSRF) is refused', async () => {
    const { path } = await started();
    await expectNothing(new OidcBrowser().finish(site.second, path), 'unknown_flow', null);
  });

  test("with the attacker's code in a browser that has started its own sign-in is refused", async () => {
    const attacker = await started();
    const victim = await started();
    await expectNothing(victim.browser.finish(site.second, attacker.path), 'state_mismatch');
    const again = await started();
    const code = /code=([^&]+)/.exec(attacker.path)?.[1] ?? '';
    // Right state, another flow's code: the issuer checks the code verifier.
    await expectNothing(
      again.browser.finish(site.second, again.path.replace(/code=[^&]+/, `code=${code}`)),
      'code_refused',
    );
  });

  test('that repeats the request, with or without the cookie, is refused', async () => {
    const { browser, path } = await started();
    const cookie = browser.cookie('__Host-keyframe-sign-in') ?? '';
    expect((await browser.finish(site.second, path)).status).toBe(200);
    before = await site.sessions();
    await expectNothing(browser.finish(site.first, path), 'unknown_flow', null);
    browser.setCookie('__Host-keyframe-sign-in', cookie);
    await expectNothing(browser.finish(site.first, path), 'unknown_flow', null);
    browser.setCookie('__Host-keyframe-sign-in', `${'A'.repeat(42)}_`);
    await expectNothing(browser.finish(site.first, path), 'unknown_flow', null);
  });

  test('that repeats the request many times at once gets one session', async () => {
    const { browser, path } = await started();
    const pages = await Promise.all(
      [1, 2, 3, 4].map((index) => browser.finish(index % 2 === 0 ? site.first : site.second, path)),
    );
    expect(pages.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 403, 403, 403]);
    expect(await site.sessions()).toBe(before + 1);
  });

  test('that repeats a code in a new flow is refused', async () => {
    const { browser, path } = await started();
    expect((await browser.finish(site.second, path)).status).toBe(200);
    const used = /code=([^&]+)/.exec(path)?.[1] ?? '';
    const next = await started();
    await expectNothing(
      next.browser.finish(site.second, next.path.replace(/code=[^&]+/, `code=${used}`)),
      'code_refused',
    );
  });

  test('with a flow that took too long is refused', async () => {
    const { browser, path } = await started();
    await site.sql('UPDATE sign_in_flow SET expires_at = clock_timestamp()');
    await expectNothing(browser.finish(site.second, path), 'unknown_flow', null);
  });

  const forgeries: [string, Record<string, unknown>][] = [
    ['another nonce', { nonce: 'x'.repeat(43) }],
    ['no nonce', { nonce: undefined }],
    ['another audience', { aud: 'another-client' }],
    ['several audiences and another authorized party', { aud: ['keyframe', 'other'], azp: 'other' }],
    ['another issuer', { iss: 'https://evil.example' }],
    ['an expiry in the past', { exp: Math.floor(Date.now() / 1000) - 600 }],
    ['another subject than the userinfo', { sub: 'another-user' }],
    ['no subject', { sub: undefined }],
  ];

  test.each(forgeries)('with a token of %s is refused', async (_name, changed) => {
    const { browser, path } = await started();
    site.issuer.alter = (claims) => ({ ...claims, ...changed });
    await expectNothing(browser.finish(site.second, path), 'response_invalid');
  });

  test('with a token that another key signed is refused', async () => {
    const { browser, path } = await started();
    site.issuer.key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    site.issuer.alter = (claims) => claims;
    await expectNothing(browser.finish(site.second, path), 'response_invalid');
  });

  test('that sends the browser to another host afterwards is refused', async () => {
    const hosts = [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      '/\t/evil.example',
      '/..//evil.example',
      'evil',
      '',
    ];
    for (const returnTo of [...hosts, `/${'x'.repeat(2_000)}`, '/\u{d800}'.slice(0, 1) + '\u0000']) {
      const browser = new OidcBrowser();
      const { page, url } = await browser.begin(site.first, `?returnTo=${encodeURIComponent(returnTo)}`);
      expect(page.text).toContain('<code>invalid_return</code>');
      expect([url, browser.cookie('__Host-keyframe-sign-in')]).toEqual(['', undefined]);
    }
  });

  test('with text of HTML in the path afterwards shows it as text', async () => {
    site.issuer.account = newAccount();
    const { page } = await site.signIn(site.issuer.account, {
      query: `?returnTo=${encodeURIComponent('/"><script>x</script>')}`,
    });
    expect(page.text).not.toContain('<script>');
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
  });

  test('from one address is limited like guessed tokens', async () => {
    const limited = await startTestApi(
      { rateLimits: { requests: 0, failedAuthentications: 3, trafficBytes: 0 } },
      { oidc: site.issuer.options() },
    );
    try {
      const pages: number[] = [];
      for (let index = 0; index < 5; index += 1) {
        pages.push((await limited.client().request('GET', '/sign-in/oidc/callback?code=x&state=y')).status);
      }
      expect(pages).toEqual([403, 403, 403, 429, 429]);
    } finally {
      await limited.close();
    }
  });
});
