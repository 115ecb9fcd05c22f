import { randomUUID } from 'node:crypto';
import { type RequestListener, type Server, type ServerOptions, type ServerResponse, createServer } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { type ConnectionLimits, Connections } from './admission/connections.ts';
import { Transports } from './admission/transports.ts';
import { DomainError } from '../domain/errors/domain-error.ts';
import type { CertificatePair } from '../lib/certificate.ts';
import { Listeners } from './listeners.ts';
import { BodyInbox } from './request/body-inbox.ts';
import { RequestQueues } from './request/request-queues.ts';
import { problemOf, rawProblem } from './response/problem.ts';

/** Limits of connections (docs/interface.md section 8). */
export interface HttpLimits extends ConnectionLimits {
  /** For the header of a request, from its first byte or from the start of its connection. */
  readonly headersTimeoutMs: number;
  /** For a whole request. At least `headersTimeoutMs`. */
  readonly requestTimeoutMs: number;
  /** Between two requests. */
  readonly keepAliveTimeoutMs: number;
  /** How long the reader of a response may read nothing. */
  readonly stallTimeoutMs: number;
  /** The request line and the header together. */
  readonly maxHeaderBytes: number;
}

export const defaultHttpLimits: HttpLimits = {
  headersTimeoutMs: 15_000,
  // Enough for a body of 8 MiB at 140 KiB a second.
  requestTimeoutMs: 60_000,
  // Longer than the usual 60 s of load balancers, so that the load balancer closes an idle connection.
  keepAliveTimeoutMs: 65_000,
  stallTimeoutMs: 30_000,
  maxHeaderBytes: 16 * 1024,
  maxConnections: 4_096,
  maxConnectionsPerPeer: 1_024,
  trustedProxies: [],
};

/** The limits default to `defaultHttpLimits`. */
export interface ListenOptions extends Partial<HttpLimits> {
  /** Undefined for all interfaces. */
  readonly host: string | undefined;
  /** 0 for any free port. */
  readonly port: number;
  /** The variables that set port and host, for error messages. */
  readonly portVariable: string;
  readonly hostVariable: string;
  /** With it the server speaks only https. */
  readonly tls?: CertificatePair | undefined;
  /** Whether the certificate may be shown now; always by default. If not, new connections are closed. */
  readonly mayShowCertificate?: () => boolean;
}

/** The server cannot listen on its address. The message says what to do. */
export class ListenError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'ListenError';
  }
}

// Maximum delay until a timeout of a header or request takes effect. Node checks every 30 s by default.
const maxCheckIntervalMs = 1_000;
// How long a refused client may take to read the response and close the connection.
const lingerMs = 1_000;

/** A listening HTTP server. */
export class HttpServer {
  readonly #server: Server | TlsServer;
  #listeners: Listeners | undefined;
  readonly #limits: HttpLimits;
  /** Each open connection with its response in progress, if any. */
  readonly #connections = new Map<Duplex, ServerResponse | undefined>();
  readonly #transports = new Transports();
  #draining = false;

