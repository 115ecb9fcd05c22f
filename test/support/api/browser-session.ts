import { meUserView } from '../../../src/wire/me.ts';
import type { HttpAnswer, HttpClient } from './http.ts';

/** A server that is started. */
interface Server {
  client(token?: { reveal(): string }): HttpClient;
}

/** Headers that a browser and the dashboard send with a request to their own server. */
export const pageHeaders = { 'sec-fetch-site': 'same-origin', 'x-keyframe-csrf': '1' };

/** What a browser with a session sends, without the browser. */
export class SignedInBrowser {
  /** What its cookie holds. */
  readonly token: string;
  readonly headers = pageHeaders;
  readonly #client: HttpClient;
  #id: string | undefined;

  constructor(api: Server, setCookie: string) {
    this.token = /^__Host-keyframe=([^;]*)/.exec(setCookie)?.[1] ?? '';
    this.#client = api.client();
  }

  /** Signs in with a personal token, in a browser that may have a session already. */
  static async signIn(api: Server, token: { reveal(): string }, former?: SignedInBrowser): Promise<SignedInBrowser> {
    const headers = former === undefined ? {} : { cookie: former.cookie };
    const answer = await api.client(token).send('POST', '/sessions', undefined, headers);
    if (answer.status !== 201) throw new Error(`the sign-in answered ${answer.status}: ${answer.text}`);
    return new SignedInBrowser(api, answer.headers.get('set-cookie') ?? '');
  }

  get cookie(): string {
    return `__Host-keyframe=${this.token}`;
  }

  /** Sends a request as a page of the server does. */
  async send(method: string, path: string, body?: unknown): Promise<HttpAnswer> {
    return this.sendAs(pageHeaders, method, path, body);
  }

  /** Sends a request with the cookie and these headers alone. */
  async sendAs(headers: Record<string, string>, method: string, path: string, body?: unknown): Promise<HttpAnswer> {
    return this.#client.send(method, path, body, { cookie: this.cookie, ...headers });
  }

  /** Sends a request that must be answered with this status, and returns the body. */
  async expectStatus<Body = unknown>(status: number, method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await this.send(method, path, body);
    if (answer.status !== status) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body as Body;
  }

  /** The id of its session, asked while it works. */
  async id(): Promise<string> {
    this.#id ??= meUserView.parse(await this.expectStatus(200, 'GET', '/me')).session?.id ?? '';
    return this.#id;
  }
}
