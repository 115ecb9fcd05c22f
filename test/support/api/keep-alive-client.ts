import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';

export interface Asked {
  readonly method: string;
  /** Below /api/v1, percent-encoded. */
  readonly path: string;
  /** The whole Authorization header. */
  readonly authorization?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text and bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Empty for an event stream, which is left as soon as it begins. */
  readonly text: string;
}

const timeoutMs = 90_000;

/** Thousands of requests to one port of 127.0.0.1 over a few connections that are kept. */
export class KeepAliveClient {
  readonly #port: number;
  readonly #agent: Agent;

  constructor(port: number, connections = 12) {
    this.#port = port;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Rejects when no answer came within 90 s. */
  ask({ method, path, authorization, headers = {}, body }: Asked): Promise<Reply> {
    const bytes = bytesOf(body);
    const more = {
      ...(authorization === undefined ? {} : { authorization }),
      ...(bytes === undefined ? {} : { 'content-type': 'application/json', 'content-length': bytes.length }),
    };
    return new Promise((resolve, reject) => {
      const options = { agent: this.#agent, host: '127.0.0.1', port: this.#port, method, path: `/api/v1${path}` };
      const asking = request({ ...options, headers: { ...more, ...headers }, timeout: timeoutMs });
      asking.on('response', (response) => void replyTo(response).then(resolve, reject));
      asking.on('timeout', () => asking.destroy(new Error(`${method} ${path} had no answer within ${timeoutMs} ms`)));
      asking.on('error', reject);
      asking.end(bytes);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function bytesOf(body: unknown): Uint8Array | undefined {
  if (body === undefined || body instanceof Uint8Array) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

async function replyTo(response: IncomingMessage): Promise<Reply> {
  const { statusCode: status = 0, headers } = response;
  if (headers['content-type']?.startsWith('text/event-stream') === true) {
    response.destroy();
    return { status, headers, text: '' };
  }
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status, headers, text: Buffer.concat(chunks).toString('utf8') };
}
