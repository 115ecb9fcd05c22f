import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { type Server, createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buildCli } from '../../../tools/build/cli.ts';
import { approvedLoginView } from '../../../src/wire/command-logins.ts';
import { writeFolderFile } from '../../../src/cli/settings/folder-file.ts';
import { SignedInBrowser } from '../../support/api/browser-session.ts';
import { type CliFolder, type CliSite, withCliSite } from '../../support/cli/cli-site.ts';
import { nodeProgram, refusedNodes, supportedNodes } from '../../support/cli/node-releases.ts';
import { ConnectProxy } from '../../support/faults/connect-proxy.ts';
import { makeAuthority } from '../../support/fixtures/certificate.ts';
import { isFull } from '../../support/fixtures/test-size.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

let site: CliSite;
let tls: Server;
let tlsUrl: string;
let proxy: ConnectProxy;
const authority = makeAuthority();

withCliSite(async (given) => {
  site = given;
  site.api.services.feed.start();
  await waitFor('the feed to hear', () => site.api.services.feed.ready);
});
beforeAll(async () => {
  const { certificate: cert, key } = authority.issue({ names: ['keyframe.test'], addresses: ['127.0.0.1'] });
  tls = createServer({ cert, key }, (asked, response) => {
    const { method, url, headers } = asked;
    const onward = request({ port: site.api.port, host: '127.0.0.1', method, path: url, headers }, (answer) => {
      answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.headers));
    });
    asked.pipe(onward);
  });
  await once(tls.listen(0, '127.0.0.1'), 'listening');
  const { port } = tls.address() as AddressInfo;
  tlsUrl = `https://127.0.0.1:${port}`;
  proxy = await ConnectProxy.start({ target: port });
});
afterAll(() => {
  proxy.close();
  tls.closeAllConnections();
  tls.close();
});

// More than pipes hold.
const large = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`LARGE_${index}`, 'x'.repeat(250_000)]));

