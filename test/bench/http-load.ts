import { Agent, request, type OutgoingHttpHeaders } from 'node:http';

export interface Load {
  readonly url: string;
  readonly method?: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string;
  /** The status that every answer must have. */
  readonly expected: number;
}

/** Asks over kept-alive connections, as node:http allows with the least of its own work. */
export class HttpLoad {
  readonly #agent = new Agent({ keepAlive: true });

  /** Sends one request, reads the answer to its end and answers its bytes. Throws for an unexpected status. */
  send({ url, method = 'GET', headers, body, expected }: Load): Promise<number> {
    return new Promise((resolve, reject) => {
      const call = request(url, { method, headers, agent: this.#agent }, (response) => {
        let bytes = 0;
        response.on('data', (chunk: Buffer) => void (bytes += chunk.length));
        response.on('error', reject);
        response.on('end', () => {
          if (response.statusCode === expected) resolve(bytes);
          else reject(new Error(`${method} ${url} answered ${response.statusCode}, not ${expected}`));
        });
      });
      call.on('error', reject);
      call.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
