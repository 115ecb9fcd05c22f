import { beforeEach, describe, expect, test } from '@jest/globals';
import type { CliRunner } from '../../support/cli/cli.ts';
import { withCommandWorld } from '../../support/cli/command-world.ts';
import type { World } from '../../support/api/services.ts';

let world: World;
let cli: CliRunner;
/** Flags of the project. */
let project: string[];

withCommandWorld((given) => {
  ({ world, cli } = given);
  project = given.scope.slice(0, 4);
});

let round = 0;
let staging: string;
let production: string;

beforeEach(async () => {
  round += 1;
  [staging, production] = [`staging-${round}`, `production-${round}`];
  for (const slug of [staging, production]) await cli.output(['env', 'create', slug, ...project]);
  await cli.output(['set', 'NEW=n', 'SAME=s', 'OTHER=theirs', '--yes', ...project, '-e', staging]);
  await cli.output(['set', 'SAME=s', 'OTHER=ours', 'ONLY=o', '--yes', ...project, '-e', production]);
});

const pulled = (slug: string): Promise<string> => cli.output(['pull', ...project, '-e', slug, '--format', 'env']);
const between = (): string[] => ['--from', staging, '--to', production, ...project];

describe('promote', () => {
  test('shows the plan, and with --yes copies without it', async () => {
    const { code, stdout, stderr } = await cli.run(['promote', ...between(), '--plan']);
    expect([code, stdout]).toEqual([0, '  + NEW\n  ~ OTHER\n']);
    expect(stderr).toMatch(
      /^Nothing was changed in .*\/production-1 \(--plan\): 1 new, 1 changed, 0 deleted, 1 unchanged\nPlan hash: /,
    );
    expect(await pulled(production)).toContain('OTHER=ours');
    const { stdout: done, stderr: notes } = await cli.run(['promote', ...between(), '--yes']);
    expect(done).toMatch(
      new RegExp(`From: +${world.slugs.organization}/${world.slugs.project}/${staging} \\(revision 1\\)`),
    );
    expect(await pulled(production)).toBe('NEW=n\nONLY=o\nOTHER=theirs\nSAME=s\n');
    expect((await cli.run(['promote', ...between(), '--yes'])).stderr).toBe('');
    expect(await cli.output(['promote', ...between(), '--yes', '--output', 'name'])).toBe('');
    const [, undo = ''] = /^To take this back: keyframe (undo .*)\n$/.exec(notes) ?? [];
    await cli.output([...undo.split(' '), '--yes']);
    expect(await pulled(production)).toBe('ONLY=o\nOTHER=ours\nSAME=s\n');
  });

  test('asks about the destination at a terminal, and not about the source', async () => {
    const { shown, code } = await cli.onTerminal(['promote', ...between()], [['[y/N]', 'n\r']]);
    const question = shown.slice(0, shown.indexOf('[y/N]')).split('\n').at(-1);
    expect(question).toContain(`Write 2 secrets in ${[project[1], project[3], production].join('/')}?`);
    expect(question).not.toContain(staging);
    expect(code).toBe(7);
    expect(await pulled(production)).toBe('ONLY=o\nOTHER=ours\nSAME=s\n');
  });

  test('with --missing creates a key again that the destination once had', async () => {
    await cli.output(['set', 'NEW=former', ...project, '-e', production]);
    await cli.output(['unset', 'NEW', '--yes', ...project, '-e', production]);
    const missing = ['promote', ...between(), '--missing'];
    expect((await cli.run([...missing, '--plan'])).stdout).toBe(
      '  + NEW\n    OTHER: kept, because it has another value (--missing)\n',
    );
    await cli.output([...missing, '--yes']);
    expect(await pulled(production)).toBe('NEW=n\nONLY=o\nOTHER=ours\nSAME=s\n');
  });

  test('goes back to an earlier revision of the environment, as shown', async () => {
    await cli.output(['set', 'OTHER=newer', 'LATER=l', '--yes', ...project, '-e', production]);
    const back = ['promote', '--from', production, '--to', production, ...project, '--revision', '1', '--mirror'];
    expect((await cli.run([...back, '--plan'])).stdout).toBe('  - LATER\n  ~ OTHER\n');
    await cli.output([...back, '--yes']);
    expect(await pulled(production)).toBe('ONLY=o\nOTHER=ours\nSAME=s\n');
  });

  test('warns if no secret has the selected keys, and not if they are the same already', async () => {
    const notes = async (...more: string[]): Promise<string> =>
      (await cli.run(['promote', ...between(), '--yes', ...more])).stderr;
    const place = [project[1], project[3], staging].join('/');
    const warning = `warning: no secret of ${place} matches --keys 'NWE' --exclude 'X'\n`;
    expect(await notes('--keys', 'NWE', '--exclude', 'X')).toBe(warning);
    expect(await notes('--keys', 'NWE', '--exclude', 'X', '--plan')).toContain(warning);
    expect(await notes('--keys', 'SAME')).toBe('');
  });

  test('limits the keys, only adds, or mirrors', async () => {
    await cli.output(['promote', ...between(), '--keys', 'N*', '--keys', 'O*', '--exclude', 'OTHER', '--yes']);
    expect(await pulled(production)).toBe('NEW=n\nONLY=o\nOTHER=ours\nSAME=s\n');
    await cli.output(['set', 'LATER=l', ...project, '-e', staging]);
    expect(await cli.output(['promote', ...between(), '--missing', '--yes', '--output', 'name'])).toBe('LATER\n');
    expect(await cli.output(['promote', ...between(), '--mirror', '--yes', '--output', 'name'])).toBe('ONLY\nOTHER\n');
    expect(await pulled(production)).toBe(await pulled(staging));
  });

  test('copies a past revision of the source', async () => {
    await cli.output(['set', 'NEW=later', ...project, '-e', staging]);
    await cli.output(['promote', ...between(), '--revision', '1', '--keys', 'NEW', '--yes']);
    expect(await pulled(production)).toContain('NEW=n\n');
  });

  test('takes the destination from -e, and a project in --from', async () => {
    const from = `${world.slugs.project}/${staging}`;
    await cli.output(['promote', '--from', from, ...project, '-e', production, '--yes']);
    expect(await pulled(production)).toContain('NEW=n\n');
  });

  test('applies the plan that was reviewed, or nothing', async () => {
    const { planHash } = await cli.json<{ planHash: string }>(['promote', ...between(), '--plan']);
    await cli.output(['set', 'NEW=later', ...project, '-e', staging]);
    const { code, stderr } = await cli.run(['promote', ...between(), '--plan-hash', planHash]);
    expect(code).toBe(6);
    expect(stderr).toContain('plan again');
    expect(await pulled(production)).not.toContain('NEW');
  });

  test.each([
    ['without a source', () => ['--to', production], '--from <environment> is required'],
    ['with one environment twice', () => ['--from', staging, '--to', staging], '--from and --to both name'],
    ['with two modes', () => ['--from', staging, '--to', production, '--missing', '--mirror'], 'cannot be combined'],
    [
      'with two destinations',
      () => ['--from', staging, '--to', production, '-e', production],
      'both name the destination',
    ],
    ['between organizations', () => ['--from', 'other/shop/dev', '--to', production], 'must be in one organization'],
    ['with a bad path', () => ['--from', 'a//b', '--to', production], '--from must be an environment'],
    ['with a bad glob', () => ['--from', staging, '--to', production, '--keys', 'a b'], '--keys'],
  ])('is refused %s', async (_case, line, message) => {
    const { code, stderr } = await cli.run(['promote', ...line(), ...project]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  test('names the source that is missing, with the nearest one, and the revision that it lacks', async () => {
    const flags = project.join(' ');
    const place = [project[1], project[3]].join('/');
    const lines = async (from: string, ...more: string[]): Promise<string[]> => {
      const args = ['promote', '--from', from, '--to', production, ...project, '--yes', ...more];
      const { code, stderr } = await cli.run(args);
      expect(code).toBe(5);
      return stderr.trimEnd().split('\n');
    };
    const wrong = staging.replace('-', '--');
    expect(await lines(wrong)).toEqual([
      `error: environment ${place}/${wrong} does not exist, or is not visible to you`,
      `  Did you mean ${staging}?`,
      `  See the environments: keyframe env list ${flags}`,
      `  If it was deleted, take that back: keyframe env undelete ${wrong} ${flags}`,
    ]);
    expect((await lines(`elsewhere/${staging}`))[0]).toContain(`project ${project[1]}/elsewhere does not exist`);
    expect(await lines(staging, '--revision', '99')).toEqual([
      `error: ${place}/${staging} has no revision 99`,
      `  See the revisions: keyframe history ${flags} -e ${staging}`,
    ]);
    const { code, stderr } = await cli.run(['promote', ...between(), '--revision', 'x y']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: --revision must be /)]);
  });
});
