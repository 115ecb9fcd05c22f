import type { Browser, BrowserContext } from 'playwright-core';
import type { AppOptions } from '../../../src/http/app.ts';
import { dashboardFolder } from '../../../tools/build/dashboard.ts';
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
  visit(path: string, context?: BrowserContext): Promise<PageRecord>;
  /**
   * A page of a new visitor who has signed in, at a path. For the browser it is always the time `nowMs`, in milliseconds since
   * 1970, if that is given: what the page says about the age of things does not depend on how long a test takes.
   */
  visitAs(user: TestUser, path: string, nowMs?: number): Promise<PageRecord>;
}

interface Further {
  /** Where users may sign in. */
  readonly issuer?: TestIssuer;
  /** Whether the server has passkeys. */
  readonly passkeys?: boolean;
}

/** `resources` ends it. */
export async function startDashboardSite(
  resources: AsyncDisposableStack,
  options: AppOptions = {},
  { issuer, passkeys = false }: Further = {},
): Promise<DashboardSite> {
  const api = await startTestApi(
    { dashboardFolder, ...options },
    {
      ...(issuer === undefined ? {} : { oidc: issuer.options() }),
      ...(passkeys ? { publicUrl } : {}),
    },
  );
  resources.defer(() => api.close());
  api.services.feed.start();
  await waitFor('the feed to hear', () => api.services.feed.ready);
  // An issuer and passkeys know the server by one address, whatever its port is.
  const rules =
    issuer === undefined && !passkeys ? undefined : [`MAP ${new URL(publicUrl).host} 127.0.0.1:${api.port}`];
  const browser = await startBrowser(resources, rules);
  const origin = issuer === undefined && !passkeys ? `http://localhost:${api.port}` : publicUrl;
  const visit: DashboardSite['visit'] = async (path, context) => {
    const record = await watchedPage(context ?? (await browser.newContext()));
    await record.page.goto(origin + path);
    return record;
  };
  const visitAs: DashboardSite['visitAs'] = async (user, path, nowMs) => {
    const record = await visit('/sign-in');
    const { page } = record;
    if (nowMs !== undefined) await page.clock.setFixedTime(nowMs);
    await page.getByLabel('Personal token').fill(user.token.reveal());
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Account:' }).waitFor();
    await page.getByRole('heading', { level: 1 }).waitFor();
    if (path !== '/') await page.goto(origin + path);
    return record;
  };
  return { api, browser, origin, visit, visitAs };
}

/** A user with a short name. */
export function createVisitor(
  api: TestApi,
  name: string,
  options: { instanceAdmin?: boolean } = {},
): Promise<TestUser> {
  return createUser(api.services, { ...options, email: `${name}@example.com` });
}
