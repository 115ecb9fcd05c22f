import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { type CliFolder, type CliSite, withCliSite } from '../../support/cli/cli-site.ts';

let site: CliSite;
let folder: CliFolder;

withCliSite((given) => {
  site = given;
});
beforeEach(async () => {
  folder = await site.newFolder();
  await folder.patch({ set: { A: 'hunter2', B: 'hunter3' } });
});

const echo = ['--', 'sh', '-c', 'echo A=$A B=$B NEW=$NEW RM=$RM'];
const all = 'A=hunter2 B=hunter3 NEW= RM=\n';
const withNew = 'A=hunter2 B=hunter3 NEW=hunter4 RM=\n';
const memoryFile = (): string => join(dirname(folder.userFile), 'known-variables.json');
const addNew = (): Promise<void> => folder.patch({ set: { NEW: 'hunter4' } });
const listed = (variables: readonly string[]): string => JSON.stringify({ ...folder.scope, variables });

describe('without a list', () => {
  test('the first run hands on all names and remembers them, without a value', async () => {
    expect(await folder.output(['run', ...echo])).toBe(all);
    const text = readFileSync(memoryFile(), 'utf8');
    expect(Object.values(JSON.parse(text) as object)).toEqual([['A', 'B']]);
    expect(text).not.toContain('hunter');
    expect(statSync(memoryFile()).mode & 0o777).toBe(0o600);
  });

  test.each([
    ['without a terminal', []],
    ['with --yes', ['--yes']],
  ])('a new name is refused %s, and nothing is run', async (_case, flags) => {
    await folder.output(['run', ...echo]);
    await addNew();
    const { code, stdout, stderr } = await folder.run(['run', ...flags, ...echo]);
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^error: NEW is a new variable of ${folder.place} since the last run`));
    expect(stderr).toContain('--allow-new');
    expect(stderr).toContain('KEYFRAME_RUN_VARIABLES');
    expect(stderr).not.toContain('hunter4');
    // A new value of a known name is no new name.
    await folder.patch({ set: { A: 'other' }, delete: ['NEW'] });
    expect(await folder.output(['run', ...echo])).toBe('A=other B=hunter3 NEW= RM=\n');
  });

  test('a new name is handed on with --allow-new, and is known from then on', async () => {
    await folder.output(['run', ...echo]);
    await addNew();
    expect(await folder.output(['run', '--allow-new', ...echo])).toBe(withNew);
    expect(await folder.output(['run', ...echo])).toBe(withNew);
  });

  test('a new name is asked about at a terminal', async () => {
    await folder.output(['run', ...echo]);
    await addNew();
    const refused = await folder.onTerminal(['run', ...echo], [['Hand it on? [y/N]', '\r']]);
    expect(refused.code).toBe(7);
    expect(refused.shown).toContain(`NEW is a new variable of ${folder.place}`);
    expect(refused.shown).not.toContain('A=hunter2');
    const agreed = await folder.onTerminal(['run', ...echo], [['Hand it on? [y/N]', 'y\r']]);
    expect(agreed.shown).toContain('NEW=hunter4');
    expect(await folder.output(['run', ...echo])).toBe(withNew);
  });

  test('an environment that is used stays known, also without new names', async () => {
    await folder.output(['run', ...echo]);
    const [own = ''] = Object.keys(JSON.parse(readFileSync(memoryFile(), 'utf8')) as object);
    const others = Array.from(
      { length: 499 },
      (_, index) => [`https://keyframe.example a/b/env-${index}`, []] as const,
    );
    writeFileSync(memoryFile(), JSON.stringify({ [own]: ['A', 'B'], ...Object.fromEntries(others) }));
    await folder.output(['run', ...echo]);
    expect(Object.keys(JSON.parse(readFileSync(memoryFile(), 'utf8')) as object).at(-1)).toBe(own);
  });

  test('each new name is shown before the question and in the refusal, however many there are', async () => {
    await folder.output(['run', ...echo]);
    const names = Array.from({ length: 60 }, (_, index) => `HARMLESS_${index}`);
    await folder.patch({ set: Object.fromEntries([...names, 'ZZ_APP'].map((name) => [name, 'x'])) });
    const refused = await folder.run(['run', ...echo]);
    expect(refused.code).toBe(7);
    const asked = await folder.onTerminal(['run', ...echo], [['Hand them on? [y/N]', '\r']]);
    for (const name of [...names, 'ZZ_APP']) {
      expect([name, refused.stderr.includes(name), asked.shown.replace(/\s/g, '').includes(name)]).toEqual([
        name,
        true,
        true,
      ]);
    }
  });

  test('names that the user sets or pushes are known', async () => {
    await folder.output(['run', ...echo]);
    await folder.output(['set', 'NEW=hunter4']);
    folder.write('.env', 'PUSHED=x\n');
    await folder.output(['push', '.env', '--yes']);
    expect(await folder.output(['run', ...echo])).toBe(withNew);
  });

  test('a name that the first run did not see is new, although the user has set another one', async () => {
    await folder.output(['set', 'OWN=x']);
    expect(await folder.output(['run', ...echo])).toBe(all);
  });

  test('the memory belongs to the environment, also in a renamed folder', async () => {
    await folder.output(['run', ...echo]);
    await addNew();
    folder.write('.keyframe.json', listed(['*']));
    renameSync(folder.pathOf('.keyframe.json'), folder.pathOf('renamed.json'));
    const { organization, project, environment } = folder.scope;
    const flags = ['-o', organization, '-p', project, '-e', environment];
    expect((await folder.run(['run', ...flags, ...echo])).code).toBe(7);
  });

  test('each run is a first run if no file can be written, as in a pod', async () => {
    const env = { XDG_CONFIG_HOME: '/dev/null', KEYFRAME_TRUST_FOLDER: '1' };
    expect(await folder.run(['run', ...echo], { env })).toMatchObject({ code: 0, stdout: all, stderr: '' });
    await addNew();
    expect(await folder.run(['run', ...echo], { env })).toMatchObject({ code: 0, stdout: withNew, stderr: '' });
  });

  test('a secret whose variable is set already is no new name with --keep-existing', async () => {
    await folder.output(['run', ...echo]);
    await addNew();
    expect(await folder.output(['run', '--keep-existing', ...echo], { env: { NEW: 'mine' } })).toContain('NEW=mine');
  });
});

