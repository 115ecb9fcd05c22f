import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { type CliFolder, type CliSite, withCliSite } from '../../support/cli/cli-site.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { BreakableProxy } from '../../support/faults/breakable-proxy.ts';
import { endlessLookup, laterEndlessLookup, unresolvedUrl } from '../../support/faults/endless-lookup.ts';

let site: CliSite;

const resources = withCliSite(async (given) => {
  site = given;
  site.api.services.feed.start();
  await waitFor('the feed to hear', () => site.api.services.feed.ready);
});

/** A change of an environment, as json prints it. */
interface Line {
  readonly revision: number;
  readonly changedByName: string;
  readonly keys: readonly { readonly key: string; readonly version: number | null; readonly action: string }[];
}

function linesOf(stdout: string): Line[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

async function folderWith(set: Record<string, string> = {}): Promise<CliFolder> {
  const folder = await site.newFolder();
  if (Object.keys(set).length > 0) await folder.patch({ set });
  return folder;
}

describe('watch', () => {
  test('prints a line per change with time, revision, user and signed keys, and no value', async () => {
    const folder = await folderWith({ KEPT: 'hunter2', GONE: 'hunter2' });
    const running = folder.start(['watch']);
    await running.shows(`Watching: ${folder.place} is at revision 1`);
    await folder.patch({ set: { KEPT: 'hunter3', NEW: 'hunter4' }, delete: ['GONE'] });
    await running.shows('\n');
    await running.shows('\n');
    await folder.patch({ set: { GONE: 'hunter5' } });
    await running.shows('+GONE');
    running.process.kill('SIGINT');
    const { code, stdout, stderr } = await running.ended;
    expect(code).toBe(130);
    const [first = '', second = ''] = stdout.split('\n');
    const by = site.world.owner.email;
    expect(first).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z {2}2 {2}/);
    expect(first.slice(first.indexOf('  '))).toBe(`  2  ${by}  -GONE ~KEPT +NEW`);
    expect(second.slice(second.indexOf('  '))).toBe(`  3  ${by}  +GONE`);
    expect(stdout + stderr).not.toContain('hunter');
  });

  test('ends at once by a signal, even while it looks up the name of the server', async () => {
    const folder = await site.newFolder();
    const env = { ...endlessLookup(folder.folder), KEYFRAME_URL: unresolvedUrl };
    for (const args of [['watch'], ['wait', '--revision', '1']]) {
      const running = folder.start(args, { env });
      await running.shows('the lookup has begun');
      running.process.kill('SIGTERM');
      expect(await running.ended).toMatchObject({ code: 143, signal: null, stderr: 'the lookup has begun\n' });
    }
  });

  test.each([
    [['watch'], 0, ''],
    [['watch', '--once'], 9, 'did not change within the time of --within'],
  ])('%j ends after --within, even while it looks up the name of the server', async (args, code, message) => {
    const folder = await site.newFolder();
    const env = { ...endlessLookup(folder.folder), KEYFRAME_URL: unresolvedUrl };
    const { ended } = folder.start([...args, '--within', '2s'], { env });
    expect(await ended).toMatchObject({ code, signal: null, stderr: expect.stringContaining(message) });
  });

  test('ends after --within if it connects again, and a lookup does not end', async () => {
    const folder = await folderWith({ A: '1' });
    const proxy = await BreakableProxy.start(site.api.port);
    resources.defer(() => proxy.close());
    const lookups = laterEndlessLookup(folder.folder);
    const env = { ...lookups.env, KEYFRAME_URL: proxy.url.replace('127.0.0.1', 'localhost') };
    const running = folder.start(['watch', '--within', '12s'], { env });
    await running.shows('Watching');
    lookups.begin();
    proxy.stop();
    await proxy.resume();
    await running.shows('the lookup has begun');
    expect(await running.ended).toMatchObject({ code: 0, signal: null });
  });

  test('--since shows former changes first, with the signs of their time', async () => {
    const folder = await folderWith({ A: '1' });
    await folder.patch({ set: { B: '1' } });
    await folder.patch({ set: { A: '2' }, delete: ['B'] });
    const running = folder.start(['watch', '--since', '0', '--output', 'json']);
    await running.shows('"revision":3');
    await running.shows('\n');
    running.process.kill('SIGTERM');
    const { stdout } = await running.ended;
    expect(linesOf(stdout).map(({ revision, keys }) => [revision, keys])).toEqual([
      [1, [{ key: 'A', version: 1, action: 'added' }]],
      [2, [{ key: 'B', version: 1, action: 'added' }]],
      [
        3,
        [
          { key: 'A', version: 2, action: 'changed' },
          { key: 'B', version: null, action: 'deleted' },
        ],
      ],
    ]);
    const named = await folder.output(['watch', '--since', '2', '--once', '--output', 'name']);
    const { revisionId } = await folder.list();
    expect(named).toBe(`${revisionId}\n`);
  });

  test('misses and repeats no change when the connection breaks', async () => {
    const folder = await folderWith({ A: '0' });
    const proxy = await BreakableProxy.start(site.api.port);
    resources.defer(() => proxy.close());
    const running = folder.start(['watch', '--output', 'json'], { env: { KEYFRAME_URL: proxy.url } });
    // json has no note of the beginning: a change is repeated until it is shown.
    for (let value = 1; !running.shown.includes('revision'); value += 1) {
      await folder.patch({ set: { A: `${value}` } });
      await pause(200);
    }
    const { revision: first } = await folder.list();
    await running.shows(`"revision":${first}`);
    proxy.stop();
    await running.shows('; reconnecting');
    for (const value of ['x', 'y', 'z']) await folder.patch({ set: { A: value } });
    await proxy.resume();
    await running.shows(`"revision":${first + 3}`);
    await folder.patch({ set: { A: 'end' } });
    await running.shows(`"revision":${first + 4}`);
    running.process.kill('SIGTERM');
    const { code, stdout, stderr } = await running.ended;
    expect(code).toBe(143);
    const shown = linesOf(stdout).map(({ revision }) => revision);
    expect(shown).toEqual(Array.from({ length: shown.length }, (_, index) => (shown[0] ?? 0) + index));
    expect(shown.slice(-5)).toEqual([0, 1, 2, 3, 4].map((number) => first + number));
    // Each line of standard error is a warning in JSON.
    for (const line of stderr.trimEnd().split('\n')) expect(JSON.parse(line)).toEqual({ warning: expect.any(String) });
  });

  test('reads the token again for each connection, and ends with 3 when it is refused', async () => {
    const folder = await folderWith({ A: '1' });
    const { id, token } = await site.world.serviceToken({ scope: 'organization' });
    folder.write('token', token.reveal());
    const env = { KEYFRAME_TOKEN: undefined, KEYFRAME_TOKEN_FILE: folder.pathOf('token') };
    const running = folder.start(['watch'], { env });
    await running.shows('Watching');
    const other = await site.world.serviceToken({ scope: 'organization' });
    folder.write('token', other.token.reveal());
    const owner = site.api.client(site.world.owner.token);
    await owner.expectStatus(204, 'DELETE', `/service-tokens/${folder.scope.organization}/${id}`);
    await folder.patch({ set: { A: '2' } });
    await running.shows('Connected again');
    await running.shows('~A');
    await owner.expectStatus(204, 'DELETE', `/service-tokens/${folder.scope.organization}/${other.id}`);
    await folder.patch({ set: { A: '3' } });
    const { code, stderr } = await running.ended;
    expect(code).toBe(3);
    expect(stderr).not.toContain('kf_svc_');
  });

  test('ends with 9 if --once sees nothing in time, and with 5 for an unknown revision or environment', async () => {
    const folder = await folderWith({ A: '1' });
    const late = await folder.run(['watch', '--once', '--within', '1s']);
    expect(late).toMatchObject({ code: 9, stdout: '' });
    expect(late.stderr).toContain(`${folder.place} did not change within the time of --within`);
    const ahead = await folder.run(['watch', '--since', '99']);
    expect(ahead).toMatchObject({ code: 5, stdout: '' });
    expect(ahead.stderr).toContain('has no such revision; it is at revision 1');
    const { code, stderr } = await folder.run(['watch', '-e', 'no-such']);
    expect(code).toBe(5);
    expect(stderr).toContain('no-such');
  });

  test('ends at once with 1 if the server cannot be reached', async () => {
    const folder = await folderWith();
    const { code, stderr } = await folder.run(['watch'], { env: { KEYFRAME_URL: 'http://127.0.0.1:9' } });
    expect(code).toBe(1);
    expect(stderr).toContain('cannot be reached');
  });

  test('ends quietly if its reader does', async () => {
    const folder = await folderWith({ A: '1' });
    await folder.patch({ set: { A: '2' } });
    const running = folder.start(['watch', '--since', '0', '--output', 'name']);
    await running.shows('\n');
    running.process.stdout.destroy();
    for (const value of ['3', '4']) await folder.patch({ set: { A: value } });
    expect(await running.ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining('error') });
  });
});

