import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { type CliFolder, type CliSite, withCliSite } from '../../support/cli/cli-site.ts';
import { EditFolder } from '../../support/cli/edit-folder.ts';
import type { RunningCommand } from '../../support/cli/running-command.ts';
import { LockSession } from '../../support/database/locks.ts';
import { BreakableProxy } from '../../support/faults/breakable-proxy.ts';
import { endlessLookup, unresolvedUrl } from '../../support/faults/endless-lookup.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

/** What happens to a draft of `keyframe edit` if it cannot be applied at once. */

let site: CliSite;
let cli: CliFolder;
let folder: EditFolder;

withCliSite((given) => {
  site = given;
});
beforeEach(async () => {
  cli = await site.newFolder();
  folder = new EditFolder(cli);
  await cli.patch({ set: { A: 'hunter1', B: 'hunter2', GONE: 'x' } });
});

const change = `sed -i -e s/hunter1/hunter3/ -e '/^GONE=/d' "$1"`;
const changed = { A: 'hunter3', B: 'hunter2' };

describe('a draft with an error', () => {
  test.each([
    ['env', `sed -i '4s/.*/hunter9 hunter9/' "$1"`, 4],
    ['yaml', `sed -i '5s/.*/B: [hunter9]/' "$1"`, 5],
    ['json', `sed -i '6s/.*/"B": hunter9,/' "$1"`, 6],
  ])('is kept with the error at its top, which names the line and no value (%s)', async (format, broken, line) => {
    const { code, stderr } = await folder.edit(broken, '--format', format);
    expect(code).toBe(2);
    expect(stderr).toContain(`error: the draft has an error: line ${line}: `);
    expect(stderr).not.toContain('hunter');
    const path = folder.keptDraft(stderr);
    const lines = folder.linesOf(path);
    expect(lines[2]).toMatch(new RegExp(`^# error: line ${line}: `));
    expect(lines[line - 1]).toContain('hunter9');
    const again = await folder.edit('true', '--draft', path);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining(`line ${line}: `) });
    expect(folder.linesOf(path)).toEqual(lines);
    expect((await cli.list()).revision).toBe(1);
  });

  test('is opened again on a terminal until it is corrected', async () => {
    const command = folder.start(`echo x >> "$HERE/count"; case $(wc -l < "$HERE/count") in
      1) echo 'no line' >> "$1";;
      2) sed -n 3p "$1" > "$HERE/seen"; echo 'nor this' >> "$1";;
      3) sed -i -e '/^no/d' -e s/hunter1/hunter3/ "$1";;
      esac`);
    await command.shows('~ A\r\n');
    command.type('y\r');
    expect(await command.ended).toMatchObject({ code: 0 });
    expect(cli.read('seen')).toMatch(/^# error: line 7: is neither KEY=value/);
    expect(await cli.secrets()).toMatchObject({ A: 'hunter3', B: 'hunter2' });
    expect(folder.kept).toEqual([]);
  });

  test('is kept if it is closed as it was opened', async () => {
    const command = folder.start(`grep -q '^no line' "$1" || echo 'no line' >> "$1"; echo x >> "$HERE/count"`);
    const { code, stdout } = await command.ended;
    expect(code).toBe(2);
    expect(cli.read('count')).toBe('x\nx\n');
    folder.keptDraft(stdout);
  });

  test('is opened again a limited number of times', async () => {
    const command = folder.start(`echo 'no line' >> "$1"; echo x >> "$HERE/count"`);
    expect(await command.ended).toMatchObject({ code: 2 });
    expect(cli.read('count')).toBe('x\n'.repeat(20));
  });

  test('that is not UTF-8 is kept as it is', async () => {
    const { code, stderr } = await folder.edit(`printf 'C=\\377\\n' >> "$1"`);
    expect(code).toBe(2);
    expect(stderr).toContain('it is not text in UTF-8');
    expect(readFileSync(folder.keptDraft(stderr)).includes(0xff)).toBe(true);
  });
});

