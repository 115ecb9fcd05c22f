import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as sendPlain } from 'node:http';
import { Agent as HttpsAgent, request as sendSecure } from 'node:https';
import { networkFault } from '../client/answer-error.ts';
import { isCertificateError, outage, type RefusedAnswer, refusal, silence } from './answer-errors.ts';
import { type AnswerLimits, Answers } from './answers.ts';
import { TokenFile } from './token-file.ts';

export interface ServerAddress {
  /** The origin of the server, without a slash at its end. */
  readonly url: string;
  /** A file with the authorities that sign its certificate; undefined for those that Node.js trusts. */
  readonly caFile: string | undefined;
  readonly tokenFile: string;
}

export interface TransportDeps extends ServerAddress {
  /** Throws DomainError cluster_unavailable while the name of the cluster is unknown. */
  readonly cluster: () => string;
}

export interface Transport {
  /** Sends a POST of JSON below /api/v1/cluster. Returns the object in the answer. Throws DomainError. */
  post(path: string, body: string, limits: AnswerLimits): Promise<Readonly<Record<string, unknown>>>;
  /** Sends a GET on a connection of its own. Returns the text of the answer as it comes. Throws DomainError. */
  stream(path: string, signal: AbortSignal): Promise<AsyncIterable<string>>;
}

const prefix = '/api/v1/cluster';
// For the status and the headers of a stream, whose first message may take longer, and for a refusal of it.
const streamLimits: AnswerLimits = { timeoutMs: 10_000, maxAnswerBytes: 64 * 1024 };
// Shorter than the time after which the server closes an idle connection.
const idleMs = 50_000;

interface Sent {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  readonly limits: AnswerLimits;
  readonly signal?: AbortSignal;
}

interface Answer extends RefusedAnswer {
  /** Of a stream it has not been read. */
  readonly response: IncomingMessage;
}

/**
 * Sends the requests of this process to the server. A request that is refused with 401 is sent once more if the file has
 * another token then, or had one before that the server accepted. One that fails on a connection which the server had closed
 * is sent once more, because each method can be repeated. Nothing else is sent again: that is the matter of the work queues.
 */
export class HttpsTransport implements Transport {
  readonly #deps: TransportDeps;
  readonly #token: TokenFile;
  readonly #answers = new Answers();
  /** By this random id the server counts what is under way for this process. */
  readonly #process = randomUUID();
  #connections: { readonly ca: string | undefined; readonly agent: HttpAgent };

  constructor(deps: TransportDeps) {
    this.#deps = deps;
    this.#token = new TokenFile(deps.tokenFile);
    this.#connections = this.#connect(this.#authorities());
  }

  async post(path: string, body: string, limits: AnswerLimits): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.#send({ method: 'POST', path, body, limits });
    if (answer.status === 200 && answer.body !== undefined) return answer.body;
    throw refusal(answer);
  }

  async stream(path: string, signal: AbortSignal): Promise<AsyncIterable<string>> {
    const answer = await this.#send({ method: 'GET', path, limits: streamLimits, signal });
    if (answer.status === 200) return textsOf(answer.response);
    throw refusal(answer);
  }

  async #send(sent: Sent): Promise<Answer> {
    const token = this.#token.current();
    const answer = await this.#present(sent, token);
    const other = answer.status === 401 ? this.#token.refuse(token) : undefined;
    return other === undefined ? answer : await this.#present(sent, other);
  }

  async #present(sent: Sent, token: string): Promise<Answer> {
    const answer = await this.#attempt(sent, token);
    if (answer.status === 200) this.#token.accept(token);
    return answer;
  }

  async #attempt(sent: Sent, token: string): Promise<Answer> {
    try {
      return await this.#once(sent, token).catch(async (error) => {
        if (!(error instanceof StaleConnectionError)) throw error;
        this.#dropIdle();
        return await this.#once(sent, token);
      });
    } catch (error) {
      if (isCertificateError(error)) this.#renewAuthorities();
      throw outage(error instanceof StaleConnectionError ? error.cause : error);
    }
  }

  async #once(sent: Sent, token: string): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const request = this.#open(sent, token, resolve);
    const { timeoutMs } = sent.limits;
    const timer = setTimeout(() => request.destroy(silence(timeoutMs)), timeoutMs);
    request.on('error', (error) => {
      reject(request.reusedSocket && isBroken(error) ? new StaleConnectionError(error) : error);
    });
    request.end(sent.body);
    try {
      const response = await promise;
      const { statusCode: status = 0, headers } = response;
      const isStream = sent.method === 'GET' && status === 200;
      const body = isStream ? undefined : await this.#answers.read(response, sent.limits);
      return { status, headers, body, response };
    } finally {
      clearTimeout(timer);
    }
  }

  #open(
    { method, path, body, signal }: Sent,
    token: string,
    onResponse: (response: IncomingMessage) => void,
  ): ClientRequest {
    const { url, cluster } = this.#deps;
    const { ca, agent } = this.#connections;
    const options = {
      method,
      headers: {
        accept: 'application/json, application/problem+json',
        authorization: `Bearer ${token}`,
        'keyframe-cluster': cluster(),
        'keyframe-process': this.#process,
        'user-agent': 'keyframe-controller',
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
      },
      // A stream would keep a connection of the others.
      agent: method === 'GET' ? false : agent,
      ...(ca === undefined ? {} : { ca }),
      // Otherwise NODE_TLS_REJECT_UNAUTHORIZED could turn it off.
      rejectUnauthorized: true,
      ...(signal === undefined ? {} : { signal }),
    };
    const address = `${url}${prefix}${path}`;
    return address.startsWith('https:')
      ? sendSecure(address, options, onResponse)
      : sendPlain(address, options, onResponse);
  }

  /** The server may have closed all that are idle, to make room: the next request opens a new connection. */
  #dropIdle(): void {
    for (const socket of Object.values(this.#connections.agent.freeSockets).flat()) socket?.destroy();
  }

  #authorities(): string | undefined {
    const { caFile } = this.#deps;
    return caFile === undefined ? undefined : readFileSync(caFile, 'utf8');
  }

  /** After the server got a certificate of another authority. */
  #renewAuthorities(): void {
    try {
      const ca = this.#authorities();
      if (ca !== this.#connections.ca) this.#connections = this.#connect(ca);
    } catch {
      // The file is being replaced.
    }
  }

  #connect(ca: string | undefined): { readonly ca: string | undefined; readonly agent: HttpAgent } {
    const shared = { keepAlive: true, scheduling: 'lifo', timeout: idleMs } as const;
    return { ca, agent: this.#deps.url.startsWith('https:') ? new HttpsAgent(shared) : new HttpAgent(shared) };
  }
}

/** The server closed an idle connection at the moment at which a request began on it. */
class StaleConnectionError extends Error {
  constructor(cause: Error) {
    super('the connection was closed', { cause });
  }
}

function isBroken(error: Error): boolean {
  const { code } = networkFault(error);
  return code === 'ECONNRESET' || code === 'EPIPE';
}

async function* textsOf(response: IncomingMessage): AsyncGenerator<string, void> {
  response.setEncoding('utf8');
  try {
    for await (const text of response as AsyncIterable<string>) yield text;
  } catch (error) {
    throw outage(error);
  }
}