  private constructor(handler: RequestListener, options: ListenOptions) {
    const limits = { ...defaultHttpLimits, ...options };
    const { stallTimeoutMs } = limits;
    const { mayShowCertificate = () => true } = options;
    this.#limits = limits;
    // Node would send an empty response for a missing host. The app checks the host itself.
    const settings = { ...nodeLimits(limits), requireHostHeader: false };
    this.#server =
      options.tls === undefined
        ? createServer(settings)
        : createTlsServer({ ...settings, ...options.tls, handshakeTimeout: limits.headersTimeoutMs });
    const places = new Connections(limits);
    // `readJson` invites the body, after the caller was let in. Node closes the connection of a request that it did not invite.
    this.#server.on('checkContinue', (request, response) => this.#server.emit('request', request, response));
    // Expectations other than 100-continue may be ignored (RFC 9110 section 10.1.1).
    this.#server.on('checkExpectation', (request, response) => this.#server.emit('request', request, response));
    const queues = new RequestQueues((request, response) => {
      const { socket } = request;
      const transport = this.#transports.of(socket);
      places.mark(transport, 'serving');
      this.#connections.set(socket, response);
      if (this.#draining) response.setHeader('Connection', 'close');
      cutWhenStalled(socket, response, stallTimeoutMs);
      response.once('prefinish', () => places.mark(transport, 'sending'));
      response.once('finish', () => places.mark(transport, 'serving'));
      response.once('finish', () => BodyInbox.release(request));
      response.once('close', () => {
        // The connection may have closed.
        if (this.#connections.get(socket) !== response || queues.hasWaiting(socket)) return;
        this.#connections.set(socket, undefined);
        places.mark(transport, 'idle');
      });
      handler(request, response);
    });
    this.#server.on('request', (request, response) => {
      BodyInbox.open(request);
      queues.add(request, response);
    });
    this.#server.on('connection', (socket: Socket) => {
      if (!mayShowCertificate() || !places.admit(socket)) {
        socket.destroy();
        return;
      }
      this.#track(socket);
      if (options.tls !== undefined) this.#transports.add(socket);
    });
    this.#server.on('secureConnection', (socket: TLSSocket) => {
      const transport = this.#transports.secured(socket);
      if (transport !== undefined) this.#connections.delete(transport);
      this.#track(socket);
    });
    this.#server.on('clientError', (error: Error, socket: Duplex) => {
      // An error cannot be written in the middle of another response.
      if (this.#connections.get(socket) !== undefined) socket.destroy();
      else respondToClientError(error, socket as Socket, this.#transports.isUnused(socket as Socket));
    });
  }

  /** @throws ListenError */
  static async listen(handler: RequestListener, options: ListenOptions): Promise<HttpServer> {
    const { host, port } = options;
    const server = new HttpServer(handler, options);
    try {
      server.#listeners = await Listeners.listen(server.#server, { host, port });
    } catch (error) {
      throw listenError(error as NodeJS.ErrnoException, options);
    }
    return server;
  }

  /** Uses another certificate for new connections. Only for a server with one. */
  renew(tls: CertificatePair): void {
    if ('setSecureContext' in this.#server) this.#server.setSecureContext(tls);
  }

  #track(socket: Socket): void {
    this.#connections.set(socket, undefined);
    socket.once('close', () => this.#connections.delete(socket));
  }

  /** The port that the server listens on, also if port 0 was requested. */
  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** The limits in use. Those that Node enforces come from its server. */
  get limits(): Omit<HttpLimits, 'trustedProxies'> & { readonly checkIntervalMs: number } {
    const { stallTimeoutMs, maxConnections, maxConnectionsPerPeer } = this.#limits;
    const { headersTimeout, requestTimeout, keepAliveTimeout } = this.#server;
    // @types/node lacks these properties of Node's server.
    const { connectionsCheckingInterval, maxHeaderSize } = this.#server as Server & {
      readonly connectionsCheckingInterval: number;
      readonly maxHeaderSize: number;
    };
    return {
      headersTimeoutMs: headersTimeout,
      requestTimeoutMs: requestTimeout,
      keepAliveTimeoutMs: keepAliveTimeout,
      checkIntervalMs: connectionsCheckingInterval,
      maxHeaderBytes: maxHeaderSize,
      stallTimeoutMs,
      maxConnections,
      maxConnectionsPerPeer,
    };
  }

  /** How many connections are open. */
  get connections(): number {
    return this.#connections.size;
  }

  /** How many connections have a response in progress. */
  get serving(): number {
    return [...this.#connections.values()].filter((response) => response !== undefined).length;
  }

  /**
   * From now on each response closes its connection, with `Connection: close`. The next request of the client then opens a
   * new connection, which a load balancer can send to another server. New connections are still accepted.
   */
  drain(): void {
    this.#draining = true;
    for (const response of this.#connections.values()) {
      if (response?.headersSent === false) response.setHeader('Connection', 'close');
    }
  }

  /**
   * Stops accepting connections, lets requests in progress finish and closes the other connections. Destroys connections
   * that are still open after `graceMs`. Resolves when no connection is left.
   */
  async close(graceMs: number): Promise<void> {
    this.drain();
    const closed = this.#listeners?.close();
    for (const [socket, response] of this.#connections) {
      // Opened in advance and unused: Node counts it as busy.
      if (response === undefined && this.#transports.isUnused(socket as Socket)) socket.destroy();
    }
    const cut = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    // If its headers were already sent, the connection becomes idle instead of closing.
    const sweep = setInterval(() => this.#server.closeIdleConnections(), 50);
    await closed;
    clearTimeout(cut);
    clearInterval(sweep);
  }
}

/**
 * Destroys the connection if its reader reads nothing of a complete response for this time, because the rest waits in
 * memory. Each write that the kernel accepts restarts the timeout of the socket. Node destroys a socket that times out.
 */
function cutWhenStalled(socket: Socket, response: ServerResponse, stallTimeoutMs: number): void {
  response.once('prefinish', () => socket.setTimeout(stallTimeoutMs));
  // Before the listener of Node, which sets the timeout of an idle connection.
  response.prependOnceListener('finish', () => socket.setTimeout(0));
}

function listenError(
  error: NodeJS.ErrnoException,
  { host, port, portVariable, hostVariable }: ListenOptions,
): ListenError {
  const where = `${host ?? 'all interfaces'}, port ${port}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return new ListenError(
        `cannot listen on ${where}: the port is in use; stop the other program or set ${portVariable}`,
        error,
      );
    case 'EACCES':
      return new ListenError(
        `cannot listen on ${where}: not permitted; set ${portVariable} to a port above 1023`,
        error,
      );
    default:
      return new ListenError(
        `cannot listen on ${where} (${String(error.code)}): set ${hostVariable} to an address of this machine`,
        error,
      );
  }
}

function nodeLimits(limits: HttpLimits): ServerOptions {
  const { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, maxHeaderBytes } = limits;
  return {
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(maxCheckIntervalMs, headersTimeoutMs, requestTimeoutMs),
    maxHeaderSize: maxHeaderBytes,
  };
}

/** Responds to a request that Node's parser refused. Such a request never reaches the app. */
function respondToClientError(error: NodeJS.ErrnoException, socket: Socket, isUnused: boolean): void {
  // An unused connection gets no response: its client could take it as the response to its next request.
  const isUnusedTooLong = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isUnused;
  if (error.code === 'ECONNRESET' || !socket.writable || isUnusedTooLong) {
    socket.destroy();
    return;
  }
  const detail = clientErrors[error.code ?? ''] ?? 'this is not a valid HTTP request';
  socket.end(rawProblem(problemOf(new DomainError('malformed_request', detail), randomUUID())));
  // The client may never close its side.
  const linger = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(linger));
}

const clientErrors: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'the headers of the request are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'the request did not arrive in time',
};