describe('wait', () => {
  test('ends when the revision is reached', async () => {
    const folder = await folderWith({ A: '1' });
    const running = folder.start(['wait', '--revision', '3', '--output', 'json']);
    await folder.patch({ set: { A: '2' } });
    const ended = await Promise.race([running.ended, pause(1_500)]);
    expect(ended).toBeUndefined();
    await folder.patch({ set: { A: '3' } });
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    const { revision, revisionId } = await folder.list();
    expect(JSON.parse(stdout)).toEqual({ revision, revisionId });
  });

  test('ends at once for a revision that was reached before, by number and by id', async () => {
    const folder = await folderWith({ A: '1' });
    const { revisionId } = await folder.list();
    await folder.patch({ set: { A: '2' } });
    for (const wanted of ['0', '1', '2', revisionId]) {
      const { code, stderr } = await folder.run(['wait', '--revision', wanted]);
      expect([wanted, code, stderr]).toEqual([wanted, 0, `${folder.place} is at revision 2\n`]);
    }
  });

  test.each(['1', '00000000-0000-4000-8000-000000000000'])(
    'for %s ends with 9 after --within, even while it looks up the name of the server',
    async (revision) => {
      const folder = await site.newFolder();
      const env = { ...endlessLookup(folder.folder), KEYFRAME_URL: unresolvedUrl };
      const { ended } = folder.start(['wait', '--revision', revision, '--within', '2s'], { env });
      const message = `${unresolvedUrl} has not answered in time`;
      expect(await ended).toMatchObject({ code: 9, signal: null, stderr: expect.stringContaining(message) });
    },
  );

  test('ends with 9 after --within, with 5 for an unknown id and with 2 for other text', async () => {
    const folder = await folderWith({ A: '1' });
    const late = await folder.run(['wait', '--revision', '2', '--within', '8s']);
    expect(late).toMatchObject({ code: 9, stdout: '' });
    expect(late.stderr).toContain(`${folder.place} has not reached revision 2 in time; it is at revision 1`);
    const unknown = await folder.run(['wait', '--revision', '00000000-0000-4000-8000-000000000000']);
    expect(unknown.code).toBe(5);
    expect((await folder.run(['wait', '--revision', 'latest'])).code).toBe(2);
    for (const within of ['0s', '5', '169h', 'soon']) {
      const { code, stderr } = await folder.run(['wait', '--revision', '1', '--within', within]);
      expect([within, code]).toEqual([within, 2]);
      expect(stderr).toContain('--within must be a duration such as 90s');
    }
  });
});