describe('if the environment has changed in the meantime', () => {
  /** An editor that changes the draft while another user changes the environment. */
  async function conflict(...pairs: readonly string[]): Promise<string> {
    cli.write('token', site.world.owner.token.reveal());
    const other = `keyframe set ${pairs.join(' ')} --yes --token-file token > /dev/null || exit 9`;
    const { code, stderr } = await folder.edit(`${other}; ${change}`);
    expect(code).toBe(6);
    expect(stderr).toMatch(/^error: .*revision/m);
    return folder.keptDraft(stderr);
  }

  test('nothing is applied, and the kept draft takes back no change of others', async () => {
    const path = await conflict('B=theirs', 'C=theirs');
    expect(await cli.secrets()).toEqual({ A: 'hunter1', B: 'theirs', C: 'theirs', GONE: 'x' });
    const { code, stdout, stderr } = await folder.edit('true', '--draft', path);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'A\nGONE\n' });
    expect(stderr).toContain('(revision 1, now 2); your edits are applied to revision 2');
    expect(await cli.secrets()).toEqual({ A: 'hunter3', B: 'theirs', C: 'theirs' });
    expect(folder.kept).toEqual([]);
  });

  test('a secret that both have changed is named in the draft and in the plan', async () => {
    const path = await conflict('A=theirs');
    const command = folder.start('sed -n 3p "$1" > "$HERE/seen"', '--draft', path);
    await command.shows('others have changed A too; the draft has your values');
    await command.shows('  ~ A  (others have changed it since the draft was made)');
    command.type('n\r');
    expect(await command.ended).toMatchObject({ code: 7 });
    expect(cli.read('seen')).toBe('# Others have changed A since; this draft has your values.\n');
    expect(await cli.secrets()).toMatchObject({ A: 'theirs' });
    expect(await folder.edit('true', '--draft', path)).toMatchObject({ code: 0 });
    expect(await cli.secrets()).toEqual(changed);
  });

  test('a draft that others have made already changes nothing, and is removed', async () => {
    const path = await conflict('A=hunter3');
    await cli.patch({ delete: ['GONE'] });
    const { code, stderr } = await folder.edit('true', '--draft', path);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('Nothing to change') });
    expect(folder.kept).toEqual([]);
  });

  test('a change between the answer and the write conflicts too', async () => {
    const command = folder.start(change);
    await command.shows('[y/N]');
    await cli.patch({ set: { C: 'theirs' } });
    command.type('y\r');
    const { code, stdout } = await command.ended;
    expect(code).toBe(6);
    expect(await cli.secrets()).toMatchObject({ A: 'hunter1', C: 'theirs' });
    expect(await folder.edit('true', '--draft', folder.keptDraft(stdout))).toMatchObject({ code: 0 });
    expect(await cli.secrets()).toEqual({ ...changed, C: 'theirs' });
  });

  test('--expected-revision refuses before the editor opens, and before a draft is changed', async () => {
    const opened = 'touch "$HERE/opened"';
    const { code, stderr } = await folder.edit(opened, '--expected-revision', '7');
    expect(code).toBe(6);
    expect(stderr).toContain('is at revision 1, not at the expected one');
    expect(folder.kept).toEqual([]);
    const path = await conflict('B=theirs');
    const lines = folder.linesOf(path);
    expect(await folder.edit(opened, '--draft', path, '--expected-revision', '1')).toMatchObject({ code: 6 });
    expect(folder.linesOf(path)).toEqual(lines);
    expect(existsSync(cli.pathOf('opened'))).toBe(false);
  });

  test('a draft for another server, and a file that is none, are refused', async () => {
    const path = await conflict('B=theirs');
    const elsewhere = await folder.edit('true', '--draft', path, '--url', `http://localhost:${site.api.port}`);
    expect(elsewhere.code).toBe(2);
    expect(elsewhere.stderr).toContain('is a draft for the server http://127.0.0.1');
    for (const other of ['editor.sh', 'no-such-file', 'runtime', `${path}/../.base.json`]) {
      const { code, stderr } = await folder.edit('true', '--draft', other);
      expect(code).toBe(2);
      expect(stderr).toContain('is no draft that keyframe edit has kept');
    }
    chmodSync(dirname(path), 0o750);
    const open = await folder.edit('true', '--draft', path);
    expect(open).toMatchObject({ code: 2, stderr: expect.stringContaining('is no draft that keyframe edit has kept') });
    chmodSync(dirname(path), 0o700);
    for (const flags of [['A'], ['--format', 'env'], ['-e', 'other']]) {
      expect(await folder.edit('true', '--draft', path, ...flags)).toMatchObject({ code: 2 });
    }
    expect(folder.keptDraft(`is kept in ${path}; to take it up again: keyframe edit --draft ${path}`)).toBe(path);
  });
});