/** One thing that users do, and what shows that it was done. */
const ways: readonly (readonly [name: string, way: (folder: CliFolder) => Promise<void>])[] = [
  [
    'set, get and list',
    async (folder) => {
      await folder.output(['set', 'B=from an argument']);
      await folder.output(['set', 'C', '--stdin'], { input: 'from standard input' });
      expect(await folder.output(['get', 'B'])).toBe('from an argument');
      expect(await folder.output(['list'])).toMatch(/^A .*\nB .*\nC /m);
    },
  ],
  [
    'push and pull',
    async (folder) => {
      folder.write('.env', 'A=new\nD="two\\nlines"\n');
      await folder.output(['push', '.env', '--yes']);
      expect(await folder.output(['pull', '--format', 'json'])).toContain(String.raw`"two\nlines"`);
      expect(await folder.output(['pull', '--format', 'yaml'])).toContain('A: "new"');
      await folder.output(['pull', '--file', 'out.env']);
      expect(folder.read('out.env')).toContain('A=');
    },
  ],
  [
    'a large output to a slow reader',
    async (folder) => {
      await folder.patch({ set: large });
      const { stdout } = await folder.bash('keyframe pull --format json | (sleep 0.3; cat)');
      expect(JSON.parse(stdout)).toEqual({ A: 'first', ...large });
    },
  ],
  [
    'run, with a program that a signal ends',
    async (folder) => {
      const script = `console.log('A is ' + process.env.A); setInterval(() => {}, 1000)`;
      const running = folder.start(['run', '--', process.execPath, '-e', script]);
      await running.shows('A is first');
      running.process.kill('SIGTERM');
      expect((await running.ended).code).toBe(143);
    },
  ],
  [
    'watch, which reads a stream',
    async (folder) => {
      const running = folder.start(['watch', '--once', '--within', '60s']);
      await running.shows('is at revision 1');
      await folder.patch({ set: { NEW: 'hunter2' } });
      await running.shows('+NEW');
      expect((await running.ended).code).toBe(0);
    },
  ],
  [
    'edit',
    async (folder) => {
      const env = { EDITOR: `sed -i -e 's/first/edited/'` };
      await folder.output(['edit', '--yes'], { env });
      expect(await folder.secrets()).toEqual({ A: 'edited' });
    },
  ],
  [
    'login through TLS of a private authority',
    async (folder) => {
      const file = join(folder.folder, 'authority.pem');
      writeFileSync(file, authority.certificate);
      const token = site.world.owner.token.reveal();
      const env = { KEYFRAME_URL: tlsUrl, KEYFRAME_TOKEN: undefined, NODE_EXTRA_CA_CERTS: file };
      await folder.output(['login', '--url', tlsUrl, '--token', token], { env });
      expect(await folder.output(['get', 'A'], { env })).toBe('first');
      const unknown = await folder.run(['get', 'A'], { env: { ...env, NODE_EXTRA_CA_CERTS: undefined } });
      expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('NODE_EXTRA_CA_CERTS') });
    },
  ],
  [
    'get and watch through a proxy',
    async (folder) => {
      const file = join(folder.folder, 'authority.pem');
      writeFileSync(file, authority.certificate);
      const url = 'https://keyframe.test';
      const env = { KEYFRAME_URL: url, NODE_EXTRA_CA_CERTS: file, HTTPS_PROXY: proxy.url() };
      expect(await folder.output(['get', 'A'], { env })).toBe('first');
      const running = folder.start(['watch', '--once', '--within', '60s'], { env });
      await running.shows('is at revision 1');
      await folder.patch({ set: { NEW: 'hunter2' } });
      await running.shows('+NEW');
      expect((await running.ended).code).toBe(0);
    },
  ],
  [
    'trust at the same time, which waits for the lock of its file',
    async (folder) => {
      const names = ['one', 'two', 'three'];
      for (const name of names) {
        mkdirSync(folder.pathOf(name));
        writeFolderFile(folder.pathOf(name), folder.scope);
      }
      await Promise.all(names.map((name) => folder.output(['trust', '--yes'], { folder: name })));
      for (const name of names) expect(await folder.output(['get', 'A'], { folder: name })).toBe('first');
    },
  ],
  [
    'login with a browser',
    async (folder) => {
      const running = folder.start(['login', '--browser'], { env: { KEYFRAME_TOKEN: undefined } });
      await running.shows('/login?port=');
      await running.shows('\n');
      const { searchParams: asked } = new URL(/http:\S+/.exec(running.shown)?.[0] ?? '');
      const browser = await SignedInBrowser.signIn(site.api, site.world.owner.token);
      const challenge = { codeChallenge: asked.get('challenge') };
      const { code } = approvedLoginView.parse(await browser.expectStatus(201, 'POST', '/logins', challenge));
      const query = new URLSearchParams({ code, state: asked.get('state') ?? '' });
      await fetch(`http://127.0.0.1:${asked.get('port')}/callback?${query.toString()}`);
      expect((await running.ended).code).toBe(0);
      expect(await folder.output(['get', 'A'], { env: { KEYFRAME_TOKEN: undefined } })).toBe('first');
    },
  ],
  [
    'status and completion',
    async (folder) => {
      expect(await folder.output(['status'])).toContain('ready');
      expect(await folder.output(['__complete', '--', 'get', ''])).toContain('A');
      expect(await folder.output(['__complete', '--', 'invitation', 'accept', ''])).toContain(':');
    },
  ],
];

// The other files run the command on the newest one.
const nodes = isFull ? supportedNodes : supportedNodes.slice(0, 1);

describe.each(nodes)('the command on Node.js %s', (version) => {
  let node: string;

  beforeAll(async () => {
    node = await nodeProgram(version);
  });

  test('is run by that release', async () => {
    const { stdout } = await promisify(execFile)(node, ['--version']);
    expect(stdout).toBe(`v${version}\n`);
  });

  test.each(ways)('does: %s', async (_, way) => {
    const folder = await site.newFolder({ node });
    await folder.patch({ set: { A: 'first' } });
    await expect(way(folder)).resolves.toBeUndefined();
  });
});

test.each(refusedNodes)('Node.js %s is refused with one sentence', async (version) => {
  const run = promisify(execFile)(await nodeProgram(version), [await buildCli(), '--version']);
  await expect(run).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: `error: keyframe needs Node.js 20.16 or newer (of Node.js 22: 22.3 or newer); this is v${version}\n`,
  });
});
