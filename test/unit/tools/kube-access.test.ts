import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { KubeConfig } from '@kubernetes/client-node';
import { stringify } from 'yaml';
import { optionsFor, plainOptions, readContext } from '../../../tools/devcluster/cluster/kube-access.ts';
import { authorityIn, writeKubeconfigFor } from '../../../tools/devcluster/cluster/kubeconfig.ts';

const folder = mkdtempSync(join(tmpdir(), 'keyframe-kubeconfig-test-'));
const file = join(folder, 'kubeconfig');
const server = 'https://cluster.test:6443';
const data = (text: string): string => Buffer.from(text).toString('base64');

afterAll(() => rmSync(folder, { recursive: true }));

function write(cluster: object, user: object): void {
  const content = {
    clusters: [
      { name: 'other', cluster: { server: 'https://other.test' } },
      { name: 'here', cluster: { server, ...cluster } },
    ],
    users: [
      { name: 'other', user: { token: 'of-another' } },
      { name: 'me', user },
    ],
    contexts: [{ name: 'now', context: { cluster: 'here', user: 'me' } }],
    'current-context': 'now',
  };
  writeFileSync(file, stringify(content));
}

async function libraryOptions(): Promise<RequestOptions> {
  const config = new KubeConfig();
  config.loadFromFile(file);
  const options: RequestOptions = { headers: {} };
  await config.applyToHTTPSOptions(options);
  return options;
}

const shown = ({ ca, cert, key, headers, rejectUnauthorized }: RequestOptions): object => {
  return { ca, cert, key, headers, rejectUnauthorized };
};

describe('a kubeconfig', () => {
  test.each([
    ['a token', { 'certificate-authority-data': data('ca') }, { token: 'secret' }],
    [
      'a certificate',
      { 'certificate-authority-data': data('ca') },
      { 'client-certificate-data': data('c'), 'client-key-data': data('k') },
    ],
    [
      'files beside it',
      { 'certificate-authority': 'ca.crt' },
      { 'client-certificate': 'c.crt', 'client-key': 'k.pem' },
    ],
    ['no authority', {}, { token: 'secret' }],
  ])('with %s is read as the Kubernetes client reads it', async (_, cluster, user) => {
    for (const name of ['ca.crt', 'c.crt', 'k.pem']) writeFileSync(join(folder, name), `the content of ${name}`);
    write(cluster, user);
    const plain = plainOptions(readContext(file));
    expect(plain).toBeDefined();
    expect(shown(plain ?? {})).toEqual(shown(await libraryOptions()));
  });

  test.each([
    ['a token file', {}, { tokenFile: '/nonexistent/token' }],
    ['a plugin', {}, { exec: { command: 'login' } }],
    ['a password', {}, { username: 'me', password: 'secret' }],
    ['a proxy', { 'proxy-url': 'http://proxy.test' }, { token: 'secret' }],
    ['another name of the server', { 'tls-server-name': 'other.test' }, { token: 'secret' }],
    ['no check of the certificate', { 'insecure-skip-tls-verify': true }, { token: 'secret' }],
  ])('with %s is left to the Kubernetes client', (_, cluster, user) => {
    write(cluster, user);
    expect(plainOptions(readContext(file))).toBeUndefined();
  });

  test('that is left to the Kubernetes client gives what that makes of it', async () => {
    write({ 'insecure-skip-tls-verify': true }, { token: 'secret' });
    const options = await optionsFor(readContext(file));
    expect(shown(options)).toEqual(shown(await libraryOptions()));
    expect(options.rejectUnauthorized).toBe(false);
  });

  test('for another user leads to the same cluster', () => {
    writeFileSync(join(folder, 'ca.crt'), 'the authority');
    write({ 'certificate-authority': 'ca.crt', 'tls-server-name': 'other.test' }, { token: 'secret' });
    const other = join(folder, 'of-another');
    writeKubeconfigFor(other, file, { name: 'someone', token: 'of-someone' });
    const { cluster, user } = readContext(other);
    expect(cluster).toMatchObject({ server, 'tls-server-name': 'other.test' });
    expect(user).toEqual({ token: 'of-someone' });
    expect(authorityIn(other)).toBe('the authority');
  });

  test('without a current context is refused by its name', () => {
    writeFileSync(file, stringify({ clusters: [], users: [], contexts: [] }));
    expect(() => readContext(file)).toThrow(`${file} has no current context with a cluster.`);
  });
});
