import type { Request } from 'express';
import { limits } from '../../domain/limits.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import type { BearerPrincipal } from '../../domain/principal.ts';
import { AuthenticationRefusal } from '../../services/access/authentication.ts';

/**
 * The cookie of a session (docs/security-model.md, "Sessions"). Its prefix binds it to this host, to TLS and to the path /
 * (RFC 6265bis, section 4.1.3.2).
 */

const name = '__Host-keyframe';
const attributes = 'Path=/; Secure; HttpOnly; SameSite=Strict';
const cookiePattern = new RegExp(`(?:^|;)\\s*${name}=([^;\\s]+)`);

/** The value of Set-Cookie that begins a session. The browser forgets it when the session has ended. */
export function sessionCookie(token: Plaintext): string {
  return `${name}=${token.reveal()}; Max-Age=${limits.sessionHours * 60 * 60}; ${attributes}`;
}

/** The value of Set-Cookie that removes the cookie. */
export const endedSessionCookie = `${name}=; Max-Age=0; ${attributes}`;

/** Returns the token of the session in a Cookie header; undefined if there is none. */
export function sessionTokenOf(cookieHeader: string | undefined): string | undefined {
  return cookieHeader === undefined ? undefined : cookiePattern.exec(cookieHeader)?.[1];
}

/**
 * Refuses a request that another site may have caused in a browser (OWASP, Cross-Site Request Forgery Prevention): its
 * initiator must be a page of this server, and a change needs the header X-Keyframe-CSRF, which no form can set and which
 * another site cannot send without CORS. Without a principal, the request begins a session.
 *
 * @throws AuthenticationRefusal cross_site
 */
export function refuseCrossSite(request: Request, principal?: BearerPrincipal): void {
  if (!isSameOrigin(request)) {
    const detail =
      principal === undefined
        ? 'only a page of this server begins a session in this way'
        : 'a session works only for pages of this server; send a token in the header Authorization instead';
    throw new AuthenticationRefusal('cross_site', detail, principal);
  }
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (!isRead && request.headers['x-keyframe-csrf'] === undefined) {
    throw new AuthenticationRefusal(
      'cross_site',
      'a change in a session needs the header X-Keyframe-CSRF: 1',
      principal,
    );
  }
}

/** Fetch Metadata, which a page cannot set; for a browser without it the origin of the page. */
function isSameOrigin(request: Request): boolean {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin } = request.headers;
  return origin !== undefined && URL.parse(origin)?.host === request.host;
}

/** Whether a request keeps its session from ending: streams and polling do not. */
export function isActivity(request: Request): boolean {
  const isStream = request.headers.accept?.includes('text/event-stream') === true;
  return !isStream && request.headers['x-keyframe-background'] === undefined;
}
