import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openClusterListener } from '../../../src/compose/cluster-listener.ts';
import { makeAuthority, signLeaf } from '../../../src/crypto/authority.ts';
import type { HttpServer } from '../../../src/http/server.ts';
import type { CertificateFiles, CertificatePair } from '../../../src/lib/certificate.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

/** The port of controllers, with real handshakes. */

const dayMs = 24 * 3_600_000;
const names = ['localhost'];
let open: AsyncDisposableStack;
let folder: string;
let lines: { readonly level: string; readonly msg: string; readonly detail?: string }[];
/** Added to the time of the machine: a client judges by that of the machine. */
let aheadMs: number;

beforeEach(() => {
  open = new AsyncDisposableStack();
  folder = mkdtempSync(join(tmpdir(), 'cluster-listener-'));
  open.defer(() => rmSync(folder, { recursive: true }));
  lines = [];
  aheadMs = 0;
});

afterEach(() => open.disposeAsync());

async function newAuthority(yearsAgo = 0): Promise<CertificatePair> {
  const { certificate, key } = await makeAuthority(names, Date.now() - yearsAgo * 365 * dayMs);
  return { cert: certificate, key: key.reveal() };
}

function write({ cert, key }: CertificatePair): CertificateFiles {
  const files = { certificateFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') };
  writeFileSync(files.certificateFile, cert);
  writeFileSync(files.keyFile, key);
  return files;
}

async function listen(
  pair: CertificatePair,
  { isAuthority = true, lookMs = 3_600_000 }: { readonly isAuthority?: boolean; readonly lookMs?: number } = {},
): Promise<HttpServer> {
  return openClusterListener(
    (_request, response) => response.end('yes'),
    {
      config: { port: 0, names, isAuthority, files: write(pair) },
      address: { host: '127.0.0.1' },
      logger: createLogger('info', { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) }),
      clock: { ...systemClock, now: () => Date.now() + aheadMs },
      lookMs,
    },
    open,
  );
}

/** Resolves after the handshake; rejects with what the client refuses. */
async function handshake(
  server: HttpServer,
  { cert }: Pick<CertificatePair, 'cert'>,
  options: ConnectionOptions = {},
): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port: server.port, servername: 'localhost', ca: cert, ...options });
  open.defer(() => void socket.destroy());
  await once(socket, 'secureConnect');
  socket.on('error', () => undefined);
  return socket;
}

async function serialOf(server: HttpServer, authority: CertificatePair): Promise<string> {
  const socket = await handshake(server, authority);
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

async function ask(socket: TLSSocket): Promise<string> {
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return answer.toString().split('\r\n', 1)[0] ?? '';
}

const tooOld: ConnectionOptions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };

describe('with a CA', () => {
  test('a client that trusts it gets an answer over TLS 1.3', async () => {
    const authority = await newAuthority();
    const socket = await handshake(await listen(authority), authority);
    expect([socket.getProtocol(), await ask(socket)]).toEqual(['TLSv1.3', 'HTTP/1.1 200 OK']);
  });

  test('a client that trusts another CA, or asks for another name, refuses the server', async () => {
    const [authority, other] = [await newAuthority(), await newAuthority()];
    const server = await listen(authority);
    await expect(handshake(server, other)).rejects.toThrow('unable to verify');
    await expect(handshake(server, authority, { servername: 'other.test' })).rejects.toThrow('does not match');
  });

  test('a client without TLS 1.2 is refused, also after a renewal', async () => {
    const authority = await newAuthority(1);
    aheadMs = -21 * dayMs;
    const server = await listen(authority, { lookMs: 5 });
    await expect(handshake(server, authority, tooOld)).rejects.toThrow('protocol version');
    const before = await serialOf(server, authority);
    aheadMs = 0;
    await waitFor('the renewal', async () => (await serialOf(server, authority)) !== before);
    await expect(handshake(server, authority, tooOld)).rejects.toThrow('protocol version');
  });

  test('the certificate is renewed before its end, and open connections go on', async () => {
    const authority = await newAuthority(1);
    aheadMs = -19 * dayMs;
    const server = await listen(authority, { lookMs: 5 });
    const socket = await handshake(server, authority);
    const before = await serialOf(server, authority);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await serialOf(server, authority)).toBe(before);
    aheadMs = 2 * dayMs;
    await waitFor('the renewal', () => lines.length > 0);
    expect(lines).toEqual([expect.objectContaining({ msg: 'the port of controllers uses the renewed certificate' })]);
    expect(await ask(socket)).toBe('HTTP/1.1 200 OK');
    socket.destroy();
  });

  test('an expired certificate is never shown, and the next look renews it after a long sleep', async () => {
    const authority = await newAuthority(1);
    aheadMs = -29 * dayMs;
    const server = await listen(authority, { lookMs: 300 });
    aheadMs = 2 * dayMs;
    const socket = connect({ host: '127.0.0.1', port: server.port, servername: 'localhost', ca: authority.cert });
    open.defer(() => void socket.destroy());
    const [error] = (await once(socket, 'error', { signal: AbortSignal.timeout(10_000) })) as [NodeJS.ErrnoException];
    expect([error.code, socket.getPeerCertificate()]).toEqual(['ECONNRESET', null]);
    await waitFor('the renewal', () => lines.length > 0);
    // Two days are to come on this machine.
    await expect(handshake(server, authority)).rejects.toThrow('certificate is not yet valid');
  });

  test('another CA in its files signs the next certificate, and a broken one is reported once', async () => {
    const [authority, other] = [await newAuthority(), await newAuthority()];
    const server = await listen(authority, { lookMs: 5 });
    write({ cert: other.cert, key: authority.key });
    await waitFor('the fault', () => lines.length > 0);
    await serialOf(server, authority);
    write(other);
    await waitFor('the renewal', () => lines.length > 1);
    await serialOf(server, other);
    await expect(handshake(server, authority)).rejects.toThrow('unable to verify');
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'warn',
        detail:
          'KEYFRAME_CLUSTER_CA_FILE names a certificate that is for another key than that of KEYFRAME_CLUSTER_CA_KEY_FILE',
      }),
      expect.objectContaining({ level: 'info' }),
    ]);
  });

  test('that ends soon, the log warns, and the last certificate is not signed again and again', async () => {
    const authority = await newAuthority(10);
    const server = await listen(authority, { lookMs: 5 });
    const before = await serialOf(server, authority);
    aheadMs = 2 * dayMs;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await serialOf(server, authority)).toBe(before);
    expect(lines.map(({ level, msg }) => [level, msg.split(':', 1)[0]])).toEqual([
      ['warn', 'the CA of the port of controllers expires'],
    ]);
  });

  test('that may not sign for a name, the program ends with advice', async () => {
    const { certificate, key } = await makeAuthority(['other.test'], Date.now());
    await expect(listen({ cert: certificate, key: key.reveal() })).rejects.toMatchObject({
      exitCode: 78,
      message: expect.stringMatching(
        /^KEYFRAME_CLUSTER_CA_FILE names a CA whose certificate for localhost controllers would refuse \(permitted subtree violation\): correct/,
      ),
    });
  });

  test('that has expired, the program ends with advice', async () => {
    await expect(listen(await newAuthority(11))).rejects.toMatchObject({
      exitCode: 78,
      message: expect.stringMatching(/^KEYFRAME_CLUSTER_CA_FILE names a CA that expired at .*: delete its Secret/),
    });
  });
});

describe('with a certificate in files', () => {
  test('it is shown, and replaced by another one in the files', async () => {
    const authority = await newAuthority();
    const first = await signLeaf(authority, names, Date.now());
    const server = await listen(first, { isAuthority: false, lookMs: 5 });
    const before = await serialOf(server, authority);
    write(await signLeaf(authority, names, Date.now()));
    await waitFor('the other one', async () => (await serialOf(server, authority)) !== before);
  });
});
