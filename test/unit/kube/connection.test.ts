import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { KubeClient } from '../../../src/kube/client/client.ts';
import { makeAuthority } from '../../support/fixtures/certificate.ts';
import { FakeClock } from '../controller/fake-clock.ts';

let folder: string;
let server: Server;
let connections: number;
let clock: FakeClock;
let client: KubeClient | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'keyframe-connection-'));
  connections = 0;
  clock = new FakeClock();
  server = createServer(newIdentity(), (_, response) => response.end('{}'));
  server.on('secureConnection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(async () => {
  await client?.close();
  client = undefined;
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

/** A certificate of a new authority, whose own is written where the kubeconfig has it. */
function newIdentity(): { cert: string; key: string } {
  const authority = makeAuthority();
  writeFileSync(join(folder, 'ca.crt'), authority.certificate);
  const { certificate, key } = authority.issue({ names: [], addresses: ['127.0.0.1'] });
  return { cert: certificate, key };
}

function open(cluster: object = { 'certificate-authority': 'ca.crt' }): KubeClient {
  const { port } = server.address() as AddressInfo;
  const config = {
    clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${port}`, ...cluster } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(config));
  client = KubeClient.load({ kubeconfigFile: join(folder, 'kubeconfig'), clock });
  return client;
}

test('stays as long as the credentials are the same, although they are read again', async () => {
  const opened = open();
  for (let turn = 0; turn < 5; turn += 1) {
    await opened.request({ method: 'GET', path: '/' });
    await clock.advance(60_000);
  }
  expect(connections).toBeLessThanOrEqual(2);
});

test('is made again when the authority in the file was replaced, and the old one is no longer trusted', async () => {
  const opened = open();
  await opened.request({ method: 'GET', path: '/' });
  server.setSecureContext(newIdentity());
  server.closeAllConnections();
  await clock.advance(60_000);
  await expect(opened.request({ method: 'GET', path: '/' })).resolves.toEqual({});
  writeFileSync(join(folder, 'ca.crt'), makeAuthority().certificate);
  await clock.advance(60_000);
  await expect(opened.request({ method: 'GET', path: '/' })).rejects.toMatchObject({
    status: 0,
    reason: 'Unreachable',
  });
});

test('is refused to a server whose authority is not the one of the file', async () => {
  writeFileSync(join(folder, 'ca.crt'), makeAuthority().certificate);
  await expect(open().request({ method: 'GET', path: '/' })).rejects.toMatchObject({
    status: 0,
    reason: 'Unreachable',
  });
  expect(connections).toBe(0);
});

test('says which file cannot be read by the error that it throws, and works again when it is back', async () => {
  const opened = open();
  rmSync(join(folder, 'ca.crt'));
  await expect(opened.request({ method: 'GET', path: '/' })).rejects.toThrow(
    'the credentials for the API server cannot be read',
  );
  server.setSecureContext(newIdentity());
  await expect(opened.request({ method: 'GET', path: '/' })).resolves.toEqual({});
});

test('through a SOCKS proxy is refused with the advice to use another', async () => {
  const cluster = { 'certificate-authority': 'ca.crt', 'proxy-url': 'socks5://127.0.0.1:1' };
  await expect(open(cluster).request({ method: 'GET', path: '/' })).rejects.toThrow(
    'proxy-url must be an http or https proxy',
  );
});
