import { existsSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type CliFolder, type CliSite, withCliSite } from '../../support/cli/cli-site.ts';
import { EditFolder } from '../../support/cli/edit-folder.ts';
import { secretKeys, secretValues } from '../../unit/cli/formats/arbitraries.ts';

let site: CliSite;
let cli: CliFolder;
let folder: EditFolder;

withCliSite((given) => {
  site = given;
});
beforeEach(async () => {
  cli = await site.newFolder();
  folder = new EditFolder(cli);
});

const revision = async (): Promise<number> => (await cli.list()).revision;

describe('edit', () => {
  beforeEach(async () => {
    await cli.patch({ set: { SAME: 'hunter1', OTHER: 'hunter2', GONE: 'hunter3' } });
  });

  const script = `sed -i -e 's/^OTHER=.*/OTHER=hunter4/' -e '/^GONE=/d' "$1"; echo NEW=hunter5 >> "$1"`;

  test('shows a plan without values, and applies it as one revision', async () => {
    const { code, stdout, stderr } = await folder.edit(script, '--comment', 'in the editor');
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'GONE\nNEW\nOTHER\n' });
    expect(stderr).toBe(
      `Plan for ${cli.place} from your draft:\n  - GONE\n  + NEW\n  ~ OTHER\n` +
        `Done: 1 new, 1 changed, 1 deleted, 1 unchanged; ${cli.place} is at revision 2\n`,
    );
    const { secrets } = await cli.list();
    expect(secrets.map(({ key, value, version }) => [key, value, version])).toEqual([
      ['NEW', 'hunter5', 1],
      ['OTHER', 'hunter4', 2],
      ['SAME', 'hunter1', 1],
    ]);
    expect(await cli.output(['history', '--limit', '1'])).toContain('in the editor');
    expect(folder.kept).toEqual([]);
  });

  test('asks on a terminal, and a no keeps the draft', async () => {
    const { shown, code } = await cli.onTerminal(['edit'], [['[y/N]', 'n\r']], { env: folder.editor(script) });
    expect(code).toBe(7);
    expect(shown).toMatch(/Plan for .*\s+- GONE\s+\+ NEW\s+~ OTHER\s[^]*Apply these changes to .*\? \[y\/N\]/);
    expect(shown).not.toContain('hunter');
    expect(await revision()).toBe(1);
    const path = folder.keptDraft(shown);
    const options = { env: folder.editor('true') };
    const again = await cli.onTerminal(['edit', '--draft', path], [['[y/N]', 'y\r']], options);
    expect(again.code).toBe(0);
    expect(await cli.secrets()).toEqual({ SAME: 'hunter1', OTHER: 'hunter4', NEW: 'hunter5' });
    expect(folder.kept).toEqual([]);
  });

  test('asks before it deletes one secret', async () => {
    const env = folder.editor(`sed -i '/^GONE=/d' "$1"`);
    const { shown, code } = await cli.onTerminal(['edit'], [['[y/N]', 'n\r']], { env });
    expect(code).toBe(7);
    expect(shown).toContain('  - GONE\r\n');
    expect(await cli.secrets()).toHaveProperty('GONE');
  });

  test('opens no editor without a terminal and without --yes', async () => {
    const { code, stderr } = await cli.run(['edit'], { env: folder.editor('touch "$HERE/opened"') });
    expect(code).toBe(7);
    expect(stderr).toContain('To continue without confirmation, add --yes');
    expect(existsSync(cli.pathOf('opened'))).toBe(false);
    expect(folder.kept).toEqual([]);
  });

  test.each([
    ['nothing', 'true'],
    ['an empty line', 'echo >> "$1"'],
    ['the header', `sed -i '1,3d' "$1"`],
    ['quotes', `sed -i 's/SAME=hunter1/SAME="hunter1"/' "$1"`],
  ])('writes nothing if the editor changes only %s', async (_case, unchanged) => {
    expect(await folder.edit(unchanged)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'Nothing to change: 0 new, 0 changed, 0 deleted, 3 unchanged\n',
    });
    expect(folder.kept).toEqual([]);
    expect(await revision()).toBe(1);
  });

  test.each([
    ['is empty', ': > "$1"'],
    ['holds only its header', 'head -3 "$1" > "$1.new" && mv "$1.new" "$1"'],
    ['was deleted', 'rm "$1"'],
  ])('is cancelled if the draft %s', async (_case, emptied) => {
    for (const format of ['env', 'yaml', 'json']) {
      const { code, stderr } = await folder.edit(emptied, '--format', format);
      expect(code).toBe(0);
      expect(stderr).toContain('The draft is empty: cancelled');
      expect(folder.kept).toEqual([]);
    }
    expect(await revision()).toBe(1);
  });

  test.each([
    ['env', `sed -i 's/^/# /' "$1"`],
    ['json', 'echo {} > "$1"'],
    ['yaml', 'echo {} > "$1"'],
  ])('never deletes everything for a draft without secrets (%s)', async (format, none) => {
    const { code, stderr } = await folder.edit(none, '--format', format);
    expect(code).toBe(2);
    expect(stderr).toContain('it holds no secret; to delete secrets, name them: keyframe unset');
    await folder.edit(': > "$1"', '--draft', folder.keptDraft(stderr));
    expect(folder.kept).toEqual([]);
    expect(await revision()).toBe(1);
  });

  test.each([
    ['yaml', `sed -i 's/^OTHER: .*/OTHER: "4"/' "$1"`],
    ['json', `sed -i 's/"OTHER": .*/"OTHER": "4",/' "$1"`],
  ])('does the same as %s', async (format, change) => {
    expect(await folder.edit(change, '--format', format)).toMatchObject({ code: 0, stdout: 'OTHER\n' });
    expect(await cli.secrets()).toEqual({ SAME: 'hunter1', OTHER: '4', GONE: 'hunter3' });
  });

  test('prints the same object as push, and what the editor prints is not part of it', async () => {
    const env = folder.editor(`echo from the editor; ${script}`);
    const { code, stdout, stderr } = await cli.run(['edit', '--yes', '--output', 'json'], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'from the editor\n' });
    const keys = { added: ['NEW'], changed: ['OTHER'], removed: ['GONE'], unchanged: ['SAME'], kept: [] };
    expect(JSON.parse(stdout)).toMatchObject({ ...keys, dryRun: false, deleted: ['GONE'], revision: 2 });
    expect(await cli.output(['edit', '--yes', '--output', 'name'], { env: folder.editor('true') })).toBe('');
  });

  test('creates secrets in an empty environment', async () => {
    const empty = new EditFolder(await site.newFolder());
    expect(await empty.edit('true')).toMatchObject({ code: 0, stdout: '' });
    expect(await empty.edit('echo A=1 >> "$1"')).toMatchObject({ code: 0, stdout: 'A\n' });
    expect(await empty.cli.secrets()).toEqual({ A: '1' });
  });

  test('warns of new lines that other programs read differently, and not of old ones', async () => {
    await cli.patch({ set: { OLD: 'a\'"`$b' } });
    const { code, stderr } = await folder.edit('echo NEW=a#b >> "$1"');
    expect(code).toBe(0);
    expect(stderr.match(/^warning: .*$/gm)).toEqual([expect.stringMatching(/^warning: line \d+, NEW: a # without/)]);
  });

  test('carries every value in every format', async () => {
    const nasty = new Map([...fc.sample(fc.tuple(secretKeys, secretValues), 200), ['LONG', '\0"\\\n'.repeat(1024)]]);
    await cli.patch({ set: Object.fromEntries(nasty), delete: ['SAME', 'OTHER', 'GONE'] });
    for (const format of ['env', 'yaml', 'json']) {
      expect(await folder.edit('touch "$1"', '--format', format)).toMatchObject({
        code: 0,
        stderr: `Nothing to change: 0 new, 0 changed, 0 deleted, ${nasty.size} unchanged\n`,
      });
    }
    expect(await folder.edit('echo ADDED_BY_EDIT=1 >> "$1"')).toMatchObject({ code: 0, stdout: 'ADDED_BY_EDIT\n' });
    expect(await cli.secrets()).toEqual({ ...Object.fromEntries(nasty), ADDED_BY_EDIT: '1' });
  });
});

describe('edit of one secret', () => {
  // What vi and nano do: they end the last line.
  const likeVi = (command: string): string => `sed -i '${command}' "$1"; [ -z "$(tail -c 1 "$1")" ] || echo >> "$1"`;

  test.each([
    ['a', 's/a/b/', 'b'],
    ['a\n', 's/a/b/', 'b\n'],
    ['a\n\n', 's/a/b/', 'b\n\n'],
    ['a\nc', 's/a/b/', 'b\nc'],
    ['a\r\nc', 's/a/b/', 'b\r\nc'],
    ['# a: no header', 's/a/b/', '# b: no header'],
    ['\0a\u2028', 's/a/b/', '\0b\u2028'],
  ])('keeps all else of %j', async (before, command, after) => {
    await cli.patch({ set: { KEY: before, KEY2: 'other' } });
    expect(await folder.edit(likeVi(''), 'KEY')).toMatchObject({
      code: 0,
      stderr: 'Nothing to change: 0 new, 0 changed, 0 deleted, 1 unchanged\n',
    });
    expect(await folder.edit(likeVi(command), 'KEY')).toMatchObject({ code: 0, stdout: 'KEY\n' });
    expect(await cli.secrets()).toEqual({ KEY: after, KEY2: 'other' });
    expect(folder.kept).toEqual([]);
  });

  test('asks before it changes it, and after a no the draft is taken up again', async () => {
    await cli.patch({ set: { 'app.json': '{"a":1}' } });
    const env = folder.editor('echo "$1" > "$HERE/path"; echo \'{"a":2}\' > "$1"');
    const { shown, code } = await cli.onTerminal(['edit', 'app.json'], [['[y/N]', 'n\r']], { env });
    expect(code).toBe(7);
    expect(shown).toContain('  ~ app.json\r\n');
    expect(basename(cli.read('path').trim())).toBe('value.json');
    expect(await cli.secrets()).toEqual({ 'app.json': '{"a":1}' });
    await cli.patch({ set: { OTHER: '1' } });
    expect(await folder.edit('true', '--draft', folder.keptDraft(shown))).toMatchObject({ code: 0 });
    expect(await cli.secrets()).toEqual({ 'app.json': '{"a":2}', OTHER: '1' });
  });

  test('creates a new one, and is cancelled if its value is empty', async () => {
    const cancelled = await folder.edit('echo > "$1"', 'NEW');
    expect(cancelled).toMatchObject({ code: 0, stderr: expect.stringContaining('The draft is empty: cancelled') });
    expect(await folder.edit('echo value > "$1"', 'NEW')).toMatchObject({ code: 0, stdout: 'NEW\n' });
    await folder.edit(': > "$1"', 'NEW');
    expect(await cli.secrets()).toEqual({ NEW: 'value' });
    expect(await folder.edit('true', '-e', 'no-such', 'NEW')).toMatchObject({ code: 5 });
    expect(folder.kept).toEqual([]);
  });

  test('reads no other secret', async () => {
    await cli.patch({ set: { KEY: '1', KEY2: '2' } });
    await folder.edit('echo 3 > "$1"', 'KEY');
    const { organization, environment } = cli.scope;
    type Entries = { entries: { action: string; target: { environment?: string; key?: string } }[] };
    const { entries } = await cli.json<Entries>(['audit', '-o', organization, '--limit', '10']);
    const here = entries.filter(({ target }) => target.environment === environment);
    const reads = here.filter(({ action }) => ['secret.read', 'secret.list'].includes(action));
    expect(reads.map(({ action, target }) => [action, target.key])).toEqual([['secret.read', 'KEY']]);
  });

  test('refuses what is no key without repeating it, and a format', async () => {
    const refused = await folder.edit('true', 'hunter2 hunter2');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('argument 1 is not a key: it must be') });
    expect(refused.stderr).not.toContain('hunter2');
    expect(await folder.edit('true', 'KEY', '--format', 'env')).toMatchObject({ code: 2 });
  });
});

