import { describe, expect, test } from '@jest/globals';
import { CliRunner } from '../../support/cli/cli.ts';
import { withCommandWorld } from '../../support/cli/command-world.ts';
import type { TestApi } from '../../support/api/http.ts';
import type { World } from '../../support/api/services.ts';

let api: TestApi;
let world: World;
let cli: CliRunner;
let scope: string[];

const resources = withCommandWorld((given) => {
  ({ api, world, cli, scope } = given);
});

async function as(user: keyof Pick<World, 'admin' | 'developer' | 'viewer'>): Promise<CliRunner> {
  const other = await CliRunner.create({ url: `http://127.0.0.1:${api.port}`, token: world[user].token });
  resources.defer(() => other.remove());
  return other;
}

/** The command of a level with its slug and the flags of its parents. */
function lineOf(kind: 'org' | 'project' | 'env', verb: string): string[] {
  const { organization, project, environment } = world.slugs;
  if (kind === 'org') return ['org', verb, organization];
  if (kind === 'project') return ['project', verb, project, '-o', organization];
  return ['env', verb, environment, '-o', organization, '-p', project];
}

describe.each(['env', 'project', 'org'] as const)('%s', (kind) => {
  test('delete names the command that takes it back, and that gives the secrets back but no token', async () => {
    await cli.output(['set', `KEY=${kind}`, ...scope]);
    const { token } = await world.serviceToken();
    const holder = await CliRunner.create({ url: `http://127.0.0.1:${api.port}`, token });
    resources.defer(() => holder.remove());
    expect(await holder.run(['get', 'KEY', ...scope])).toMatchObject({ code: 0 });
    const { organization, project, environment } = world.slugs;
    const place = { org: [organization], project: [organization, project], env: [organization, project, environment] };
    const unconfirmed = await cli.run(lineOf(kind, 'delete'));
    expect(unconfirmed).toMatchObject({ code: 7 });
    expect(unconfirmed.stderr).toMatch(new RegExp(`This deletes [a-z]+ ${place[kind].join('/')} with all its`));
    const { stderr } = await cli.run([...lineOf(kind, 'delete'), '--yes']);
    expect(stderr).toContain(` ${place[kind].join('/')} is deleted.`);
    const [, named = ''] = /To take it back: keyframe (.*?)\. /.exec(stderr) ?? [];
    expect(named.split(' ')).toEqual(lineOf(kind, 'undelete'));
    expect(stderr).toContain('The service tokens that the deletion ended stay ended');
    expect(await cli.run(['get', 'KEY', ...scope])).toMatchObject({ code: 5 });
    expect(await cli.output(named.split(' '))).toContain(lineOf(kind, 'undelete')[2]);
    expect((await cli.output(['get', 'KEY', ...scope])).trim()).toBe(kind);
    expect((await holder.run(['get', 'KEY', ...scope])).stderr).toContain('revoked');
    expect(await cli.run(named.split(' '))).toMatchObject({ code: 0 });
  });

  test('list --deleted shows the slug and the time to those who may undelete it, and is refused to the rest', async () => {
    await cli.output([...lineOf(kind, 'delete'), '--yes']);
    const [, , slug = '', ...place] = lineOf(kind, 'list');
    const shown = await cli.output([kind, 'list', ...place, '--deleted']);
    expect(shown).toMatch(/DELETED/);
    expect(shown).toContain(slug);
    expect(await cli.output([kind, 'list', ...place])).not.toMatch(new RegExp(`^${slug} `, 'm'));
    const refused = await (await as('developer')).run([kind, 'list', ...place, '--deleted']);
    expect(refused).toMatchObject({ code: 4, stdout: '' });
    await cli.output(lineOf(kind, 'undelete'));
    expect(await cli.run([kind, 'list', ...place, '--deleted'])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`There are no deleted`),
    });
  });

  test('undelete names the list of deleted ones if nothing has the slug', async () => {
    const [, , , ...place] = lineOf(kind, 'undelete');
    const { code, stderr } = await cli.run([kind, 'undelete', 'no-such', ...place]);
    expect(code).toBe(5);
    expect(stderr).toContain([`keyframe ${kind} list --deleted`, ...place].join(' '));
  });

  test('purge asks for the slug, removes what is deleted, and refuses what is not', async () => {
    const [, , , ...place] = lineOf(kind, 'purge');
    await cli.output([kind, 'create', 'buried', ...place]);
    expect(await cli.run([kind, 'purge', 'buried', ...place, '--yes'])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('delete it first'),
    });
    await cli.output([kind, 'delete', 'buried', ...place, '--yes']);
    expect(await cli.run([kind, 'purge', 'buried', ...place])).toMatchObject({ code: 7 });
    expect((await (await as('admin')).run([kind, 'purge', 'buried', ...place, '--yes'])).code).toBe(4);
    await cli.output([kind, 'purge', 'buried', ...place, '--yes']);
    expect((await cli.run([kind, 'undelete', 'buried', ...place])).code).toBe(5);
    await cli.output([kind, 'create', 'buried', ...place]);
  });
});

