import { beforeEach, describe, expect, test } from '@jest/globals';
import type { SecretListView } from '../../../src/wire/secrets.ts';
import { type CliFolder, type CliSite, withCliSite } from '../../support/cli/cli-site.ts';

let site: CliSite;
let folder: CliFolder;

withCliSite((given) => {
  site = given;
});
beforeEach(async () => {
  folder = await site.newFolder();
});

const nasty = [
  '',
  ' spaces ',
  'a=b=c',
  '"it\'s" `$HOME` $(id) \\n \\',
  'line 1\nline 2\r\n\n',
  '\0\u0001\u001B[31m\u007F\u0085\u2028\uFEFF',
  '\uFEFF🔑 é \u202E',
  'x'.repeat(256 * 1024),
];

describe('set', () => {
  test('several are written in one revision, and the answer holds their versions and no values', async () => {
    const { code, stdout, stderr } = await folder.run(['set', 'A=hunter2', 'B=', 'C=a=b', '--comment', 'why', '--yes']);
    expect(code).toBe(0);
    expect(stdout).toBe('KEY  VERSION\nA    1\nB    1\nC    1\n');
    expect(stderr).toBe(`Wrote 3 secrets to ${folder.place} (revision 1)\n`);
    expect(await folder.secrets()).toEqual({ A: 'hunter2', B: '', C: 'a=b' });
    expect(await folder.output(['versions', 'A'])).toContain('why');
  });

  test('what the server refuses is reported in its words, and nothing is written', async () => {
    const { code, stderr } = await folder.run(['set', 'A=hunter2', 'B=2', '--comment', 'two\nlines', '--yes']);
    expect(code).toBe(2);
    expect(stderr).toContain('comment');
    expect(stderr).not.toContain('hunter');
    expect(await folder.secrets()).toEqual({});
  });

  test('--output json prints what the server answers', async () => {
    const answer: unknown = JSON.parse(await folder.output(['set', 'A=1', '--output', 'json']));
    expect(answer).toMatchObject({ set: [{ key: 'A', version: 1 }], deleted: [], unchanged: [], revision: 1 });
  });

  test('a value from standard input or from a file is written to the byte, and got back so', async () => {
    nasty.forEach((value, index) => folder.write(`value-${index}`, value));
    await folder.output(['set', ...nasty.map((_, index) => `FILE_${index}=@value-${index}`), '--yes']);
    const all = nasty.slice(0, -1).join('');
    await folder.output(['set', 'BY_SIGN=-', 'OTHER=x', '--yes'], { input: all });
    await folder.output(['set', 'ALONE', '--stdin'], { input: all });
    expect(await folder.secrets()).toEqual({
      ...Object.fromEntries(nasty.map((value, index) => [`FILE_${index}`, value])),
      BY_SIGN: all,
      ALONE: all,
      OTHER: 'x',
    });
    expect(await folder.output(['get', 'ALONE'])).toBe(all);
    expect(await folder.output(['get', `FILE_${nasty.length - 1}`])).toBe(nasty.at(-1));
    expect(await folder.output(['get', 'FILE_0'])).toBe('');
  });

  test('values on the command line are taken as they stand, with --literal also those with a sign', async () => {
    const plain = nasty.filter((value) => !value.includes('\0') && value.length < 1000);
    await folder.output(['set', ...plain.map((value, index) => `K${index}=${value}`), '--yes']);
    await folder.output(['set', '--literal', 'AT=@value', 'DASH=-', '--yes']);
    const expected = Object.fromEntries(plain.map((value, index) => [`K${index}`, value]));
    expect(await folder.secrets()).toEqual({ ...expected, AT: '@value', DASH: '-' });
  });

  test('a line end from standard input is kept with a warning, and left out with --trim-newline', async () => {
    const { stderr } = await folder.run(['set', 'A=-'], { input: 'hunter2\n' });
    expect(stderr).toContain(
      'warning: the value of A ends with a line end, which is kept; --trim-newline leaves it out',
    );
    await folder.output(['set', 'B=-', '--trim-newline'], { input: 'hunter2\r\n' });
    folder.write('value', 'hunter2\n\n');
    await folder.output(['set', 'C=@value', '--trim-newline']);
    expect(await folder.secrets()).toEqual({ A: 'hunter2\n', B: 'hunter2', C: 'hunter2\n' });
  });

  test('at a terminal a key alone is asked for, and what is typed is not shown', async () => {
    const command = folder.startOnTerminal(['set', 'A']);
    await command.shows('Value of A:');
    command.type('hunter2 $x\r');
    const { code, stdout } = await command.ended;
    expect(code).toBe(0);
    expect(stdout).not.toContain('hunter');
    expect(await folder.secrets()).toEqual({ A: 'hunter2 $x' });
  });

  test('at a terminal Enter alone is no value, and nothing is written', async () => {
    await folder.patch({ set: { A: 'hunter2' } });
    const command = folder.startOnTerminal(['set', 'A']);
    await command.shows('Value of A:');
    command.type('\r');
    const { code, stdout } = await command.ended;
    expect([code, stdout]).toEqual([2, expect.stringContaining('To set it to an empty value: keyframe set A=')]);
    expect(await folder.secrets()).toEqual({ A: 'hunter2' });
  });

  test('an empty standard input is an empty value, with a warning', async () => {
    const { code, stderr } = await folder.run(['set', 'A=-'], { input: '' });
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining('warning: standard input was empty, and so is the value of A\n'),
    ]);
    expect(await folder.secrets()).toEqual({ A: '' });
    folder.write('empty', '');
    expect((await folder.run(['set', 'A=@empty', '--force'])).stderr).not.toContain('warning');
  });

  test.each([
    ['a key that is not allowed', ['A=1', 'b c=hunter2'], 'argument 2 is not KEY=VALUE: the key "b c" must be'],
    ['a value alone', ['hunter2!'], 'argument 1 is not KEY=VALUE: the key must be 1 to 253'],
    ['no key', ['=hunter2'], 'argument 1 is not KEY=VALUE: the key "" must be'],
    ['a key that is kept for others', ['__proto__=hunter2'], 'the key "__proto__" must not be'],
    ['a key twice', ['A=hunter2', 'A=hunter3'], 'A is given twice; one of the values would be lost'],
    ['two that want standard input', ['A=-', 'B=-'], 'standard input is one value, and A and B want it'],
    ['--stdin for no key', ['A=hunter2', '--stdin'], '--stdin needs a key that stands alone'],
    ['a key alone without a terminal', ['A'], 'A has no value, and there is no terminal to ask for it'],
    ['a file that is not there', ['A=@hunter2'], 'the file for A cannot be read: there is no such file'],
    ['a folder for a file', ['A=@.'], 'the file for A cannot be read: it is a directory'],
    ['nothing', [], "missing required argument 'pair'"],
    ['an unknown option', ['A=hunter2', '--hunter'], "unknown option '--hunter'"],
  ])('%s is refused with exit code 2, and nothing is written', async (_, args, message) => {
    const { code, stdout, stderr } = await folder.run(['set', ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/hunter[23]/);
    expect(await folder.secrets()).toEqual({});
  });

  test.each([
    [
      'bytes that are not UTF-8',
      Buffer.from([0x68, 0xff]),
      'the value of A: it is not text in UTF-8; encode binary data as base64',
    ],
    [
      'a byte more than 256 KiB',
      Buffer.alloc(256 * 1024 + 1, 'x'),
      'the value of A must be at most 262144 bytes of UTF-8',
    ],
  ])('%s on standard input are refused with exit code 2', async (_, input, message) => {
    const { code, stderr } = await folder.run(['set', 'A=-'], { input });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(await folder.secrets()).toEqual({});
  });

  test('without the right to write it exits with 4, without the right to read with 5, without a valid token with 3', async () => {
    const { viewer, stranger } = site.world;
    const as = async (token: string): Promise<number | null> =>
      (await folder.run(['set', 'A=1'], { env: { KEYFRAME_TOKEN: token } })).code;
    expect(await as(viewer.token.reveal())).toBe(4);
    expect(await as(stranger.token.reveal())).toBe(5);
    expect(await as('kf_pat_unknown')).toBe(3);
    expect(await folder.secrets()).toEqual({});
  });
});

