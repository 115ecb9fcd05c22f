import { expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { createLogger } from '../../../src/observability/logger.ts';
import { meUserView } from '../../../src/wire/me.ts';
import { startTestApi, type TestApi } from '../api/http.ts';
import { newRootKey } from '../api/services.ts';
import { OidcBrowser, type Page } from './browser.ts';
import { type IssuerAccount, TestIssuer } from './issuer.ts';

export interface SignedIn {
  readonly browser: OidcBrowser;
  readonly page: Page;
}

/** Two servers on one database that use one issuer. Each flow starts at the first one and ends at the second one. */
export class OidcSite {
  readonly issuer: TestIssuer;
  readonly first: TestApi;
  readonly second: TestApi;

  /** For another server on the database. */
  readonly rootKeys: string;
  /** What the services of the second server have logged. */
  readonly serviceLogs: readonly Readonly<Record<string, unknown>>[];

  private constructor(parts: Pick<OidcSite, 'issuer' | 'first' | 'second' | 'rootKeys' | 'serviceLogs'>) {
    this.issuer = parts.issuer;
    this.first = parts.first;
    this.second = parts.second;
    this.rootKeys = parts.rootKeys;
    this.serviceLogs = parts.serviceLogs;
  }

  static async start(): Promise<OidcSite> {
    const issuer = await TestIssuer.start();
    const rootKeys = newRootKey();
    const below = { rootKeys, oidc: issuer.options(), streams: { checkMs: 60_000 } };
    const first = await startTestApi({}, below);
    const database = { url: first.database.url, drop: () => Promise.resolve() };
    const serviceLogs: Record<string, unknown>[] = [];
    const logger = createLogger('debug', {
      write: (line) => void serviceLogs.push(JSON.parse(line) as Record<string, unknown>),
    });
    const second = await startTestApi({}, { ...below, database, logger });
    return new OidcSite({ issuer, first, second, rootKeys, serviceLogs });
  }

  async close(): Promise<void> {
    await this.second.close();
    await this.first.close();
    await this.issuer.close();
  }

  /** The issuer sends its own tokens again. */
  reset(): void {
    this.issuer.alter = undefined;
    this.issuer.key = this.issuer.ownKey;
  }

  /** Signs in as this account, in a new browser by default. */
  async signIn(account: IssuerAccount, { browser = new OidcBrowser(), query = '' } = {}): Promise<SignedIn> {
    this.issuer.account = account;
    return { browser, page: await browser.finish(this.second, await browser.start(this.first, query)) };
  }

  async me({ browser }: Pick<SignedIn, 'browser'>): Promise<z.infer<typeof meUserView>> {
    return meUserView.parse(await browser.session(this.second).expectStatus(200, 'GET', '/me'));
  }

  async sql<Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> {
    return (await this.first.services.database.pool.query<Row>(text, values)).rows;
  }

  /** How many sessions have ever begun. */
  async sessions(): Promise<number> {
    const [row] = await this.sql<{ count: number }>('SELECT count(*)::int AS count FROM session');
    return row?.count ?? 0;
  }

  async lastAudit(): Promise<object> {
    const columns = 'action, outcome, actor_type, actor_id, actor_name, target';
    const [row = {}] = await this.sql(`SELECT ${columns} FROM audit_entry ORDER BY id DESC LIMIT 1`);
    return row;
  }

  /** Expects a page that refuses a sign-in, no cookie of a session, and its audit entry; null for none. */
  async expectRefused(
    page: Page | Promise<Page>,
    fault: string,
    audited: object | null = { action: 'session.create', outcome: 'denied' },
  ): Promise<void> {
    const { text, status, headers } = await page;
    expect(text).toContain(`<code>${fault}</code>`);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.getSetCookie().filter((line) => line.startsWith('__Host-keyframe='))).toEqual([]);
    const entry = await this.lastAudit();
    if (audited === null) expect(entry).not.toMatchObject({ target: { fault } });
    else expect(entry).toMatchObject({ ...audited, target: { fault, signedInWith: 'oidc' } });
  }
}

/** An account that no other test has, with a verified address. */
export function newAccount(claims: Record<string, unknown> = {}): IssuerAccount {
  const sub = randomUUID();
  return { sub, claims: { email: `${sub.slice(0, 8)}@login.test`, email_verified: true, name: 'Ann', ...claims } };
}
