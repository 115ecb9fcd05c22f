import { randomUUID } from 'node:crypto';
import {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  createServer,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionLimits, Connections } from './admission/connections.ts';
import { DomainError } from '../domain/errors/domain-error.ts';
import { problemOf, rawProblem } from './response/problem.ts';

/** What a connection may take (docs/interface.md section 8). */
export interface HttpLimits extends ConnectionLimits {
  /** For the header of a request, from its first byte, or from the opening of its connection. */
  readonly headersTimeoutMs: number;
  /** For a whole request to arrive. At least `headersTimeoutMs`. */
  readonly requestTimeoutMs: number;
  /** Between two requests. */
  readonly keepAliveTimeoutMs: number;
  /** How long an answer may wait for its reader to take some of it. */
  readonly stallTimeoutMs: number;
  /** The request line and the header together. */
  readonly maxHeaderBytes: number;
}

export const defaultHttpLimits: HttpLimits = {
  headersTimeoutMs: 15_000,
  // A body of 8 MiB passes in this time at 140 KiB a second.
  requestTimeoutMs: 60_000,
  // Longer than the usual 60 s of load balancers, so that they are the ones to close an idle connection.
  keepAliveTimeoutMs: 65_000,
  stallTimeoutMs: 30_000,
  maxHeaderBytes: 16 * 1024,
  maxConnections: 4_096,
  maxConnectionsPerPeer: 1_024,
  trustedProxies: [],
};

/** The limits are `defaultHttpLimits` unless given. */
export interface ListenOptions extends Partial<HttpLimits> {
  /** Undefined for all interfaces. */
  readonly host: string | undefined;
  /** 0 for any free port. */
  readonly port: number;
  /** The variables that set them, for the message when they cannot be had. */
  readonly portVariable: string;
  readonly hostVariable: string;
}

/** The address cannot be listened on; the message says what to do. */
export class ListenError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'ListenError';
  }
}

// How late a timeout of the header or the request may be noticed. Node looks every 30 s by default.
const maxCheckIntervalMs = 1_000;
// How long a refused connection may take to read its answer and close its side.
const lingerMs = 1_000;

/** A listening HTTP server. */
export class HttpServer {
  readonly #server: Server;
  readonly #limits: HttpLimits;
  /** Each open connection with the answer under way on it, if there is one. */
  readonly #connections = new Map<Duplex, ServerResponse | undefined>();
  #draining = false;

  private constructor(handler: RequestListener, options: ListenOptions) {
    const limits = { ...defaultHttpLimits, ...options };
    const { stallTimeoutMs } = limits;
    this.#limits = limits;
    // What Node refuses of its own accord gets an empty answer: the app looks for the host itself.
    this.#server = createServer({ ...nodeLimits(limits), requireHostHeader: false }, handler);
    const places = new Connections(limits);
    // Expectations other than 100-continue may be passed over (RFC 9110 section 10.1.1).
    this.#server.on('checkExpectation', (request, response) => this.#server.emit('request', request, response));
    this.#server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#connections.set(socket, response);
      places.mark(socket, 'serving');
      if (this.#draining) response.setHeader('Connection', 'close');
      cutWhenStalled(socket, response, stallTimeoutMs);
      response.once('close', () => {
        // Not if a pipelined request has come after it.
        if (this.#connections.get(socket) !== response) return;
        this.#connections.set(socket, undefined);
        places.mark(socket, 'idle');
      });
    });
    this.#server.on('connection', (socket: Socket) => {
      if (!places.admit(socket)) {
        socket.destroy();
        return;
      }
      this.#connections.set(socket, undefined);
      socket.once('close', () => this.#connections.delete(socket));
    });
    this.#server.on('clientError', (error, socket) => {
      // Into the middle of another answer no error can be written.
      if (this.#connections.get(socket) === undefined) answerClientError(error, socket as Socket);
      else socket.destroy();
    });
  }

  /** @throws ListenError */
  static async listen(handler: RequestListener, options: ListenOptions): Promise<HttpServer> {
    const listening = new HttpServer(handler, options);
    const server = listening.#server;
    const { host, port } = options;
    await new Promise<void>((resolve, reject) => {
      const fail = (error: NodeJS.ErrnoException): void => reject(listenError(error, options));
      server.once('error', fail);
      server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
        server.off('error', fail);
        resolve();
      });
    });
    return listening;
  }

  /** The port that is listened on; differs from the asked one where that was 0. */
  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** The limits in use; what Node enforces as its server reports it. */
  get limits(): Omit<HttpLimits, 'trustedProxies'> & { readonly checkIntervalMs: number } {
    const { stallTimeoutMs, maxConnections, maxConnectionsPerPeer } = this.#limits;
    const { headersTimeout, requestTimeout, keepAliveTimeout } = this.#server;
    // Node has these as properties of its server, and @types/node lacks them.
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

  /** How many connections have an answer under way. */
  get serving(): number {
    return [...this.#connections.values()].filter((response) => response !== undefined).length;
  }

  /**
   * From now on each answer ends its connection, and says so: whoever asks again comes on a new one, and so to another
   * server where this one is no longer led to. New connections are still taken.
   */
  drain(): void {
    this.#draining = true;
    for (const response of this.#connections.values()) {
      if (response?.headersSent === false) response.setHeader('Connection', 'close');
    }
  }

  /**
   * Takes no new connection, lets requests under way finish and closes the other connections. What is not done after
   * `graceMs` is cut off. Resolves when no connection is left.
   */
  async close(graceMs: number): Promise<void> {
    this.drain();
    const closed = new Promise<void>((resolve) => void this.#server.close(() => resolve()));
    for (const [socket, response] of this.#connections) {
      // Opened ahead of need, and nothing asked on it: Node counts it as busy.
      if (response === undefined && (socket as Socket).bytesRead === 0) socket.destroy();
    }
    const cut = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    // Where the header came too late, the connection becomes idle instead of closing.
    const sweep = setInterval(() => this.#server.closeIdleConnections(), 50);
    await closed;
    clearTimeout(cut);
    clearInterval(sweep);
  }
}

/**
 * Destroys the connection when its reader takes nothing of a whole answer for so long: what waits is kept in memory.
 * The socket's timeout does not end while the kernel takes some of it, and Node destroys a socket that times out.
 */
function cutWhenStalled(socket: Socket, response: ServerResponse, stallTimeoutMs: number): void {
  response.once('prefinish', () => socket.setTimeout(stallTimeoutMs));
  // Ahead of Node's own listener, which sets the time of an idle connection.
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
        `cannot listen on ${where}: the port is taken; stop what uses it or set ${portVariable}`,
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

/** Answers what Node's parser refused; such a request never reaches the app. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // A connection that was opened ahead of need gets no answer: its peer could take it for that of its next request.
  const isUnused = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0;
  if (error.code === 'ECONNRESET' || !socket.writable || isUnused) {
    socket.destroy();
    return;
  }
  const detail = clientFaults[error.code ?? ''] ?? 'this is not a valid HTTP request';
  socket.end(rawProblem(problemOf(new DomainError('malformed_request', detail), randomUUID())));
  // The peer may not close its side, whatever it sends meanwhile.
  const linger = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(linger));
}

const clientFaults: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'the headers of the request are too large',
  ERR_HTTP_REQUEST_TIMEOUT: 'the request did not arrive in time',
};
