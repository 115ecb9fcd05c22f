import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request of the command, and what the server answered. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  /** Empty where it had none. */
  readonly body: string;
  readonly status: number;
  readonly answerType: string | null;
  readonly answer: string;
}

/** Stands before a server, and keeps what passes. */
export class RequestRecorder {
  readonly url: string;
  readonly #requests: RecordedRequest[];

  private constructor(url: string, requests: RecordedRequest[]) {
    this.url = url;
    this.#requests = requests;
  }

  /** Listens before the server at `target`, and ends with `resources`. */
  static async start(resources: AsyncDisposableStack, target: string): Promise<RequestRecorder> {
    const requests: RecordedRequest[] = [];
    const server = createServer((request, response) => void pass({ request, response, target, requests }));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    resources.defer(() => {
      server.closeAllConnections();
      server.close();
    });
    return new RequestRecorder(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests);
  }

  /** What has passed since it was asked last. */
  taken(): RecordedRequest[] {
    return this.#requests.splice(0);
  }
}

interface Passing {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: string;
  readonly requests: RecordedRequest[];
}

async function pass({ request, response, target, requests }: Passing): Promise<void> {
  const { method = '', url: path = '', headers } = request;
  const { authorization, 'content-type': contentType } = headers;
  const body = await text(request);
  const answered = await fetch(target + path, {
    method,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    },
    ...(body === '' ? {} : { body }),
  });
  const [status, answerType, answer] = [answered.status, answered.headers.get('content-type'), await answered.text()];
  requests.push({ method, path, authorization, contentType, body, status, answerType, answer });
  response.writeHead(status, answerType === null ? {} : { 'content-type': answerType }).end(answer);
}
