import * as oidc from 'openid-client';
import { Agent, fetch as undiciFetch } from 'undici';
import type { Plaintext } from '../domain/plaintext.ts';

/** What the server must know to be a client of an issuer of OpenID Connect. */
export interface IssuerOptions {
  /** As the issuer names itself. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Plaintext;
  /** Certificates in PEM of the authorities that sign its certificate; undefined for those that Node.js trusts. */
  readonly ca?: string | undefined;
  /** The address to which the issuer sends browsers back. */
  readonly redirectUrl: string;
  /** With spaces between. */
  readonly scopes: string;
  /** How long one request to the issuer may take; 10 seconds by default. */
  readonly timeoutMs?: number;
}

/** The secrets of one sign-in. The issuer and the browser see `state` and `nonce`; only this server has the verifier. */
export interface FlowSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** What the issuer says of a user. */
export interface IssuerClaims {
  readonly issuer: string;
  readonly subject: string;
  /** When the user last proved who they are, in seconds since the epoch; null if the issuer does not say. */
  readonly authTime: number | null;
  /** The claims of the ID token and, for those that it lacks, of the userinfo endpoint. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/**
 * Why a sign-in at the issuer failed. `unavailable`: the issuer did not answer, or not as an issuer does. `refused`: it
 * ended the sign-in. `code_refused`: it does not accept the code, for example because it was used before. `invalid`: what
 * it sent does not prove who signed in.
 */
export type IssuerFault = 'unavailable' | 'refused' | 'code_refused' | 'invalid';

/** An error of the issuer, without anything that it sent besides a registered error code. */
export class IssuerError extends Error {
  readonly fault: IssuerFault;
  /** The code of the library's error or of the issuer's, for the log. */
  readonly code: string;

  constructor(fault: IssuerFault, code: string) {
    super(`the issuer of OpenID Connect: ${fault} (${code})`);
    this.name = 'IssuerError';
    this.fault = fault;
    this.code = code;
  }
}

const maxAgeMs = 60 * 60_000;

/**
 * A client of one issuer: authorization code flow with PKCE. It reads the metadata of the issuer when they are first needed
 * and once an hour, so an issuer that is down stops only sign-ins.
 */
export class Issuer {
  readonly #options: IssuerOptions;
  #known: { readonly configuration: Promise<oidc.Configuration>; readonly readAtMs: number } | undefined;

  constructor(options: IssuerOptions) {
    this.#options = options;
  }

  /** The host of the issuer, for the log and the audit. */
  get host(): string {
    return new URL(this.#options.issuer).host;
  }

  /**
   * The address at which a browser signs in. `fresh`: the issuer must ask the user again, and say when it did.
   *
   * @throws IssuerError unavailable
   */
  async authorizationUrl({ state, nonce, codeVerifier }: FlowSecrets, { fresh }: { fresh: boolean }): Promise<URL> {
    const configuration = await this.#configuration();
    return oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#options.redirectUrl,
      scope: this.#options.scopes,
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      // Some issuers know only one of them.
      ...(fresh ? { max_age: '0', prompt: 'login' } : {}),
    });
  }

