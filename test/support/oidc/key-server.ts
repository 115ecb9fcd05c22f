import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type CertificateAuthority, makeAuthority } from '../fixtures/certificate.ts';

/** An https server on loopback that publishes the keys of an issuer, or what a test lets it answer. */
export class KeyServer {
  /** The keys that it publishes. */
  keys: readonly object[] = [];
  /** Replaces the usual answer. */
  answer: RequestListener | undefined;
  requests = 0;
  readonly url: string;
  /** Certificate of the authority that signs its own, in PEM. */
  readonly ca: string;
  readonly #close: () => Promise<void>;

  private constructor(url: string, ca: string, close: () => Promise<void>) {
    this.url = url;
    this.ca = ca;
    this.#close = close;
  }

  static async start(authority: CertificateAuthority = makeAuthority()): Promise<KeyServer> {
    const { certificate: cert, key } = authority.issue({ names: ['localhost'], addresses: ['127.0.0.1'] });
    let serve: RequestListener = (_request, response) => response.end();
    const server = createServer({ cert, key }, (request, response) => serve(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const keyServer = new KeyServer(`https://127.0.0.1:${port}/keys`, authority.certificate, async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    serve = (request, response) => keyServer.#serve(request, response);
    return keyServer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    this.requests += 1;
    if (this.answer !== undefined) this.answer(request, response);
    else response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: this.keys }));
  }
}