describe('a list', () => {
  beforeEach(async () => {
    await folder.output(['run', ...echo]);
    await folder.patch({ set: { NEW: 'hunter4', RM: 'touch ran' } });
  });

  test.each([
    ['names', 'A,NEW', 'A=hunter2 B= NEW=hunter4 RM=\n'],
    ['globs', 'N*,B', 'A= B=hunter3 NEW=hunter4 RM=\n'],
    ['a name by which a value can run code', 'RM', 'A= B= NEW= RM=touch ran\n'],
  ])('selects %s', async (_case, list, expected) => {
    expect(await folder.run(['run', '--only', list, ...echo])).toMatchObject({ stdout: expected, stderr: '' });
    const byVariable = await folder.run(['run', ...echo], { env: { KEYFRAME_RUN_VARIABLES: list } });
    expect(byVariable.stdout).toBe(expected);
    expect(byVariable.stderr).toMatch(/^Left out, because KEYFRAME_RUN_VARIABLES does not name it: /);
    folder.write('.keyframe.json', listed(list.split(',')));
    const changed = await folder.run(['run', ...echo]);
    expect(changed).toMatchObject({ code: 7, stdout: '' });
    expect(changed.stderr).toContain(`variables ${list.replace(',', ' ')}`);
    expect(await folder.output(['trust'])).toContain(`variables ${list.replace(',', ' ')}`);
    expect(await folder.output(['run', ...echo])).toBe(expected);
  });

  test('does not allow by a glob what can run code', async () => {
    const { code, stdout, stderr } = await folder.run(['run', '--only', '*', ...echo]);
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(stderr).toMatch(/^error: RM is a variable by which a value can run code/);
    expect(await folder.output(['run', '--only', '*,RM', ...echo])).toBe(withNew.replace('RM=', 'RM=touch ran'));
  });

  test('that names a secret that does not exist is refused after --only', async () => {
    const { code, stderr } = await folder.run(['run', '--only', 'A,TYPO', ...echo]);
    expect([code, stderr]).toEqual([5, `error: ${folder.place} has no TYPO (--only)\n`]);
  });

  test.each([
    [['--only', 'A=hunter2'], {}],
    [[], { KEYFRAME_RUN_VARIABLES: ', ,' }],
  ])('that is malformed is refused without showing it: %j %j', async (flags, env) => {
    const { code, stderr } = await folder.run(['run', ...flags, ...echo], { env });
    expect(code).toBe(2);
    expect(stderr).not.toContain('hunter2');
  });

  test('of a folder file stays when init writes the file again', async () => {
    folder.write('.keyframe.json', listed(['A']));
    expect((await folder.run(['init', '-e', folder.scope.environment])).code).toBe(7);
    await folder.output(['trust']);
    await folder.output(['init', '-e', folder.scope.environment]);
    expect(JSON.parse(folder.read('.keyframe.json'))).toMatchObject({ variables: ['A'] });
  });
});

describe('pull --format shell', () => {
  const pull = ['pull', '--format', 'shell'];

  test('asks about new names as run does', async () => {
    await folder.output(['run', ...echo]);
    await addNew();
    const { code, stdout, stderr } = await folder.run(pull);
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(stderr).toContain('NEW is a new variable');
    expect(await folder.output([...pull, '--allow-new'])).toContain("NEW='hunter4'");
    expect(await folder.output(pull)).toContain("NEW='hunter4'");
  });

  test('obeys a list', async () => {
    const only = await folder.output([...pull, '--only', 'A']);
    expect(only).toContain('hunter2');
    expect(only).not.toContain('hunter3');
    const byVariable = await folder.output(pull, { env: { KEYFRAME_RUN_VARIABLES: 'A' } });
    expect(byVariable).toBe(only);
  });

  test('is the only format with these flags', async () => {
    for (const flags of [['--only', 'A'], ['--allow-new']]) {
      expect((await folder.run(['pull', '--format', 'json', ...flags])).code).toBe(2);
    }
  });
});

describe('a name by which a value can run code', () => {
  const warning = /^warning: MY_CMD is a variable by which a value can run code\. keyframe run hands it on only with/m;

  test('causes a warning in set', async () => {
    expect((await folder.run(['set', 'MY_CMD=x'])).stderr).toMatch(warning);
    expect((await folder.run(['set', 'A=x'])).stderr).not.toContain('warning');
  });

  test('causes a warning in push if it is new', async () => {
    folder.write('.env', 'MY_CMD=x\nA=y\n');
    expect((await folder.run(['push', '.env', '--dry-run'])).stderr).toMatch(warning);
    expect((await folder.run(['push', '.env', '--yes'])).stderr).toMatch(warning);
    folder.write('.env', 'MY_CMD=y\n');
    expect((await folder.run(['push', '.env', '--yes'])).stderr).not.toContain('warning');
  });
});