  /**
   * Exchanges the code with which the issuer sent a browser back, and returns what the ID token says. The library checks
   * state, issuer, signature, audience, expiry and nonce. `query` is that of the request, with its question mark.
   *
   * @throws IssuerError
   */
  async redeem(query: string, { state, nonce, codeVerifier }: FlowSecrets): Promise<IssuerClaims> {
    const configuration = await this.#configuration();
    // Not the address of the request: its host is the client's word.
    const url = new URL(query, this.#options.redirectUrl);
    try {
      const tokens = await oidc.authorizationCodeGrant(configuration, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      });
      const idToken = tokens.claims();
      // Metadata for several tenants have a placeholder here, so that any of them could sign in.
      if (idToken === undefined || !isSameIssuer(idToken.iss, this.#options.issuer)) {
        throw new IssuerError('invalid', 'another_issuer');
      }
      const more = await userInfo(configuration, tokens.access_token, idToken.sub);
      // Whether another address is verified says nothing of this one.
      if (idToken['email'] !== undefined && idToken['email'] !== more['email']) delete more['email_verified'];
      const authTime = typeof idToken.auth_time === 'number' ? idToken.auth_time : null;
      return { issuer: this.#options.issuer, subject: idToken.sub, authTime, claims: { ...more, ...idToken } };
    } catch (error) {
      throw issuerErrorOf(error);
    }
  }

  async #configuration(): Promise<oidc.Configuration> {
    const now = performance.now();
    if (this.#known === undefined || now - this.#known.readAtMs > maxAgeMs) {
      const configuration = this.#discover();
      this.#known = { configuration, readAtMs: now };
      // The next sign-in tries again.
      configuration.catch(() => (this.#known = undefined));
    }
    return this.#known.configuration;
  }

  async #discover(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret, ca, timeoutMs = 10_000 } = this.#options;
    try {
      return await oidc.discovery(new URL(issuer), clientId, undefined, clientAuthentication(clientSecret), {
        timeout: timeoutMs / 1000,
        execute: [
          // The signature too, although the token comes from the issuer itself.
          oidc.enableNonRepudiationChecks,
          // Only for an issuer on this machine: the configuration refuses others.
          ...(issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : []),
        ],
        ...(ca === undefined ? {} : { [oidc.customFetch]: fetchTrusting(ca) }),
      });
    } catch (error) {
      throw new IssuerError('unavailable', codeOf(error));
    }
  }
}

/**
 * The claims of the userinfo endpoint: OpenID Connect Core 5.4 puts those of scopes there, not in the ID token. Empty
 * without such an endpoint.
 */
async function userInfo(
  configuration: oidc.Configuration,
  accessToken: string,
  subject: string,
): Promise<Record<string, unknown>> {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
  return { ...(await oidc.fetchUserInfo(configuration, accessToken, subject)) };
}

/** By the method that the issuer lists; the one that OpenID Connect makes the default if it lists both. */
function clientAuthentication(secret: Plaintext): oidc.ClientAuth {
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported;
    const isBasic = methods === undefined || methods.includes('client_secret_basic');
    const authenticate = isBasic ? oidc.ClientSecretBasic : oidc.ClientSecretPost;
    authenticate(secret.reveal())(server, client, body, headers);
  };
}

function isSameIssuer(one: string, other: string): boolean {
  return one === other || new URL(one).href === new URL(other).href;
}

function fetchTrusting(ca: string): oidc.CustomFetch {
  const dispatcher = new Agent({ connect: { ca } });
  // undici's own fetch: that of Node.js may have another version of undici. Both follow the same standard.
  return (url, options) => undiciFetch(url, { ...options, dispatcher } as Parameters<typeof undiciFetch>[1]);
}

function issuerErrorOf(error: unknown): IssuerError {
  if (error instanceof IssuerError) return error;
  if (error instanceof oidc.AuthorizationResponseError) return new IssuerError('refused', registered(error.error));
  if (error instanceof oidc.ResponseBodyError) {
    // Other errors, such as invalid_client, are for the operator.
    return new IssuerError(error.error === 'invalid_grant' ? 'code_refused' : 'unavailable', registered(error.error));
  }
  const code = codeOf(error);
  return new IssuerError(isOutage(code) ? 'unavailable' : 'invalid', code);
}

const outages: ReadonlySet<string> = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_WWW_AUTHENTICATE_CHALLENGE',
]);

/** Also errors of the network and of TLS, such as ECONNREFUSED: those of the library begin with OAUTH_ or ERR_. */
function isOutage(code: string): boolean {
  return outages.has(code) || !/^(OAUTH_|ERR_(?!TLS|SSL)|unknown$)/.test(code);
}

/** The first code of an error and its causes; never a message, which may repeat what the issuer sent. */
function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'unknown';
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  return typeof code === 'string' ? code : codeOf(cause);
}

/** An error code as RFC 6749 writes them; `unknown` for other text. */
function registered(code: string): string {
  return /^[a-z_]{1,40}$/.test(code) ? code : 'unknown';
}
