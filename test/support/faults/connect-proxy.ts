import { once } from 'node:events';
import { type IncomingMessage, type Server, createServer, request } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, type Socket, connect } from 'node:net';
import type { Certificate } from '../fixtures/certificate.ts';

export interface ConnectProxyOptions {
  /** The port of this machine to which it connects, whatever is asked for. */
  readonly target: number;
  /** It is an https proxy with this certificate. */
  readonly certificate?: Certificate;
}

/** A proxy of HTTP on this machine, as companies have: CONNECT for https, and requests with whole addresses for http. */
export class ConnectProxy {
  /** What was asked for, such as `CONNECT keyframe.test:443`. */
  readonly asked: string[] = [];
  /** The Proxy-Authorization headers that it was sent. */
  readonly credentials: (string | undefined)[] = [];
  /** The Authorization headers that it could read. */
  readonly readTokens: (string | undefined)[] = [];
  /** What it answers in place of passing on: a status, or nothing ever. */
  answer: number | 'nothing' | undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #isSecure: boolean;

  private constructor({ target, certificate }: ConnectProxyOptions) {
    this.#isSecure = certificate !== undefined;
    this.#server =
      certificate === undefined
        ? createServer()
        : createTlsServer({ cert: certificate.certificate, key: certificate.key });
    this.#server.on('connection', (socket: Socket) => this.#keep(socket));
    this.#server.on('connect', (asked: IncomingMessage, socket: Socket) => {
      const status = this.#statusFor(asked);
      if (status === undefined) return;
      if (status !== 200) {
        socket.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 0\r\n\r\n`);
        return;
      }
      const onward = this.#keep(connect(target, '127.0.0.1'));
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket
        .on('error', () => undefined)
        .pipe(onward)
        .pipe(socket);
    });
    this.#server.on('request', (asked, response) => {
      const status = this.#statusFor(asked);
      if (status === undefined) return;
      if (status !== 200) {
        response.writeHead(status).end();
        return;
      }
      const { method, url = '', headers } = asked;
      const path = url.replace(/^http:\/\/[^/]+/, '');
      const onward = request({ host: '127.0.0.1', port: target, method, path, headers }, (answer) => {
        answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.headers));
      });
      asked.pipe(onward);
    });
  }

  static async start(options: ConnectProxyOptions): Promise<ConnectProxy> {
    const proxy = new ConnectProxy(options);
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  /** Its address, with a user and a password or without. */
  url(credentials = ''): string {
    const { port } = this.#server.address() as AddressInfo;
    return `${this.#isSecure ? 'https' : 'http'}://${credentials}127.0.0.1:${port}`;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #statusFor({ method, url, headers }: IncomingMessage): number | undefined {
    this.asked.push(`${method} ${url}`);
    this.credentials.push(headers['proxy-authorization']);
    this.readTokens.push(headers.authorization);
    return this.answer === 'nothing' ? undefined : (this.answer ?? 200);
  }

  #keep<Some extends Socket>(socket: Some): Some {
    this.#sockets.add(socket);
    return socket.on('error', () => undefined).once('close', () => void this.#sockets.delete(socket));
  }
}