describe('the editor', () => {
  beforeEach(async () => {
    await cli.patch({ set: { A: 'hunter1' } });
  });

  test('is that of VISUAL, of EDITOR, or vi, and may be a line with options', async () => {
    folder.editor('echo "$0 $*" > "$HERE/words"');
    const path = cli.pathOf('editor.sh');
    const wordsWith = async (env: Record<string, string | undefined>): Promise<string[]> => {
      await cli.output(['edit', '--yes'], { env: { XDG_RUNTIME_DIR: folder.runtime, ...env } });
      return cli.read('words').trim().split(' ').slice(0, -1);
    };
    expect(await wordsWith({ VISUAL: `${path} --wait 'a'b`, EDITOR: 'false' })).toEqual([path, '--wait', 'ab']);
    expect(await wordsWith({ VISUAL: '', EDITOR: path })).toEqual([path]);
    expect(await wordsWith({ EDITOR: `WORD=set sh -c 'exec "$0" "$WORD" "$@"' ${path}` })).toEqual([path, 'set']);
    writeFileSync(cli.pathOf('vi'), `#!/bin/sh\nexec '${path}' as-vi "$@"\n`, { mode: 0o755 });
    const PATH = `${cli.folder}:${process.env['PATH'] ?? ''}`;
    expect(await wordsWith({ VISUAL: undefined, EDITOR: undefined, PATH })).toEqual([path, 'as-vi']);
  });

  test('gets no token', async () => {
    await folder.edit('env > "$HERE/variables"');
    expect(cli.read('variables')).toContain('KEYFRAME_URL=');
    expect(cli.read('variables')).not.toMatch(/KEYFRAME_TOKEN|kf_pat_/);
  });

  test('that fails changes nothing, and the draft is kept only if it was changed', async () => {
    const failed = await folder.edit(`exit 3`);
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect(failed.stderr).toContain('error: the editor ended with exit code 3; nothing was changed\n');
    expect(folder.kept).toEqual([]);
    const missing = await cli.run(['edit', '--yes'], { env: { ...folder.editor(''), EDITOR: 'no-such-editor' } });
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('ended with exit code 127') });
    expect(folder.kept).toEqual([]);
    const changed = await folder.edit(`sed -i s/hunter1/hunter2/ "$1"; exit 1`);
    expect(changed.code).toBe(1);
    const path = folder.keptDraft(changed.stderr);
    expect(folder.linesOf(path)).toContain('A=hunter2');
    expect(await revision()).toBe(1);
    expect(await folder.edit('true', '--draft', path)).toMatchObject({ code: 0, stdout: 'A\n' });
    expect(folder.kept).toEqual([]);
  });

  test('finds a private file in a private folder, which is removed with all that it leaves there', async () => {
    const { code } = await folder.edit(`stat -c %a "$1" "$(dirname "$1")" > "$HERE/modes"; echo "$1" > "$HERE/path"
      cp "$1" "$1~"; cp "$1" "$(dirname "$1")/.draft.swp"; mkdir "$(dirname "$1")/undo"
      sed -i s/hunter1/hunter3/ "$1"`);
    expect(code).toBe(0);
    expect(cli.read('modes')).toBe('600\n700\n');
    const path = cli.read('path').trim();
    expect(basename(path)).toBe(`${cli.scope.environment}.env`);
    expect(dirname(dirname(path))).toBe(folder.runtime);
    expect(folder.kept).toEqual([]);
  });

  test.each([undefined, 'relative', '/no/such/folder'])(
    'finds it in memory, or among the temporary files, if XDG_RUNTIME_DIR is %s',
    async (XDG_RUNTIME_DIR) => {
      const env = { ...folder.editor('echo "$1" > "$HERE/path"'), TMPDIR: cli.folder, XDG_RUNTIME_DIR };
      expect((await cli.run(['edit', '--yes'], { env })).code).toBe(0);
      const path = cli.read('path').trim();
      expect(dirname(dirname(path))).toBe(existsSync('/dev/shm') ? '/dev/shm' : cli.folder);
      expect(existsSync(dirname(path))).toBe(false);
    },
  );
});
