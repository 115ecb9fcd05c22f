import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider, type Context } from 'oidc-provider';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import type { OidcOptions } from '../../../src/compose/services.ts';

/** A user at the issuer. */
export interface IssuerAccount {
  readonly sub: string;
  /** Claims of the scopes email and profile. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

type Claims = Readonly<Record<string, unknown>>;

/** The address at which the browsers of the tests reach the servers under test, whatever their ports are. */
export const publicUrl = 'http://localhost:8700';

const clientId = 'keyframe';
const clientSecret = randomBytes(24).toString('base64url');

/**
 * A real issuer of OpenID Connect (oidc-provider) on loopback. A browser that opens its sign-in page is signed in as `account`.
 * `alter` changes the claims of the next ID tokens, which are then signed again with `key`.
 */
export class TestIssuer {
  account: IssuerAccount = { sub: 'ann' };
  alter: ((claims: Claims) => Claims) | undefined;
  /** The issuer's own key; another one forges tokens. */
  key: KeyObject;
  /** Responses wait for it. */
  delay: Promise<void> | undefined;
  readonly ownKey: KeyObject;
  readonly url: string;
  readonly #close: () => Promise<void>;

  private constructor(url: string, key: KeyObject, close: () => Promise<void>) {
    this.url = url;
    this.ownKey = key;
    this.key = key;
    this.#close = close;
  }

  static async start(): Promise<TestIssuer> {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    let listener: RequestListener = (_request, response) => response.end();
    const server = createServer((request, response) => listener(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const issuer = new TestIssuer(`http://127.0.0.1:${port}`, privateKey, async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    const provider = silently(() => new Provider(issuer.url, issuer.#configuration()));
    provider.use((context, next) => issuer.#served(context, next));
    const serve = provider.callback();
    listener = (request, response) => {
      const isSignIn = request.url?.startsWith('/interaction/') === true;
      if (!isSignIn) serve(request, response);
      else void provider.interactionFinished(request, response, { login: { accountId: issuer.account.sub } });
    };
    return issuer;
  }

  /** The configuration of a server that uses this issuer. */
  options(more: Partial<OidcOptions> = {}): OidcOptions {
    return {
      publicUrl,
      issuer: this.url,
      clientId,
      clientSecret: new Plaintext(clientSecret),
      name: 'Test Login',
      scopes: 'openid email profile',
      groupsClaim: 'groups',
      groupsMaxAgeMs: 24 * 3_600_000,
      ...more,
    };
  }

  close(): Promise<void> {
    return this.#close();
  }

  #configuration(): object {
    return {
      jwks: { keys: [{ ...this.ownKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'test' }] },
      clients: [
        { client_id: clientId, client_secret: clientSecret, redirect_uris: [`${publicUrl}/sign-in/oidc/callback`] },
      ],
      cookies: { keys: [randomBytes(24).toString('base64url')] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_context: Context, { uid }: { uid: string }) => `/interaction/${uid}` },
      claims: {
        openid: ['sub'],
        email: ['email', 'email_verified'],
        profile: ['name', 'groups', '_claim_names', 'hasgroups'],
      },
      ttl: { Grant: 600, Session: 600, Interaction: 600, AccessToken: 600, IdToken: 600 },
      findAccount: (_context: Context, accountId: string) => ({
        accountId,
        claims: () => ({ sub: accountId, ...(this.account.sub === accountId ? this.account.claims : {}) }),
      }),
      // Without a page that asks for consent.
      loadExistingGrant: async ({ oidc: { session, provider } }: Context) => {
        const grant = new provider.Grant({ clientId, accountId: session.accountId });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    };
  }

  async #served(context: Context, next: () => Promise<void>): Promise<void> {
    await this.delay;
    await next();
    const body = context.body as { id_token?: string } | undefined;
    if (context.path !== '/token' || body?.id_token === undefined || this.alter === undefined) return;
    const claims = JSON.parse(Buffer.from(body.id_token.split('.')[1] ?? '', 'base64url').toString()) as Claims;
    context.body = { ...body, id_token: this.#signed(this.alter(claims)) };
  }

  #signed(claims: Claims): string {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const text = `${part({ alg: 'RS256', typ: 'JWT', kid: 'test' })}.${part(claims)}`;
    return `${text}.${sign('sha256', Buffer.from(text), this.key).toString('base64url')}`;
  }
}

/** Without the warning that the issuer keeps everything in memory, as it must. */
export function silently<T>(work: () => T): T {
  const { warn } = console;
  console.warn = () => {};
  try {
    return work();
  } finally {
    console.warn = warn;
  }
}
