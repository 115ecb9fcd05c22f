import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { approvedLoginView } from '../../../src/wire/command-logins.ts';
import { SignedInBrowser } from '../../support/api/browser-session.ts';
import { CliRunner } from '../../support/cli/cli.ts';
import type { RunningCommand } from '../../support/cli/running-command.ts';
import { type TestApi, startTestApi } from '../../support/api/http.ts';
import { createWorld, type World } from '../../support/api/services.ts';

let api: TestApi;
let world: World;
let cli: CliRunner;
let url: string;

beforeAll(async () => {
  api = await startTestApi();
  world = await createWorld(api.services);
  url = `http://127.0.0.1:${api.port}`;
  cli = await CliRunner.create();
});

afterAll(async () => {
  cli.remove();
  await api.close();
});

afterEach(() => rmSync(cli.userFile, { force: true }));

function stored(): { url: string; token: string } {
  return JSON.parse(readFileSync(cli.userFile, 'utf8')) as { url: string; token: string };
}

/** The page that a command asks the user to open. */
async function pageOf(command: RunningCommand): Promise<URL> {
  await command.shows('/login?port=');
  await command.shows('\n');
  return new URL(/http:\S+\/login\?\S+/.exec(command.shown)?.[0] ?? '');
}

/** Approves in a session as the page does, and returns the code. */
async function approve(page: URL): Promise<string> {
  const browser = await SignedInBrowser.signIn(api, world.developer.token);
  const body = { codeChallenge: page.searchParams.get('challenge') };
  return approvedLoginView.parse(await browser.expectStatus(201, 'POST', '/logins', body)).code;
}

/** Where the page leads the browser. */
function callback(page: URL, code: string, state = page.searchParams.get('state') ?? ''): Promise<Response> {
  const query = new URLSearchParams({ code, state });
  return fetch(`http://127.0.0.1:${page.searchParams.get('port')}/callback?${query.toString()}`);
}

describe('login in the browser of the machine', () => {
  test('stores the token that the user approves, and prints neither it nor the code', async () => {
    const command = cli.start(['login', '--browser', '--url', url]);
    const page = await pageOf(command);
    expect(page.origin).toBe(url);
    const code = await approve(page);
    expect(await (await callback(page, code)).text()).toContain('You are signed in');
    const { code: exit, stdout, stderr } = await command.ended;
    expect([exit, stderr.includes('Signed in')]).toEqual([0, true]);
    const { token } = stored();
    expect(await cli.json(['whoami'])).toMatchObject({ type: 'user', id: world.developer.id });
    for (const secret of [token, code]) expect(stdout + stderr).not.toContain(secret);
    const listed = await cli.output(['token', 'list']);
    expect(listed).toMatch(/keyframe on \S+ +active/);
  });

  test('waits on when another page of the browser sends a code, and takes only its own state', async () => {
    const command = cli.start(['login', '--browser', '--url', url]);
    const page = await pageOf(command);
    const forged = await callback(page, 'a code of an attacker', 'another state');
    expect([forged.status, await forged.text()]).toEqual([400, 'This is not the sign-in that keyframe waits for.\n']);
    const port = page.searchParams.get('port');
    expect((await fetch(`http://127.0.0.1:${port}/?state=${page.searchParams.get('state')}&code=x`)).status).toBe(400);
    await callback(page, await approve(page));
    expect((await command.ended).code).toBe(0);
  });

  test('ends with 3 for a code that the server refuses, and stores nothing', async () => {
    const command = cli.start(['login', '--browser', '--url', url]);
    await callback(await pageOf(command), 'x'.repeat(43));
    const { code, stderr } = await command.ended;
    expect([code, stderr]).toEqual([3, expect.stringContaining('the code is wrong')]);
    expect(() => stored()).toThrow('ENOENT');
  });

  test('opens the browser at a terminal by default, and not over ssh', async () => {
    const opened = join(cli.folder, 'opened');
    const program = join(cli.folder, 'browser');
    writeFileSync(program, `#!/bin/sh\nprintf %s "$1" >'${opened}'\n`, { mode: 0o755 });
    const env = { BROWSER: program };
    const command = cli.startOnTerminal(['login', '--url', url], { env });
    const page = await pageOf(command);
    await callback(page, await approve(page));
    expect((await command.ended).code).toBe(0);
    expect(readFileSync(opened, 'utf8')).toContain(`/login?port=${page.searchParams.get('port')}&challenge=`);
    rmSync(cli.userFile);
    const prompted = [`Token for ${url}:`, `${world.owner.token.reveal()}\r`] as const;
    const { code } = await cli.onTerminal(['login', '--url', url], [prompted], {
      env: { ...env, SSH_CONNECTION: '192.0.2.1 1 192.0.2.2 22' },
    });
    expect(code).toBe(0);
  });

  test('takes one way to sign in', async () => {
    const { code, stderr } = await cli.run(['login', '--browser', '--device', '--url', url]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--token, --token-file, --device and --browser')]);
  });
});

describe('login in a browser of another machine', () => {
  test('stores the token when the user has typed the code', async () => {
    const command = cli.start(['login', '--device', '--url', url]);
    await command.shows(`Open ${url}/device in a browser, and type the code `);
    await command.shows('\n');
    const userCode = /the code ([A-Z]{4}-[A-Z]{4})/.exec(command.shown)?.[1];
    const browser = await SignedInBrowser.signIn(api, world.developer.token);
    await browser.expectStatus(204, 'POST', '/device-logins/approve', { userCode });
    expect((await command.ended).code).toBe(0);
    expect(await cli.json(['whoami'])).toMatchObject({ type: 'user', id: world.developer.id });
  });

  test('says so if the server allows none', async () => {
    const closed = await startTestApi({}, { deviceLogin: false });
    try {
      const { code, stderr } = await cli.run(['login', '--device', '--url', `http://127.0.0.1:${closed.port}`]);
      expect([code, stderr]).toEqual([4, expect.stringContaining('does not sign in commands on other machines')]);
    } finally {
      await closed.close();
    }
  });
});
