import { mkdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { type CliFolder, type CliSite, withCliSite } from '../../support/cli/cli-site.ts';

let site: CliSite;
let folder: CliFolder;

withCliSite(async (given) => {
  site = given;
  folder = await site.newFolder();
  await folder.patch({ set: { A: 'one', B: '' } });
  await folder.patch({ set: { A: 'two' } });
});

/** What is written to standard error by a command that fails. */
async function fault(args: readonly string[], code = 2): Promise<string> {
  const end = await folder.run(args);
  expect(end.code).toBe(code);
  return end.stderr;
}

describe('an error names what the user has typed', () => {
  test.each([
    { args: ['history', '--since', 'x y'], text: '--since must be' },
    { args: ['get', 'A', '--revision', 'x y'], text: '--revision must be' },
    { args: ['audit', '--action', 'x y'], text: '--action must be' },
    { args: ['set', 'A=1', '--comment', 'a\nb'], text: '--comment must not contain' },
    { args: ['project', 'create', 'A_B'], text: '<slug> must be' },
  ])('$text', async ({ args, text }) => {
    const shown = await fault(args);
    expect(shown).toContain(`error: ${text}`);
    expect(shown).not.toContain('x y');
  });

  test('and not the fields of the API where a value is in other versions', async () => {
    await folder.patch({ set: { LEAKED: 'x' } });
    await folder.patch({ set: { LEAKED: 'y' } });
    await folder.output(['rollback', 'LEAKED', '--version', '1', '--yes']);
    await folder.patch({ set: { LEAKED: 'z' } });
    const shown = await fault(['destroy', 'LEAKED', '--version', '1', '--yes'], 6);
    expect(shown).toContain('--same-value');
    expect(shown).toContain('--this-version-only');
    expect(shown).not.toContain('sameValue');
    await folder.output(['rollback', 'LEAKED', '--version', '1', '--yes']);
    expect(await fault(['destroy', 'LEAKED', '--version', '1', '--yes', '--same-value'], 6)).not.toContain('sameValue');
  });

  test('such as a key with a space, in quotes, and nothing of its value', async () => {
    const shown = await fault(['set', 'A B=hunter2']);
    expect(shown).toContain('the key "A B" must be');
    expect(shown).not.toContain('hunter2');
    expect(await fault(['set', `${'x y'.repeat(100)}=1`])).toContain(`"${'x y'.repeat(13)}x…"`);
    expect(await fault(['rotate', 'A B'])).toContain('the key "A B"');
  });

  test('such as a project after -p, which is the permission of a service token', async () => {
    const shown = await fault(['token', 'create-service', '-n', 'x', '-s', 'project', '-p', 'shop']);
    expect(shown).toContain('-p is the permission here');
    expect(shown).toContain('use --project');
    expect(shown).not.toContain('shop');
  });

  test('such as keys beside a prefix', async () => {
    expect(await fault(['unset', 'A', '--prefix', 'A'])).toContain('keys and --prefix cannot be combined');
    expect(await fault(['unset'])).toContain('no key is given, and no --prefix');
  });

  test('such as a folder in place of a file', async () => {
    mkdirSync(folder.pathOf('folder'));
    expect(await fault(['set', 'A=@folder'])).toContain('the file for A cannot be read: it is a directory');
    expect(await fault(['push', 'folder', '--format', 'env'])).toContain('it is a directory');
    expect(await fault(['pull', '--file', 'nowhere/.env'])).toContain('its folder does not exist');
  });

  test('such as the first place that does not exist', async () => {
    const { organization, project } = folder.scope;
    const init = async (o: string, p: string, e: string): Promise<string> =>
      await fault(['init', '-o', o, '-p', p, '-e', e], 5);
    expect(await init('nothing', project, 'x')).toContain('error: organization nothing does not exist');
    const shown = await init(organization, 'nothing', 'x');
    expect(shown).toContain(`error: project ${organization}/nothing does not exist`);
    expect(shown).toContain(`keyframe project list -o ${organization}`);
    expect(await init(organization, project, 'x')).toContain(
      `error: environment ${organization}/${project}/x does not`,
    );
  });

  test('such as a slug that the user can see, and nothing about one that the user cannot see', async () => {
    const { organization, project } = folder.scope;
    expect(await fault(['org', 'create', organization], 6)).toContain(
      `the organization ${organization} exists already`,
    );
    const present = await fault(['project', 'create', project], 6);
    expect(present).toContain(`the project ${project} exists already`);
    expect(present).toContain(`keyframe project show ${project} -o ${organization}\n`);
    await folder.output(['org', 'create', 'gone']);
    await folder.output(['org', 'delete', 'gone', '--yes']);
    const taken = await fault(['org', 'create', 'gone'], 6);
    expect(taken).toContain('is taken, maybe by a deleted organization');
    expect(taken).toMatch(/^ {2}See the deleted organizations: keyframe org list --deleted$/m);
    expect(taken).toMatch(/^ {2}To take its deletion back: keyframe org undelete gone$/m);
  });

  test('such as a file whose name shows no format', async () => {
    expect(await fault(['pull', '--file', 'a.toml'])).toContain('the name of a.toml does not show its format');
    expect(await fault(['push', 'a.toml'])).toContain('Add --format, one of env, json, yaml, docker, k8s-secret;');
  });
});

describe('versions', () => {
  test.each(['get', 'versions'])('%s takes them as tables print them', async (command) => {
    const past = await folder.json([command, 'A', '--version', 'v1']);
    expect(past).toMatchObject({ key: 'A', version: 1, value: 'one' });
    expect(await fault([command, 'A', '--version', 'vv1'])).toContain('--version must be a whole number');
  });

  test('of the command itself are shown by -v, -V, --version and version', async () => {
    const version = await folder.output(['--version']);
    expect(version).toMatch(/^\d+\.\d+\.\d+/);
    for (const words of [['-v'], ['-V'], ['version']]) expect(await folder.output(words)).toBe(version);
  });
});

describe('history --since', () => {
  test('takes a time, and shows the changes after it', async () => {
    const all = await folder.output(['history', '--output', 'name']);
    expect(await folder.output(['history', '--since', '1h', '--output', 'name'])).toBe(all);
    expect(await folder.output(['history', '--since', '2020-01-31', '--output', 'name'])).toBe(all);
    expect(await folder.output(['history', '--since', '0s', '--output', 'name'])).toBe('');
    for (const wrong of ['yesterday', '2027-13-45', '2027-01-31T12:00:00', '1x']) {
      expect(await fault(['history', '--since', wrong])).toContain('or a time, such as 2h, 7d, 2027-01-31 (UTC)');
    }
    const [newest = ''] = all.split('\n');
    for (const revision of [newest, newest.toUpperCase()]) {
      expect(await folder.output(['history', '--since', revision, '--output', 'name'])).toBe('');
    }
  });
});

describe('tables', () => {
  test('show times relative to now on a terminal, as ISO 8601 otherwise, and an empty value as quotes', async () => {
    const { shown } = await folder.onTerminal(['list', '--reveal']);
    expect(shown).toMatch(/^A +2 +(?:now|\d+ (?:s|min) ago) +two\r$/m);
    expect(shown).toMatch(/^B +1 +(?:now|\d+ (?:s|min) ago) +""\r$/m);
    expect(await folder.output(['list'])).toMatch(/^A +2 +\d{4}-\d{2}-\d{2}T[\d:.]+Z$/m);
  });
});

describe('diff --with', () => {
  test('takes the slugs that are not given from the first environment', async () => {
    const other = await site.newFolder();
    await other.patch({ set: { C: '1' } });
    const { project, environment } = other.scope;
    for (const place of [environment, `${project}/${environment}`, other.place]) {
      const { stdout, stderr } = await folder.run(['diff', '-e', folder.scope.environment, '--with', place]);
      expect(stdout).toContain('+ C\n');
      expect(stderr).toContain(`+++ ${other.place} (revision 1)`);
    }
    for (const place of ['', '/x', 'a/b/c/d']) await fault(['diff', '--with', place]);
  });
});

describe('pull --skip-destroyed', () => {
  test('reads a past revision without the values that were destroyed since, and names them', async () => {
    await folder.patch({ set: { LOST: 'x', KEPT: 'y' } });
    const { revision } = await folder.list();
    await folder.patch({ set: { LOST: 'z' } });
    await folder.output(['destroy', 'LOST', '--version', '1', '--yes']);
    const pull = ['pull', '--revision', String(revision)];
    expect(await fault(pull, 5)).toContain('--skip-destroyed');
    const { code, stdout, stderr } = await folder.run([...pull, '--skip-destroyed']);
    expect(code).toBe(0);
    expect(stdout).toContain('KEPT=y\n');
    expect(stdout).not.toContain('LOST');
    expect(stderr).toContain('the values of that revision were destroyed: LOST');
    expect(await fault(['pull', '--skip-destroyed'])).toContain('is for --revision');
    const { organization, project, environment } = folder.scope;
    const flags = `-o ${organization} -p ${project} -e ${environment}`;
    expect(await fault(pull, 5)).toContain(`keyframe pull --revision ${revision} --skip-destroyed ${flags}\n`);
    const one = await fault(['get', 'LOST', '--version', '1'], 5);
    expect(one).toContain(`keyframe versions LOST ${flags}\n`);
    expect(one).not.toContain('--skip-destroyed');
    const current = await fault(['destroy', 'LOST', '--version', '2', '--yes'], 6);
    expect(current).toContain(`keyframe rotate LOST ${flags}\n`);
    expect(current).toContain(`keyframe set LOST ${flags}\n`);
  });
});

describe('a write', () => {
  test.each([
    { args: ['set', 'WHERE=1'], verb: 'Wrote 1 secret to' },
    { args: ['unset', 'WHERE', '--yes'], verb: 'Deleted 1 secret from' },
  ])('$args names its environment and revision', async ({ args, verb }) => {
    const { stderr } = await folder.run(args);
    expect(stderr).toContain(`${verb} ${folder.place} (revision ${(await folder.list()).revision})\n`);
  });

  test.each([[['rotate', 'A']], [['rollback', 'A', '--version', '1', '--yes']], [['snapshot', 'create']]])(
    '%j shows its environment and revision',
    async (args) => {
      const stdout = await folder.output(args);
      expect(stdout).toMatch(new RegExp(`^Environment: +${folder.place}$`, 'm'));
      expect(stdout).toMatch(new RegExp(`^Revision: +${(await folder.list()).revision}$`, 'm'));
    },
  );
});
