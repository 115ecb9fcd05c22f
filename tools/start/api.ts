/** The calls of /api/v1 that `npm start` makes: docs/interface.md section 4. */
export class Api {
  readonly url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.url = url;
    this.#token = token;
  }

  /** Answers the parsed body. Throws a sentence with the problem's detail on any status but 2xx and the `allowed` ones. */
  async call<T>(method: string, path: string, body?: unknown, allowed: readonly number[] = []): Promise<T> {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok && !allowed.includes(response.status)) {
      throw new Error(`${method} ${path} answered ${response.status}: ${detailOf(text)}`);
    }
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }
}

function detailOf(text: string): string {
  try {
    return String((JSON.parse(text) as { detail?: unknown }).detail);
  } catch {
    return 'no problem document';
  }
}
