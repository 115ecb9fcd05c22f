import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buildCli } from '../../../tools/build/cli.ts';
import { checkoutDirectory, workingVersion } from '../../../tools/checkout.ts';
import { type TestApi, startTestApi } from '../../support/api/http.ts';
import { createTestDatabase } from '../../support/database/postgres.ts';
import { ServerProcess } from '../../support/api/server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'keyframe-download-'));
const page = readFileSync(join(checkoutDirectory, 'docs', 'cli.md'), 'utf8');
let api: TestApi;
let url: string;
let built: string;

beforeAll(async () => {
  built = await buildCli();
  // As the image has it: its first line names the Node.js of the image.
  const commandFile = join(folder, 'keyframe.cjs');
  writeFileSync(commandFile, readFileSync(built, 'utf8').replace(/^#!.*/, '#!/app/bin/node'));
  api = await startTestApi({ commandFile });
  url = `http://127.0.0.1:${api.port}`;
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await api.close();
});

describe('GET /cli', () => {
  test('gives the command of this release to everyone, for any Node.js and no browser', async () => {
    const answer = await fetch(`${url}/cli`);
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment; filename="keyframe"',
      'cache-control': 'no-cache',
      etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
      'x-content-type-options': 'nosniff',
    });
    expect(await answer.text()).toBe(readFileSync(built, 'utf8'));
  });

  test('answers 304 to a caller who has it, and the head alone to HEAD', async () => {
    for (const path of ['/cli', '/cli.sha256']) {
      const tag = (await fetch(url + path)).headers.get('etag') ?? '';
      const again = await fetch(url + path, { headers: { 'If-None-Match': tag } });
      expect([again.status, await again.text()]).toEqual([304, '']);
      const other = await fetch(url + path, { headers: { 'If-None-Match': '"other"' } });
      expect(other.status).toBe(200);
      const head = await fetch(url + path, { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
      expect(Number(head.headers.get('content-length'))).toBe((await other.arrayBuffer()).byteLength);
    }
  });

  test('is read only, and at this path alone', async () => {
    expect((await fetch(`${url}/cli`, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${url}/cli/`)).status).toBe(404);
    expect((await fetch(`${url}/CLI`)).status).toBe(404);
  });

  test('is not found where the command was not built, and is once it is', async () => {
    const commandFile = join(folder, 'later.cjs');
    const other = await startTestApi({ commandFile });
    try {
      for (const path of ['/cli', '/cli.sha256']) {
        const answer = await fetch(`http://127.0.0.1:${other.port}${path}`);
        expect(answer.status).toBe(404);
        expect(await answer.json()).toMatchObject({
          code: 'not_found',
          detail: expect.stringContaining('npm run build'),
        });
      }
      writeFileSync(commandFile, '#!/bin/node\n');
      expect(await (await fetch(`http://127.0.0.1:${other.port}/cli`)).text()).toBe('#!/usr/bin/env node\n');
    } finally {
      await other.close();
    }
  });
});

describe('the built server', () => {
  test('serves the command that the build put beside it', async () => {
    await using resources = new AsyncDisposableStack();
    const database = await createTestDatabase();
    resources.defer(() => database.drop());
    const ROOT_KEY = `test:${randomBytes(32).toString('base64')}`;
    const server = await ServerProcess.start(resources, { role: 'api', env: { DATABASE_URL: database.url, ROOT_KEY } });
    expect(await (await fetch(`${server.url}/cli`)).text()).toBe(readFileSync(built, 'utf8'));
  });
});

describe('the section «Get the command» of docs/cli.md', () => {
  test('gives a command that runs', async () => {
    const [, script] = /## Get the command\n[^]*?```sh\n([^]*?)```/.exec(page) ?? [];
    const env = {
      PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(':'),
      KEYFRAME_URL: url,
      HOME: folder,
    };
    const run = promisify(execFile);
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script ?? 'exit 9'], { cwd: folder, env });
    expect(stdout).toBe(`keyframe: OK\n${workingVersion()}\n`);
    // The checksum is worth something: a changed file does not fit it.
    writeFileSync(join(folder, 'keyframe'), 'other');
    chmodSync(join(folder, 'keyframe'), 0o755);
    const check = 'curl -fsSL $KEYFRAME_URL/cli.sha256 | sha256sum --check';
    await expect(run('bash', ['-euo', 'pipefail', '-c', check], { cwd: folder, env })).rejects.toThrow('did NOT match');
  });
});

test('the command refuses a Node.js that is too old, and says which one it needs', async () => {
  const preload = join(folder, 'old.cjs');
  const code = 'process.getBuiltinModule = undefined;';
  writeFileSync(preload, code);
  const run = promisify(execFile)(process.execPath, ['--require', preload, built, '--version']);
  await expect(run).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: `error: keyframe needs Node.js 20.16 or newer (of Node.js 22: 22.3 or newer); this is ${process.version}\n`,
  });
});