describe('get', () => {
  beforeEach(async () => {
    await folder.patch({ set: { A: 'hunter1' } });
    await folder.patch({ set: { A: 'hunter2\nx\u001B[2J' } });
  });

  test('an earlier version and an earlier revision are printed exactly', async () => {
    expect(await folder.output(['get', 'A'])).toBe('hunter2\nx\u001B[2J');
    expect(await folder.output(['get', 'A', '--version', '1'])).toBe('hunter1');
    expect(await folder.output(['get', 'A', '--revision', '1'])).toBe('hunter1');
    const version: unknown = JSON.parse(await folder.output(['get', 'A', '--version', '1', '--output', 'json']));
    expect(version).toMatchObject({ version: 1, changeType: 'created', value: 'hunter1' });
    const secret: unknown = JSON.parse(await folder.output(['get', 'A', '--output', 'json']));
    expect(secret).toMatchObject({ key: 'A', version: 2, value: 'hunter2\nx\u001B[2J' });
  });

  test('a deleted secret is gone, its versions are not', async () => {
    await folder.patch({ delete: ['A'] });
    const { code, stdout, stderr } = await folder.run(['get', 'A']);
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
    expect(stderr).toContain('error: ');
    expect(await folder.output(['get', 'A', '--version', '1'])).toBe('hunter1');
  });

  test.each([[[]], [['--output', 'json']], [['--output', 'yaml']], [['--version', '1']]])(
    'on a terminal the value is hidden (%j)',
    async (args) => {
      const { code, shown } = await folder.onTerminal(['get', 'A', ...args]);
      expect(code).toBe(0);
      expect(shown).toContain('The value is hidden on a terminal. To see it, add --reveal');
      expect(shown).not.toContain('hunter');
    },
  );

  test('with --reveal a terminal shows it, but nothing that would move its cursor', async () => {
    const { code, shown } = await folder.onTerminal(['get', 'A', '--reveal']);
    expect({ code, shown }).toEqual({ code: 0, shown: 'hunter2\r\nx\\u{1b}[2J\r\n' });
  });

  test('--version and --revision together, and a version that is none, are refused', async () => {
    expect((await folder.run(['get', 'A', '--version', '1', '--revision', '1'])).code).toBe(2);
    expect((await folder.run(['get', 'A', '--version', '0'])).code).toBe(2);
    expect((await folder.run(['get', 'A', '--version', '9'])).code).toBe(5);
    expect((await folder.run(['get', 'A', '--revision', 'x'])).code).toBe(2);
    expect((await folder.run(['get', '../x'])).code).toBe(2);
  });
});

