import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { type CliFolder, type CliSite, withCliSite } from '../../support/cli/cli-site.ts';
import type { RunningCommand } from '../../support/cli/running-command.ts';
import { BreakableProxy } from '../../support/faults/breakable-proxy.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

let site: CliSite;
let folder: CliFolder;

const resources = withCliSite(async (given) => {
  site = given;
  site.api.services.feed.start();
  await waitFor('the feed to hear', () => site.api.services.feed.ready);
});
beforeEach(async () => {
  folder = await site.newFolder();
  await folder.patch({ set: { A: 'first' } });
});

/** A program that prints its value of A and ends only when it is asked to. */
function program(source = '', ...flags: string[]): string[] {
  const print = `console.log('A is ' + process.env.A + '.');`;
  return ['run', '--watch', ...flags, '--', process.execPath, '-e', `setInterval(() => {}, 1000); ${source}; ${print}`];
}

/** Waits until the command is idle, and for the number of times that the program has started. */
async function startsOf(running: RunningCommand, idleMs = 2_500): Promise<number> {
  await pause(idleMs);
  return running.shown.split('A is ').length - 1;
}

async function endOf(running: RunningCommand): Promise<number | null> {
  running.process.kill('SIGTERM');
  return (await running.ended).code;
}

describe('run --watch', () => {
  test('starts the program again with new values, and says which keys changed', async () => {
    const running = folder.start(program('', '--allow-new'));
    await running.shows('A is first.');
    await folder.patch({ set: { A: 'hunter2', B: 'b' } });
    await running.shows(`Restarting: ${folder.place} is at revision 2 (~A +B)`);
    await running.shows('A is hunter2.');
    await folder.patch({ delete: ['A'] });
    await running.shows('A is undefined.');
    expect(await endOf(running)).toBe(143);
    expect((await running.ended).stderr).not.toContain('hunter2');
  });

  test('leaves out a variable that is new since the start, with a warning', async () => {
    const running = folder.start(program("console.log('B is ' + process.env.B)"));
    await running.shows('A is first.');
    await folder.patch({ set: { B: 'hunter2' } });
    await running.shows('warning: left out, because the program was started without it: B');
    expect(await startsOf(running)).toBe(1);
    await folder.patch({ set: { A: 'second' } });
    await running.shows('A is second.');
    expect(await endOf(running)).toBe(143);
    expect(running.shown).not.toContain('B is hunter2');
    expect((await running.ended).stderr.match(/left out/g)).toHaveLength(1);
  });

  test('a burst of changes is one restart, and a change of nothing is none', async () => {
    const running = folder.start(program());
    await running.shows('A is first.');
    // The command reads all of them at once, however long they take.
    running.process.kill('SIGSTOP');
    for (const value of ['1', '2', '3', '4']) await folder.patch({ set: { A: value } });
    running.process.kill('SIGCONT');
    await running.shows('A is 4.');
    expect(await startsOf(running)).toBe(2);
    await folder.patch({ set: { A: '4' } });
    expect(await startsOf(running)).toBe(2);
    expect(await endOf(running)).toBe(143);
  });

  test('ends as the program does when it ends by itself', async () => {
    const running = folder.start(program('setTimeout(() => process.exit(7), 1500)'));
    await running.shows('A is first.');
    expect((await running.ended).code).toBe(7);
    expect((await folder.run(['run', '--watch', '--', 'no-such-program'])).code).toBe(127);
  });

  test('--signal asks the program to end, and after --grace it is killed', async () => {
    const source = `process.on('SIGHUP', () => { console.log('got HUP'); process.exit(0); })`;
    const running = folder.start(program(source, '--signal', 'hup'));
    await running.shows('A is first.');
    await folder.patch({ set: { A: 'second' } });
    await running.shows('got HUP');
    await running.shows('A is second.');
    expect(await endOf(running)).toBe(143);
    const stubborn = folder.start(program(`process.on('SIGTERM', () => console.log('stays'))`, '--grace', '5s'));
    await stubborn.shows('A is second.');
    await folder.patch({ set: { A: 'third' } });
    await stubborn.shows('stays');
    await stubborn.shows('did not end within 5 seconds of SIGTERM, and is killed');
    await stubborn.shows('A is third.');
    stubborn.process.kill('SIGHUP');
    expect((await stubborn.ended).code).toBe(129);
  });

  test('a signal during a restart ends both', async () => {
    const mayEnd = JSON.stringify(folder.pathOf('may-end'));
    const end = `if (require('node:fs').existsSync(${mayEnd})) process.exit(5);`;
    const source = `process.on('SIGTERM', () => { console.log('slow'); setInterval(() => { ${end} }, 20); })`;
    const running = folder.start(program(source));
    await running.shows('A is first.');
    await folder.patch({ set: { A: 'second' } });
    await running.shows('slow');
    running.process.kill('SIGTERM');
    folder.write('may-end', '');
    expect((await running.ended).code).toBe(5);
    expect(running.shown).not.toContain('A is second.');
  });

  test('a signal that the program takes and survives does not prevent a later restart', async () => {
    const running = folder.start(program(`process.on('SIGHUP', () => console.log('reloaded'))`, '--grace', '1s'));
    await running.shows('A is first.');
    running.process.kill('SIGHUP');
    await running.shows('reloaded');
    await pause(1_100);
    await folder.patch({ set: { A: 'second' } });
    await running.shows('A is second.');
    expect(await endOf(running)).toBe(143);
  });

  test('an outage keeps the program, and what changed meanwhile restarts it afterwards', async () => {
    const proxy = await BreakableProxy.start(site.api.port);
    resources.defer(() => proxy.close());
    const running = folder.start(program(), { env: { KEYFRAME_URL: proxy.url } });
    await running.shows('A is first.');
    // The stream is open once a change arrives through it.
    await folder.patch({ set: { A: 'second' } });
    await running.shows('A is second.');
    proxy.stop();
    await running.shows('; reconnecting');
    await folder.patch({ set: { A: 'third' } });
    await pause(500);
    expect(running.shown).not.toContain('third');
    await proxy.resume();
    await running.shows('A is third.');
    expect(await endOf(running)).toBe(143);
  });

  test('values that cannot be read or used are a warning, and the program keeps its own', async () => {
    const running = folder.start(program('', '--allow-new'));
    await running.shows('A is first.');
    await folder.patch({ set: { NODE_OPTIONS: '--no-warnings', A: 'second' } });
    await running.shows('warning: revision 2 is left out: NODE_OPTIONS is a variable by which a value can run code');
    await folder.patch({ set: { NODE_OPTIONS: '\0' } });
    await running.shows('revision 3 is left out');
    await folder.patch({ delete: ['NODE_OPTIONS'], set: { LARGE: 'x'.repeat(200 * 1024) } });
    await running.shows('too large for a variable of a program (on Linux 128 KiB): LARGE');
    await running.shows('started again with the former values');
    await running.shows('A is first.');
    await folder.patch({ delete: ['LARGE'] });
    await running.shows('A is second.');
    expect(await endOf(running)).toBe(143);
  });

  test('a token that is revoked keeps the program', async () => {
    const { id, token } = await site.world.serviceToken({ scope: 'organization' });
    const running = folder.start(program(), { env: { KEYFRAME_TOKEN: token.reveal() } });
    await running.shows('A is first.');
    await folder.patch({ set: { A: 'second' } });
    await running.shows('A is second.');
    const owner = site.api.client(site.world.owner.token);
    await owner.expectStatus(204, 'DELETE', `/service-tokens/${folder.scope.organization}/${id}`);
    await folder.patch({ set: { A: 'third' } });
    await running.shows('; reconnecting');
    expect(await startsOf(running, 500)).toBe(2);
    expect(await endOf(running)).toBe(143);
    expect(running.shown).not.toContain(token.reveal());
  });

  test.each([
    [['--watch', '--revision', '1'], '--watch and --revision cannot be combined'],
    [['--signal', 'HUP'], '--signal and --grace belong to --watch'],
    [['--watch', '--signal', 'NONE'], '--signal must be the name of a signal'],
    [['--watch', '--grace', '5'], '--grace must be a duration'],
  ])('%j is refused, and nothing is run', async (flags, message) => {
    const { code, stdout, stderr } = await folder.run(['run', ...flags, '--', 'echo', 'run']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});
