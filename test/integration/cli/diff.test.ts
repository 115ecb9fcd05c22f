import { describe, expect, test } from '@jest/globals';
import { type CliFolder, type CliSite, withCliSite } from '../../support/cli/cli-site.ts';

let site: CliSite;
let folder: CliFolder;
let other: CliFolder;

withCliSite(async (given) => {
  site = given;
  folder = await site.newFolder();
  other = await site.newFolder();
  await folder.patch({ set: { SAME: 'hunter1', OTHER: 'old', GONE: 'hunter3' } });
  await folder.patch({ set: { OTHER: 'hunter2\n"' } });
  await other.patch({ set: { SAME: 'hunter1', OTHER: 'hunter4', NEW: 'hunter5' } });
  folder.write('.env', 'SAME=hunter1\nOTHER=hunter4\nNEW=hunter5\n');
  folder.write('x.json', '{"SAME": "hunter1", "OTHER": "hunter4", "NEW": "hunter5"}');
  folder.write('same.yaml', 'SAME: hunter1\nOTHER: "hunter2\\n\\""\nGONE: hunter3\n');
});

const difference = '- GONE\n+ NEW\n~ OTHER\n';

describe('keys that differ, without values', () => {
  test('from the environment to a file, which is what a push would do', async () => {
    for (const args of [['.env'], ['x.json'], ['.env', '--format', 'env']]) {
      const { code, stdout, stderr } = await folder.run(['diff', ...args]);
      expect({ code, stdout }).toEqual({ code: 0, stdout: difference });
      expect(stderr).toBe(`--- ${folder.place} (revision 2)\n+++ ${args[0]}\n`);
    }
    const piped = await folder.run(['diff', '-'], { input: folder.read('.env') });
    expect(piped).toMatchObject({ code: 0, stdout: difference });
    expect(piped.stderr).toContain('+++ standard input');
  });

  test('from one environment to another', async () => {
    const { stdout, stderr } = await folder.run(['diff', '--with', other.place]);
    expect(stdout).toBe(difference);
    expect(stderr).toBe(`--- ${folder.place} (revision 2)\n+++ ${other.place} (revision 1)\n`);
    const back = await other.run(['diff', '--with', folder.place]);
    expect(back.stdout).toBe('+ GONE\n- NEW\n~ OTHER\n');
  });

  test('from a past revision to now', async () => {
    const { stdout, stderr } = await folder.run(['diff', '--revision', '1']);
    expect(stdout).toBe('~ OTHER\n');
    expect(stderr).toBe(`--- ${folder.place} (revision 1)\n+++ ${folder.place} (revision 2)\n`);
  });

  test('where nothing differs it says so', async () => {
    const { code, stdout, stderr } = await folder.run(['diff', 'same.yaml', '--exit-code']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('No difference; 3 secrets are the same.');
  });

  test('--exit-code ends with 8 where there is a difference, and with nothing else than faults have', async () => {
    expect(await folder.run(['diff', '.env', '--exit-code'])).toMatchObject({ code: 8, stdout: difference });
    expect(await folder.run(['diff', 'none.env', '--exit-code'])).toMatchObject({ code: 2, stdout: '' });
    expect(await folder.run(['diff', '.env', '--exit-code', '-e', 'none'])).toMatchObject({ code: 5, stdout: '' });
  });

  test('--output json and name', async () => {
    expect(JSON.parse(await folder.output(['diff', '.env', '--output', 'json']))).toEqual({
      added: ['NEW'],
      changed: ['OTHER'],
      removed: ['GONE'],
      unchanged: ['SAME'],
    });
    expect(await folder.output(['diff', '.env', '--output', 'name'])).toBe('GONE\nNEW\nOTHER\n');
  });
});

test('--reveal shows the values of both sides, each on one line', async () => {
  expect(await folder.output(['diff', '.env', '--reveal'])).toBe(
    '- GONE: "hunter3"\n+ NEW: "hunter5"\n- OTHER: "hunter2\\n\\""\n+ OTHER: "hunter4"\n',
  );
  expect(JSON.parse(await folder.output(['diff', '.env', '--reveal', '--output', 'json']))).toMatchObject({
    values: [
      { key: 'GONE', from: 'hunter3', to: null },
      { key: 'NEW', from: null, to: 'hunter5' },
      { key: 'OTHER', from: 'hunter2\n"', to: 'hunter4' },
    ],
  });
});

test.each([
  [[], 'compare with one thing'],
  [['.env', '--revision', '1'], 'compare with one thing'],
  [['--with', 'a/b/c', '--revision', '1'], 'compare with one thing'],
  [['--with', 'a/'], '--with must be an environment'],
  [['--with', 'a/b/c/d'], '--with must be an environment'],
  [['--revision', '1', '--format', 'env'], '--format is for a file'],
  [['notes.txt'], 'the name of notes.txt does not show its format'],
  [['--revision', 'x'], 'revision'],
])('%j is refused with exit code 2', async (args, message) => {
  const { code, stdout, stderr } = await folder.run(['diff', ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
});