describe('if the server is away', () => {
  test('the draft is kept, and applied when it is back', async () => {
    await using resources = new AsyncDisposableStack();
    const proxy = await BreakableProxy.start(site.api.port);
    resources.defer(() => proxy.close());
    const env = { ...folder.editor(change), KEYFRAME_URL: proxy.url };
    const command = cli.startOnTerminal(['edit'], { env });
    await command.shows('[y/N]');
    proxy.stop();
    command.type('y\r');
    const { code, stdout } = await command.ended;
    expect(code).toBe(1);
    expect(stdout).toContain('cannot be reached');
    const path = folder.keptDraft(stdout);
    await proxy.resume();
    expect(await folder.edit('true', '--draft', path, '--url', proxy.url)).toMatchObject({ code: 0 });
    expect(await cli.secrets()).toEqual(changed);
  });
});

describe('a signal', () => {
  const waiting = `${change}; echo "editor is open"; exec sleep 60`;

  function startWithPipes(script: string): RunningCommand {
    return cli.start(['edit', '--yes'], { env: folder.editor(script) });
  }

  async function expectNothingLeft(): Promise<void> {
    expect(folder.kept).toEqual([]);
    expect((await cli.list()).revision).toBe(1);
  }

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('%s ends the editor and removes the draft', async (signal, code) => {
    const command = startWithPipes(waiting);
    await command.shows('editor is open');
    expect(folder.kept).toHaveLength(1);
    command.process.kill(signal);
    const end = await command.ended;
    expect(end).toMatchObject({ code, stdout: '' });
    expect(end.stderr).toContain('interrupted; nothing was changed, and the draft was removed');
    await expectNothingLeft();
  });

  test('Ctrl-C that ends the editor removes the draft', async () => {
    const command = folder.start(waiting);
    await command.shows('editor is open');
    command.type('\u0003');
    expect(await command.ended).toMatchObject({ code: 130 });
    await expectNothingLeft();
  });

  test('Ctrl-C that the editor uses itself does not end the edit', async () => {
    const command = folder.start(`trap 'touch "$HERE/trapped"' INT; echo "editor is open"
      until [ -e "$HERE/trapped" ]; do sleep 0.05; done; ${change}`);
    await command.shows('editor is open');
    command.type('\u0003');
    await command.shows('[y/N]');
    command.type('y\r');
    expect(await command.ended).toMatchObject({ code: 0 });
    expect(await cli.secrets()).toEqual(changed);
  });

  test('Ctrl-C in place of an answer removes the draft', async () => {
    const command = folder.start(change);
    await command.shows('[y/N]');
    expect(folder.kept).toHaveLength(1);
    command.type('\u0003');
    expect(await command.ended).toMatchObject({ code: 130 });
    await expectNothingLeft();
  });

  test('in place of an answer removes the draft, and the terminal has its settings back', async () => {
    const env = folder.editor(`${change}; ps -o ppid= -p $$ > "$HERE/parent"`);
    const line = `keyframe edit; echo "ended with $?"; stty -a | tr ' ;' '\\n\\n' | grep 'icanon$'; echo done`;
    const shell = cli.startBashOnTerminal(line, { env });
    await shell.shows('[y/N]');
    process.kill(Number(cli.read('parent')), 'SIGTERM');
    await shell.shows('ended with 143');
    await shell.shows('done');
    expect((await shell.ended).stdout).toMatch(/\r\nicanon\r\ndone/);
    await expectNothingLeft();
  });

  test('ends the command at once while it looks up the name of the server', async () => {
    const env = { ...folder.editor(change), ...endlessLookup(cli.folder), KEYFRAME_URL: unresolvedUrl };
    const command = cli.start(['edit', '--yes'], { env });
    await command.shows('the lookup has begun');
    command.process.kill('SIGTERM');
    expect(await command.ended).toMatchObject({ code: 143, signal: null, stderr: 'the lookup has begun\n' });
  });

  test('while the server writes keeps the draft', async () => {
    const session = await LockSession.begin(site.api.database.url);
    try {
      await session.run('SELECT id FROM environment WHERE slug = $1 FOR UPDATE', [cli.scope.environment]);
      const command = startWithPipes(change);
      await session.waitForBlocked(1);
      command.process.kill('SIGTERM');
      const { code, stderr } = await command.ended;
      expect(code).toBe(143);
      expect(folder.linesOf(folder.keptDraft(stderr))).toContain('A=hunter3');
    } finally {
      await session.commit();
    }
    // The server had the request already.
    await waitFor('the change', async () => (await cli.list()).revision === 2);
    const [name = ''] = folder.kept;
    const path = `${folder.runtime}/${name}/${cli.scope.environment}.env`;
    const again = await folder.edit('true', '--draft', path);
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('Nothing to change') });
  });
});
