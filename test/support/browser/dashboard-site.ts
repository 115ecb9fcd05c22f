import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { Browser, BrowserContext } from 'playwright-core';
import type { AppOptions } from '../../../src/http/app.ts';
import { dashboardFolder } from '../../../tools/build/dashboard.ts';
import { SignedInBrowser } from '../api/browser-session.ts';
import { type TestApi, startTestApi } from '../api/http.ts';
import { type TestUser, createUser } from '../api/services.ts';
import { waitFor } from '../fixtures/wait-for.ts';
import { publicUrl, type TestIssuer } from '../oidc/issuer.ts';
import { startBrowser } from './browser.ts';
import { type PageRecord, watchedPage } from './watched-page.ts';

/** A server with the dashboard, and a browser. */
export interface DashboardSite {
  readonly api: TestApi;
  readonly browser: Browser;
  /** Localhost: browsers keep the cookie of a session there without TLS. */
  readonly origin: string;
  /** A page of a new visitor, at a path. */
  visit(path: string): Promise<PageRecord>;
  /** A page of a new visitor who has a session, at a path. test/browser/sign-in.test.ts signs in by the page itself. */
  visitAs(user: TestUser, path: string, time?: PageTime): Promise<PageRecord>;
}

/**
 * What a page takes for the time, in milliseconds since 1970. A number: it is always that time, so that what the page says
 * about the age of things does not depend on how long a test takes. An object: it passes from then on, and `page.clock` moves it.
 */
type PageTime = number | { readonly fromMs: number };

export interface SiteSettings {
  readonly app?: AppOptions;
  /** Where users may sign in. */
  readonly issuer?: TestIssuer;
  /** Whether the server has passkeys. */
  readonly passkeys?: boolean;
}

/** What a browser with a window calls itself. */
const userAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

/**
 * The site of a test file, from its first test to its last. A page is closed after its test: if open, it continues to poll.
 *
 * @param settings is called before the site starts; what it adds to the resources ends after the site
 */
export function dashboardSite(
  settings: (resources: AsyncDisposableStack) => SiteSettings | Promise<SiteSettings> = () => ({}),
): DashboardSite {
  const resources = new AsyncDisposableStack();
  const site = new FileSite();
  beforeAll(async () => site.start(resources, await settings(resources)));
  afterEach(() => site.closePages());
  afterAll(() => resources.disposeAsync());
  return site;
}

class FileSite implements DashboardSite {
  api!: TestApi;
  browser!: Browser;
  origin = '';
  readonly #open: BrowserContext[] = [];

  async start(resources: AsyncDisposableStack, { app, issuer, passkeys = false }: SiteSettings): Promise<void> {
    const isPublic = issuer !== undefined || passkeys;
    this.api = await startTestApi(
      { dashboardFolder, ...app },
      {
        ...(issuer === undefined ? {} : { oidc: issuer.options() }),
        ...(passkeys ? { publicUrl } : {}),
      },
    );
    resources.defer(() => this.api.close());
    this.api.services.feed.start();
    await waitFor('the feed to hear', () => this.api.services.feed.ready);
    // An issuer and passkeys know the server by one address, whatever its port is.
    const rules = isPublic ? [`MAP ${new URL(publicUrl).host} 127.0.0.1:${this.api.port}`] : undefined;
    this.browser = await startBrowser(resources, rules);
    this.origin = isPublic ? publicUrl : `http://localhost:${this.api.port}`;
  }

  async visit(path: string): Promise<PageRecord> {
    const record = await watchedPage(await this.#newContext());
    await record.page.goto(this.origin + path);
    return record;
  }

  async visitAs(user: TestUser, path: string, time?: PageTime): Promise<PageRecord> {
    const headers = { 'user-agent': userAgent };
    const answer = await this.api.client(user.token).send('POST', '/sessions', undefined, headers);
    const { token } = new SignedInBrowser(this.api, answer.headers.get('set-cookie') ?? '');
    const context = await this.#newContext();
    await context.addCookies([
      {
        name: '__Host-keyframe',
        value: token,
        url: this.origin.replace('http:', 'https:'),
        httpOnly: true,
        secure: true,
        sameSite: 'Strict',
      },
    ]);
    const record = await watchedPage(context);
    const { clock } = record.page;
    if (typeof time === 'object') await clock.install({ time: time.fromMs });
    else if (time !== undefined) await clock.setFixedTime(time);
    await record.page.goto(this.origin + path);
    if (path === '/') await record.page.getByRole('heading', { level: 1 }).waitFor();
    return record;
  }

  async closePages(): Promise<void> {
    await Promise.all(this.#open.splice(0).map((context) => context.close()));
  }

  async #newContext(): Promise<BrowserContext> {
    // Each frame of an animation costs time of the processor.
    const context = await this.browser.newContext({ reducedMotion: 'reduce' });
    this.#open.push(context);
    return context;
  }
}

/** A user with a short name. */
export function createVisitor(
  api: TestApi,
  name: string,
  options: { instanceAdmin?: boolean } = {},
): Promise<TestUser> {
  return createUser(api.services, { ...options, email: `${name}@example.com` });
}
