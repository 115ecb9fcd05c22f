import { pageHeaders, SignedInBrowser } from './browser-session.ts';
import type { HttpAnswer, TestApi } from './http.ts';

/** What the page of a sign-in link sends, without the browser. */

/** The secret part of a link. */
export function secretOf(link: string): string {
  return link.slice(link.indexOf('#') + 1);
}

/** Asks what a link is for. */
export async function lookUp(api: Pick<TestApi, 'client'>, link: string): Promise<HttpAnswer> {
  return api.client().send('POST', '/sign-in-links/lookup', { link: secretOf(link) });
}

/** Uses a link, with other headers than those of the page if they are given. */
export async function redeem(
  api: Pick<TestApi, 'client'>,
  link: string,
  headers: Record<string, string> = pageHeaders,
): Promise<HttpAnswer> {
  return api.client().send('POST', '/sign-in-links/redeem', { link: secretOf(link) }, headers);
}

/** Signs a browser in with a link. */
export async function signInWith(api: Pick<TestApi, 'client'>, link: string): Promise<SignedInBrowser> {
  const answer = await redeem(api, link);
  if (answer.status !== 201) throw new Error(`the link answered ${answer.status}: ${answer.text}`);
  return new SignedInBrowser(api, answer.headers.get('set-cookie') ?? '');
}
