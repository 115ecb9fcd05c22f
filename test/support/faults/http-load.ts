import { readFileSync } from 'node:fs';
import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';

/** A program of its own, run by `HttpLoad`: clients that load one server until it is ended. Its first argument is a LoadPlan. */

/** What the clients of a group do with a request. */
type LoadKind =
  /** Send it, read all of the answer, and begin again. */
  | 'send'
  /** Send it, and read nothing of the answer. */
  | 'read-nothing'
  /** Send half of the body and then nothing. */
  | 'hold';

export interface LoadRequest {
  readonly method: string;
  readonly path: string;
  readonly token?: string;
  /** The file of its body. */
  readonly bodyFile?: string;
  /** How often it is sent on one connection without waiting for an answer. */
  readonly times?: number;
  /** Sends the body in chunks of one byte, without its length. */
  readonly isChunked?: boolean;
}

export interface LoadGroup {
  readonly kind: LoadKind;
  readonly clients: number;
  /** The address of these clients. */
  readonly from: string;
  /** Each client sends one of them. */
  readonly requests: readonly LoadRequest[];
}

export interface LoadPlan {
  readonly port: number;
  /** The authority of the server's certificate; the server speaks plain HTTP without one. */
  readonly ca?: string | undefined;
  readonly groups: readonly LoadGroup[];
}

/** A line of the output. */
export interface LoadReport {
  readonly connected: number;
  readonly statuses: Readonly<Record<number, number>>;
}

const reconnectMs = 200;
const reportMs = 500;

const plan = JSON.parse(process.argv[2] ?? '') as LoadPlan;
const bodies = new Map<string, Buffer>();
/** How many connections the clients have opened. */
let connected = 0;
/** How many answers had each status; 0 counts connections that ended without an answer. */
const statuses: Record<number, number> = {};

function bodyOf({ bodyFile }: LoadRequest): Buffer | undefined {
  if (bodyFile === undefined) return undefined;
  const body = bodies.get(bodyFile) ?? readFileSync(bodyFile);
  bodies.set(bodyFile, body);
  return body;
}

function headOf({ method, path, token, times, isChunked = false }: LoadRequest, body: Buffer | undefined): string {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: localhost'];
  if (times === undefined) lines.push('Connection: close');
  if (token !== undefined) lines.push(`Authorization: Bearer ${token}`);
  if (body !== undefined) lines.push('Content-Type: application/json');
  if (body !== undefined) lines.push(isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function inBytes(body: Buffer): Buffer {
  const chunks = Buffer.alloc(body.length * 6 + 5, '1\r\nx\r\n');
  body.forEach((byte, index) => void (chunks[index * 6 + 3] = byte));
  chunks.write('0\r\n\r\n', body.length * 6);
  return chunks;
}

function open(localAddress: string): Socket {
  const address = { port: plan.port, host: '127.0.0.1', localAddress };
  const { ca } = plan;
  const socket = ca === undefined ? connectTcp(address) : connectTls({ ...address, ca, servername: 'localhost' });
  socket.once(ca === undefined ? 'connect' : 'secureConnect', () => (connected += 1));
  return socket.on('error', () => {});
}

/** One connection, until it ends. */
async function exchange({ kind, from }: LoadGroup, request: LoadRequest): Promise<void> {
  const body = bodyOf(request);
  const socket = open(from);
  socket.write(headOf(request, body).repeat(request.times ?? 1));
  if (body !== undefined) {
    const sent = request.isChunked === true ? inBytes(body) : body;
    socket.write(kind === 'hold' ? sent.subarray(0, sent.length / 2) : sent);
  }
  let status: number | undefined;
  if (kind === 'read-nothing') socket.pause();
  else {
    socket.on('data', (chunk: Buffer) => {
      status ??= Number(/^HTTP\/1\.1 ([0-9]{3}) /.exec(chunk.subarray(0, 16).toString('latin1'))?.[1] ?? 0);
    });
  }
  await new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  if (kind !== 'read-nothing') statuses[status ?? 0] = (statuses[status ?? 0] ?? 0) + 1;
}

for (const group of plan.groups) {
  for (let client = 0; client < group.clients; client += 1) {
    const request = group.requests[client % group.requests.length];
    if (request === undefined) continue;
    void (async () => {
      for (;;) {
        await exchange(group, request);
        await pause(reconnectMs);
      }
    })();
  }
}
function report(): void {
  process.stdout.write(`${JSON.stringify({ connected, statuses } satisfies LoadReport)}\n`);
}
setInterval(report, reportMs);
