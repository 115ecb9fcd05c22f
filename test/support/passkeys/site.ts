import { expect } from '@jest/globals';
import { createLogger } from '../../../src/observability/logger.ts';
import type {
  PasskeyCreationView,
  PasskeyRequestView,
  PasskeySessionBody,
  PasskeyView,
} from '../../../src/wire/passkeys.ts';
import { pageHeaders, SignedInBrowser } from '../api/browser-session.ts';
import { type HttpAnswer, startTestApi, type TestApi } from '../api/http.ts';
import { createUser, newRootKey, type TestUser } from '../api/services.ts';
import { type Forgery, TestAuthenticator } from './authenticator.ts';

/** A page of the server sends them. */

export const passkeyOrigin = 'https://keyframe.example.com';

/** A user who has registered a passkey. */
export interface PasskeyUser {
  readonly user: TestUser;
  /** The browser in which they did, signed in with a personal token. */
  readonly session: SignedInBrowser;
  readonly authenticator: TestAuthenticator;
  readonly passkey: PasskeyView;
}

/** A sign-in that was begun in a browser. */
export interface BegunSignIn {
  readonly options: PasskeyRequestView;
  /** The cookie of the flow. */
  readonly cookie: string;
}

/** Two servers on one database. Each flow starts at the first one and ends at the second one. */
export class PasskeySite {
  readonly first: TestApi;
  readonly second: TestApi;
  /** What the services of both servers have logged. */
  readonly serviceLogs: readonly string[];

  private constructor(parts: Pick<PasskeySite, 'first' | 'second' | 'serviceLogs'>) {
    this.first = parts.first;
    this.second = parts.second;
    this.serviceLogs = parts.serviceLogs;
  }

  static async start(): Promise<PasskeySite> {
    const serviceLogs: string[] = [];
    const logger = createLogger('debug', { write: (line) => void serviceLogs.push(line) });
    const below = { rootKeys: newRootKey(), publicUrl: passkeyOrigin, logger };
    const first = await startTestApi({}, below);
    const database = { url: first.database.url, drop: () => Promise.resolve() };
    const second = await startTestApi({}, { ...below, database });
    return new PasskeySite({ first, second, serviceLogs });
  }

  async close(): Promise<void> {
    await this.second.close();
    await this.first.close();
  }

  /** A user who has just signed in, and has no passkey. */
  async newcomer(options: { instanceAdmin?: boolean } = {}): Promise<Pick<PasskeyUser, 'user' | 'session'>> {
    const user = await createUser(this.first.services, options);
    return { user, session: await SignedInBrowser.signIn(this.first, user.token) };
  }

  async registered(options: { instanceAdmin?: boolean } = {}): Promise<PasskeyUser> {
    const { user, session } = await this.newcomer(options);
    const authenticator = new TestAuthenticator(passkeyOrigin);
    const answer = await this.register(session, authenticator);
    expect([answer.status, answer.text]).toEqual([201, answer.text]);
    return { user, session, authenticator, passkey: answer.body as PasskeyView };
  }

  /** Begins a registration at the first server. */
  async beginRegistration(session: SignedInBrowser): Promise<{ options: PasskeyCreationView; cookie: string }> {
    const { status, body, headers, text } = await session.send('POST', '/passkey-registrations');
    expect([status, text]).toEqual([201, text]);
    return { options: body as PasskeyCreationView, cookie: flowCookieOf(headers) };
  }

  /** Registers a passkey: begun at the first server, finished at the second. */
  async register(session: SignedInBrowser, authenticator: TestAuthenticator, forgery?: Forgery): Promise<HttpAnswer> {
    const { options, cookie } = await this.beginRegistration(session);
    return this.finishRegistration(session, cookie, authenticator.create(options, forgery));
  }

  /** Finishes a registration at the second server. */
  async finishRegistration(session: SignedInBrowser, cookie: string, response: object): Promise<HttpAnswer> {
    const headers = { ...session.headers, cookie: `${session.cookie}; ${cookie}` };
    return this.second.client().send('POST', '/passkeys', { name: 'Laptop', ...response }, headers);
  }

  /** Begins a sign-in at the first server. */
  async begin(): Promise<BegunSignIn> {
    const { status, body, headers } = await this.first
      .client()
      .send('POST', '/passkey-challenges', undefined, pageHeaders);
    expect(status).toBe(201);
    return { options: body as PasskeyRequestView, cookie: flowCookieOf(headers) };
  }

  /** Finishes a sign-in at the second server, or another one. */
  async finish(cookie: string, response: PasskeySessionBody, api = this.second): Promise<HttpAnswer> {
    return api.client().send('POST', '/passkey-sessions', response, {
      ...pageHeaders,
      ...(cookie === '' ? {} : { cookie }),
    });
  }

  /** Signs in with a passkey, honestly or not. */
  async signIn(authenticator: TestAuthenticator, forgery?: Forgery): Promise<HttpAnswer> {
    const { options, cookie } = await this.begin();
    return this.finish(cookie, authenticator.get(options, forgery));
  }

  /** The session that a sign-in has begun. */
  sessionOf({ headers }: HttpAnswer): SignedInBrowser {
    return new SignedInBrowser(this.second, headers.get('set-cookie') ?? '');
  }

  async sql<Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> {
    return (await this.first.services.database.pool.query<Row>(text, values)).rows;
  }

  /** How many sessions have ever begun with a passkey. */
  async sessions(): Promise<number> {
    const [row] = await this.sql<{ count: number }>(
      'SELECT count(*)::int AS count FROM session WHERE passkey_id IS NOT NULL',
    );
    return row?.count ?? 0;
  }

  async lastAudit(): Promise<object> {
    const columns = 'action, outcome, actor_type, actor_id, actor_name, target';
    const [row = {}] = await this.sql(`SELECT ${columns} FROM audit_entry ORDER BY id DESC LIMIT 1`);
    return row;
  }
}

function flowCookieOf(headers: Headers): string {
  const line = headers.get('set-cookie') ?? '';
  expect(line).toMatch(/^__Host-keyframe-sign-in=[\w-]{43}; Max-Age=\d+; Path=\/; Secure; HttpOnly; SameSite=Lax$/);
  return line.slice(0, line.indexOf(';'));
}
