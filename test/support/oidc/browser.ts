import type { TestApi } from '../api/http.ts';
import { SignedInBrowser } from '../api/browser-session.ts';
import { publicUrl } from './issuer.ts';

/** A page that a browser ended at. */
export interface Page {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/** A browser that signs in with OpenID Connect: it keeps cookies, and follows the redirects of the issuer. */
export class OidcBrowser {
  /** By origin and name. */
  readonly #cookies = new Map<string, Map<string, string>>();

  /** Opens a sign-in on a server, signs in at the issuer, and returns the path with which the issuer sends it back. */
  async start(api: TestApi, query = ''): Promise<string> {
    const { url } = await this.begin(api, query);
    return this.signInAtIssuer(url);
  }

  /** Opens a sign-in on a server, and returns the address at the issuer that it leads to. */
  async begin(api: TestApi, query = '', headers: Record<string, string> = {}): Promise<{ url: string; page: Page }> {
    const page = await this.open(api, `/sign-in/oidc${query}`, headers);
    const url = page.headers.get('location') ?? '';
    return { url, page };
  }

  async signInAtIssuer(url: string): Promise<string> {
    let next = url;
    for (let hops = 0; hops < 10; hops += 1) {
      if (next.startsWith(`${publicUrl}/`)) return next.slice(publicUrl.length);
      const { headers, status, text } = await this.#get(next, new URL(next).origin);
      const location = headers.get('location');
      if (location === null) throw new Error(`the issuer answered ${status}: ${text.slice(0, 500)}`);
      next = new URL(location, next).href;
    }
    throw new Error('the issuer redirects too often');
  }

  /** Opens the page that the issuer sends the browser back to. */
  async finish(api: TestApi, path: string): Promise<Page> {
    // A navigation that began at another site.
    return this.open(api, path, { 'sec-fetch-site': 'cross-site' });
  }

  async signIn(api: TestApi, query = ''): Promise<Page> {
    return this.finish(api, await this.start(api, query));
  }

  async open(api: TestApi, path: string, headers: Record<string, string> = {}): Promise<Page> {
    return this.#get(`http://127.0.0.1:${api.port}${path}`, publicUrl, headers);
  }

  cookie(name: string): string | undefined {
    return this.#cookies.get(publicUrl)?.get(name);
  }

  setCookie(name: string, value: string): void {
    this.#keep(publicUrl, name, value);
  }

  /** Takes the session that the browser has now. */
  session(api: TestApi): SignedInBrowser {
    return new SignedInBrowser(api, `__Host-keyframe=${this.cookie('__Host-keyframe') ?? ''}`);
  }

  async #get(url: string, origin: string, headers: Record<string, string> = {}): Promise<Page> {
    const cookies = [...(this.#cookies.get(origin) ?? [])].filter(([name]) => this.#sends(name, headers));
    const cookie: Record<string, string> =
      cookies.length === 0 ? {} : { cookie: cookies.map(([name, value]) => `${name}=${value}`).join('; ') };
    const response = await fetch(url, { redirect: 'manual', headers: { ...cookie, ...headers } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#keep(origin, name, value);
    }
    return { status: response.status, text: await response.text(), headers: response.headers };
  }

  /** The cookie of the session is Strict, so no navigation from another site has it. */
  #sends(name: string, headers: Record<string, string>): boolean {
    return name !== '__Host-keyframe' || headers['sec-fetch-site'] !== 'cross-site';
  }

  #keep(origin: string, name: string, value: string): void {
    const jar = this.#cookies.get(origin) ?? new Map<string, string>();
    this.#cookies.set(origin, jar);
    if (value === '') jar.delete(name);
    else jar.set(name, value);
  }
}
