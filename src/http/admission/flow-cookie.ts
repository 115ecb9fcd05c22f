import { limits } from '../../domain/limits.ts';
import type { Plaintext } from '../../domain/plaintext.ts';

/**
 * The cookie of a sign-in that is under way at an issuer of OpenID Connect. Unlike that of a session it is Lax: the
 * browser must send it when the issuer sends it back, which is a navigation from another site. It gives no access.
 */

const name = '__Host-keyframe-sign-in';
const attributes = 'Path=/; Secure; HttpOnly; SameSite=Lax';
const cookiePattern = new RegExp(`(?:^|;)\\s*${name}=([^;\\s]+)`);

export function flowCookie(secret: Plaintext): string {
  return `${name}=${secret.reveal()}; Max-Age=${limits.signInFlowMinutes * 60}; ${attributes}`;
}

export const endedFlowCookie = `${name}=; Max-Age=0; ${attributes}`;

/** Returns what the cookie holds; undefined if there is none. */
export function flowSecretOf(cookieHeader: string | undefined): string | undefined {
  return cookieHeader === undefined ? undefined : cookiePattern.exec(cookieHeader)?.[1];
}
