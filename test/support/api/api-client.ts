import { randomBytes } from 'node:crypto';

export interface ApiReply<Body> {
  readonly status: number;
  readonly body: Body;
}

/** Every answer but 2xx that clients of this recorder got: head and body, as text. */
export type ProblemRecord = string[];

export interface TextBody {
  readonly text?: string;
  /** JSON if absent. */
  readonly contentType?: string;
  /** Further ones, such as an Idempotency-Key. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ServiceToken {
  readonly id: string;
  readonly token: string;
}

export interface TokenOptions {
  readonly permission?: 'read' | 'read_write';
  readonly expiresAt?: Date;
}

/** Speaks /api/v1 as one caller. */
export class ApiClient {
  readonly url: string;
  /** Shared by the clients made of this one. */
  readonly problems: ProblemRecord;
  readonly #token: string;

  constructor({ url, token, problems = [] }: { url: string; token: string; problems?: ProblemRecord }) {
    this.url = url;
    this.#token = token;
    this.problems = problems;
  }

  /** The same server with another token. */
  as(token: string): ApiClient {
    return new ApiClient({ url: this.url, token, problems: this.problems });
  }

  /** The same caller at another server. */
  at(url: string): ApiClient {
    return new ApiClient({ url, token: this.#token, problems: this.problems });
  }

  /** Sends a request and answers whatever came back; a body that is not JSON as text. `path` is below /api/v1. */
  send<Body = unknown>(method: string, path: string, body?: unknown): Promise<ApiReply<Body>> {
    return this.sendText(method, path, body === undefined ? {} : { text: JSON.stringify(body) });
  }

  /** Sends a body as it is. */
  async sendText<Body = unknown>(
    method: string,
    path: string,
    { text: sent, contentType, headers = {} }: TextBody = {},
  ): Promise<ApiReply<Body>> {
    const authorization = `Bearer ${this.#token}`;
    const type = { 'content-type': contentType ?? 'application/json' };
    const reply = await fetch(`${this.url}/api/v1${path}`, {
      method,
      ...(sent === undefined
        ? { headers: { ...headers, authorization } }
        : { headers: { ...headers, authorization, ...type }, body: sent }),
    });
    const text = await reply.text();
    if (!reply.ok) this.problems.push(`${reply.status}\n${JSON.stringify([...reply.headers])}\n${text}`);
    const isJson = /[/+]json/.test(reply.headers.get('content-type') ?? '');
    return { status: reply.status, body: (isJson ? JSON.parse(text) : text) as Body };
  }

  /** Sends a request that must succeed, and answers its body. */
  async call<Body = unknown>(method: string, path: string, body?: unknown): Promise<Body> {
    const reply = await this.send<Body>(method, path, body);
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  }

  /** A new environment in a new organization and project, with random slugs. */
  async makeEnvironment(): Promise<ApiEnvironment> {
    const suffix = randomBytes(6).toString('hex');
    const slugs = { organization: `org-${suffix}`, project: `project-${suffix}`, name: `env-${suffix}` };
    await this.call('POST', '/organizations', { slug: slugs.organization });
    await this.call('POST', `/projects/${slugs.organization}`, { slug: slugs.project });
    const path = `/environments/${slugs.organization}/${slugs.project}`;
    const { id } = await this.call<{ id: string }>('POST', path, { slug: slugs.name });
    return new ApiEnvironment(this, slugs, id);
  }
}

/** The slugs of an environment, as a SecretSync's `environmentRef` holds them. */
export interface EnvironmentRef {
  readonly organization: string;
  readonly project: string;
  readonly name: string;
}

/** One environment and what tests do with it. */
export class ApiEnvironment {
  readonly ref: EnvironmentRef;
  readonly id: string;
  readonly #client: ApiClient;

  constructor(client: ApiClient, ref: EnvironmentRef, id: string) {
    this.#client = client;
    this.ref = ref;
    this.id = id;
  }

  /** The same environment for another caller, or at another server. */
  at(client: ApiClient): ApiEnvironment {
    return new ApiEnvironment(client, this.ref, this.id);
  }

  /** The path of its secrets below /api/v1. */
  get path(): string {
    return `/secrets/${this.ref.organization}/${this.ref.project}/${this.ref.name}`;
  }

  /** Writes and deletes keys in one change; answers its revision. */
  async change(
    set: Readonly<Record<string, string>>,
    deleted: readonly string[] = [],
  ): Promise<{ revision: number; revisionId: string }> {
    return this.#client.call('PATCH', this.path, {
      ...(Object.keys(set).length === 0 ? {} : { set }),
      ...(deleted.length === 0 ? {} : { delete: deleted }),
    });
  }

  /** A service token for this environment alone. */
  async createToken({ permission = 'read', expiresAt }: TokenOptions = {}): Promise<ServiceToken> {
    return this.#client.call('POST', `/service-tokens/${this.ref.organization}`, {
      name: 'of a test',
      scope: 'environment',
      environmentId: this.id,
      permission,
      ...(expiresAt === undefined ? {} : { expiresAt: expiresAt.toISOString() }),
    });
  }

  async revokeToken(id: string): Promise<void> {
    await this.#client.call('DELETE', `/service-tokens/${this.ref.organization}/${id}`);
  }
}