describe('list', () => {
  test('keys and versions without values, and with them when asked', async () => {
    await folder.patch({ set: { A: 'hunter2', B_1: 'hunter3', B_2: 'x' } });
    const listed = await folder.output(['list']);
    expect(listed).toMatch(/^KEY {2}VERSION {2}UPDATED\nA {4}1/);
    expect(listed).not.toContain('hunter');
    expect(await folder.output(['list', '--reveal'])).toContain('hunter2');
    expect(await folder.output(['list', '--output', 'name', '--prefix', 'B_'])).toBe('B_1\nB_2\n');
    const { secrets } = JSON.parse(await folder.output(['list', '--output', 'json'])) as SecretListView;
    expect(secrets.map((secret) => Object.keys(secret))).toEqual(
      Array.from({ length: 3 }, () => [
        'key',
        'version',
        'updatedBy',
        'updatedByType',
        'updatedByName',
        'updatedByCluster',
        'updatedAt',
      ]),
    );
    await folder.patch({ delete: ['A'] });
    expect(await folder.output(['list', '--revision', '1', '--output', 'name'])).toBe('A\nB_1\nB_2\n');
  });

  test('an empty environment says how to begin', async () => {
    const { code, stdout, stderr } = await folder.run(['list']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('keyframe set KEY=VALUE');
  });
});

describe('unset', () => {
  beforeEach(() => folder.patch({ set: { A: 'hunter2', B: 'hunter3', C: 'x' } }));

  test('several are deleted in one revision, their history stays, and the named command takes it back', async () => {
    const { stdout, stderr } = await folder.run(['unset', 'A', 'B', 'A', '--yes']);
    expect(stdout).toBe('A\nB\n');
    const [deleted, hint = '', ...rest] = stderr.split('\n');
    expect([deleted, rest]).toEqual([`Deleted 2 secrets from ${folder.place} (revision 2)`, ['']]);
    expect(await folder.secrets()).toEqual({ C: 'x' });
    expect(await folder.output(['versions', 'A'])).toContain('created');
    const [, named = ''] = /^To take this back: keyframe (undo 2 .*)$/.exec(hint) ?? [];
    await folder.output([...named.split(' '), '--yes']);
    expect(await folder.secrets()).toEqual({ A: 'hunter2', B: 'hunter3', C: 'x' });
  });

  test('without a terminal and without --yes nothing is deleted', async () => {
    const { code, stderr } = await folder.run(['unset', 'A']);
    expect(code).toBe(7);
    expect(stderr).toContain(`Delete A from ${folder.place}?`);
    expect(stderr).toContain('--yes');
    expect(Object.keys(await folder.secrets())).toEqual(['A', 'B', 'C']);
  });

  test('a terminal is asked', async () => {
    for (const [answer, code] of [
      ['n', 7],
      ['', 7],
      ['y', 0],
    ] as const) {
      const command = folder.startOnTerminal(['unset', 'A']);
      await command.shows(`Delete A from ${folder.place}? [y/N]`);
      command.type(`${answer}\r`);
      expect((await command.ended).code).toBe(code);
      expect('A' in (await folder.secrets())).toBe(code === 7);
    }
  });

  test('where one is not there, none is deleted', async () => {
    const { code, stderr } = await folder.run(['unset', 'A', 'NONE', '--yes']);
    expect(code).toBe(5);
    expect(stderr).toContain('NONE');
    expect(await folder.secrets()).toHaveProperty('A');
    expect((await folder.run(['unset', 'A=hunter2', '--yes'])).code).toBe(2);
  });
});
