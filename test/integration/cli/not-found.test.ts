import { describe, expect, test } from '@jest/globals';
import { type CliFolder, type CliSite, withCliSite } from '../../support/cli/cli-site.ts';

let site: CliSite;
let folder: CliFolder;
/** The flags of the environment of the folder. */
let flags: string;

withCliSite(async (given) => {
  site = given;
  folder = await site.newFolder();
  const { organization, project, environment } = folder.scope;
  flags = `-o ${organization} -p ${project} -e ${environment}`;
  await folder.patch({ set: { API_KEY: 'one', LOG_LEVEL: 'info' } });
});

/** The lines of an error. */
async function shown(...args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await folder.run(args);
  expect([code, stdout]).toEqual([5, '']);
  return stderr.trimEnd().split('\n');
}

describe('the error says what is missing, where, and what there is', () => {
  test.each([
    ['get', ['get', 'API_KEI']],
    ['versions', ['versions', 'API_KEI']],
    ['rollback', ['rollback', 'API_KEI', '--version', '1']],
    ['destroy', ['destroy', 'API_KEI', '--version', '1', '--yes']],
    ['unset', ['unset', 'API_KEI', '--yes']],
  ])('a secret: %s', async (_command, args) => {
    expect(await shown(...args)).toEqual([
      `error: secret API_KEI does not exist in ${folder.place}`,
      '  Did you mean API_KEY?',
      `  See the secrets: keyframe list ${flags}`,
    ]);
  });

  test('a deleted secret, with the command that restores it', async () => {
    await folder.patch({ set: { OLD_KEY: 'one' } });
    await folder.patch({ set: { OLD_KEY: 'two' } });
    await folder.patch({ delete: ['OLD_KEY'] });
    const [message, next = '', ...rest] = await shown('get', 'OLD_KEY');
    expect([message, rest]).toEqual([`error: secret OLD_KEY does not exist in ${folder.place}`, []]);
    expect((await shown('unset', 'OLD_KEY', '--yes')).at(-1)).toBe(next);
    const [, command = ''] = /^ {2}It is deleted\. Restore it: keyframe (rollback .*)$/.exec(next) ?? [];
    expect(command).toBe(`rollback OLD_KEY --version 2 --undelete ${flags}`);
    await folder.output(command.split(' '));
    expect(await folder.output(['get', 'OLD_KEY', '--reveal'])).toBe('two');
  });

  test('a deleted environment and project, with the list of deleted ones', async () => {
    const { organization, project } = folder.scope;
    const place = ['-o', organization, '-p', project];
    await folder.output(['env', 'create', 'archive', ...place]);
    await folder.output(['env', 'delete', 'archive', ...place, '--yes']);
    expect(await shown('list', '-e', 'archive')).toEqual([
      `error: environment ${organization}/${project}/archive does not exist, or is not visible to you`,
      `  See the environments: keyframe env list ${place.join(' ')}`,
      `  If it was deleted, take that back: keyframe env undelete archive ${place.join(' ')}`,
    ]);
    expect((await shown('env', 'list', '-o', organization, '-p', 'nothing-alike')).at(-1)).toBe(
      `  If it was deleted, take that back: keyframe project undelete nothing-alike -o ${organization}`,
    );
  });

  test('an environment outside the scope of a service token', async () => {
    const { organization, project, environment } = site.world.slugs;
    const { token } = await site.world.serviceToken({ name: 'narrow' });
    const { code, stderr } = await folder.run(['list'], { env: { KEYFRAME_TOKEN: token.reveal() } });
    expect({ code, stderr }).toEqual({
      code: 5,
      stderr: expect.stringContaining(
        `\n  The token is for ${organization}/${project}/${environment} only. Leave -o, -p and -e out, or use another token\n`,
      ),
    });
    const wide = await site.world.serviceToken({ name: 'wide', scope: 'organization' });
    const missing = await folder.run(['list', '-e', 'nope'], { env: { KEYFRAME_TOKEN: wide.token.reveal() } });
    expect(missing.stderr).not.toContain('The token is for');
  });

  test('a prefix that no secret has', async () => {
    expect(await shown('unset', '--prefix', 'NOPE_', '--yes')).toEqual([
      `error: no secret of ${folder.place} has the prefix NOPE_`,
      `  See the secrets: keyframe list ${flags}`,
    ]);
  });

  test('a secret at a past revision', async () => {
    await folder.patch({ set: { LATER: 'x' } });
    const lines = await shown('get', 'LATER', '--revision', '1');
    expect(lines[0]).toBe(`error: secret LATER does not exist in ${folder.place}`);
    expect(lines.at(-1)).toBe(`  See the secrets: keyframe list ${flags} --revision 1`);
  });

  test.each([
    ['get', ['get', 'API_KEY', '--version', '77']],
    ['rollback', ['rollback', 'API_KEY', '--version', '77']],
    ['destroy', ['destroy', 'API_KEY', '--version', '77', '--yes']],
  ])('a version: %s', async (_command, args) => {
    expect(await shown(...args)).toEqual([
      `error: secret API_KEY has no version 77 in ${folder.place}`,
      `  See its versions: keyframe versions API_KEY ${flags}`,
    ]);
  });

  test.each([
    ['list', ['list', '--revision', '99']],
    ['pull', ['pull', '--revision', '99']],
    ['get', ['get', 'API_KEY', '--revision', '99']],
    ['history', ['history', '--since', '99']],
  ])('a revision: %s', async (_command, args) => {
    expect(await shown(...args)).toEqual([
      `error: ${folder.place} has no revision 99`,
      `  See the revisions: keyframe history ${flags}`,
    ]);
  });

  test('an environment, a project and an organization', async () => {
    const { organization, project, environment } = folder.scope;
    const [other, wrong] = [`${environment}x`, `${organization}x`];
    expect(await shown('list', '-e', other)).toEqual([
      `error: environment ${organization}/${project}/${other} does not exist, or is not visible to you`,
      `  Did you mean ${environment}?`,
      `  See the environments: keyframe env list -o ${organization} -p ${project}`,
      `  If it was deleted, take that back: keyframe env undelete ${other} -o ${organization} -p ${project}`,
    ]);
    expect(await shown('init', '-p', 'webs', '-e', environment)).toEqual([
      `error: project ${organization}/webs does not exist, or is not visible to you`,
      `  Did you mean ${project}?`,
      `  See the projects: keyframe project list -o ${organization}`,
      `  If it was deleted, take that back: keyframe project undelete webs -o ${organization}`,
    ]);
    expect(await shown('env', 'list', '-o', wrong, '-p', project)).toEqual([
      `error: organization ${wrong} does not exist, or is not visible to you`,
      `  Did you mean ${organization}?`,
      '  See the organizations: keyframe org list',
    ]);
  });

  test('a user, a member and a token', async () => {
    const { organization } = folder.scope;
    const id = '5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e';
    expect((await shown('user', 'disable', id, '--yes')).at(-1)).toBe('  See all users: keyframe user list');
    expect(await shown('user', 'disable', 'a@example.test', '--yes')).toEqual([
      'error: there is no user a@example.test',
      '  See all users: keyframe user list',
    ]);
    expect(await shown('member', 'remove', 'a@example.test', '-o', organization, '--yes')).toContain(
      `  See the members: keyframe member list -o ${organization}`,
    );
    expect((await shown('member', 'set', 'a@example.test', '-r', 'viewer', '-o', organization)).at(-1)).toContain(
      'keyframe user create <email>',
    );
    expect((await shown('token', 'revoke-service', '--id', id, '--yes')).at(-1)).toBe(
      `  See the tokens: keyframe token list-service -o ${organization}`,
    );
    expect((await shown('token', 'revoke', id, '--yes')).at(-1)).toBe('  See your tokens: keyframe token list');
  });

  test('the path of the address', async () => {
    const url = `http://127.0.0.1:${site.api.port}/api/v1`;
    for (const command of ['whoami', 'list', 'org list']) {
      const lines = await shown(...command.split(' '), '--url', url);
      expect(lines[0]).toBe(
        `error: ${url} is not the address of a Keyframe server: its API is not found below this path`,
      );
      expect(lines[1]).toContain('without /api/v1');
    }
  });
});

test('a token that may not look further gets the error of the server', async () => {
  const { token } = await site.world.serviceToken();
  const { code, stderr } = await folder.run(['list', '-o', 'elsewhere'], { env: { KEYFRAME_TOKEN: token.reveal() } });
  expect(code).toBe(2);
  expect(stderr).toContain('-p <project>');
  const [first] = (
    await folder.run(['list', '-o', 'a', '-p', 'b', '-e', 'c'], { env: { KEYFRAME_TOKEN: token.reveal() } })
  ).stderr.split('\n');
  expect(first).toMatch(/^error: (?:environment a\/b\/c|organization a) does not exist, or is not visible to you$/);
});