test('undelete under something deleted names the command that undeletes that first', async () => {
  await cli.output([...lineOf('env', 'delete'), '--yes']);
  await cli.output([...lineOf('project', 'delete'), '--yes']);
  const { code, stderr } = await cli.run(lineOf('env', 'undelete'));
  expect(code).toBe(6);
  expect(stderr).toContain(`keyframe ${lineOf('project', 'undelete').join(' ')}`);
  await cli.output(lineOf('project', 'undelete'));
  await cli.output(lineOf('env', 'undelete'));
});

test('versions shows who deleted a key and when, until it is restored', async () => {
  await cli.output(['set', 'ENDED=1', ...scope]);
  await cli.output(['set', 'ENDED=2', ...scope]);
  await (await as('admin')).output(['unset', 'ENDED', '--yes', ...scope]);
  const line = ['versions', 'ENDED', ...scope];
  const shown = (await cli.output(line)).split('\n');
  expect(shown[1]).toMatch(new RegExp(`^- +deleted +${world.admin.email} `));
  expect(shown.slice(2, 4)).toEqual([expect.stringMatching(/^v2 /), expect.stringMatching(/^v1 /)]);
  expect(await cli.output([...line, '--output', 'name'])).toBe('2\n1\n');
  const deletion = { deletedAt: expect.any(String), deletedBy: world.admin.id, deletedByName: world.admin.email };
  expect(await cli.json([...line, '--limit', '1'])).toMatchObject({ ...deletion, versions: [{ version: 2 }] });
  await cli.output(['rollback', 'ENDED', '--version', '1', '--undelete', ...scope]);
  expect(await cli.output(line)).not.toContain('deleted');
  expect(await cli.json(line)).toMatchObject({ deletedAt: null, deletedBy: null });
});

test('list --deleted shows deleted keys with their last version and who deleted them, and takes no values', async () => {
  await cli.output(['set', 'LOST=1', ...scope]);
  await cli.output(['set', 'LOST=2', ...scope]);
  await (await as('admin')).output(['unset', 'LOST', '--yes', ...scope]);
  const shown = await cli.output(['list', '--deleted', '--prefix', 'LO', ...scope]);
  expect(shown).toMatch(new RegExp(`^LOST +2 .*${world.admin.email}`, 'm'));
  const json = await cli.json<{ secrets: object[] }>(['list', '--deleted', '--prefix', 'LO', ...scope]);
  expect(json.secrets).toMatchObject([{ key: 'LOST', version: 2, deletedBy: world.admin.id }]);
  for (const flags of [['--reveal'], ['--revision', '1']]) {
    expect(await cli.run(['list', '--deleted', ...flags, ...scope])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cannot be combined'),
    });
  }
});
