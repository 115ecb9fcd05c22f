import { describe, expect, test } from '@jest/globals';
import { CliRunner } from '../../support/cli/cli.ts';
import { withCommandWorld } from '../../support/cli/command-world.ts';
import type { TestApi } from '../../support/api/http.ts';
import type { World } from '../../support/api/services.ts';

let api: TestApi;
let world: World;
let cli: CliRunner;
let scope: string[];

withCommandWorld((given) => {
  ({ api, world, cli, scope } = given);
});

/** Writes the versions of a key, one after the other. */
async function write(key: string, ...values: string[]): Promise<void> {
  for (const value of values) {
    await cli.output(['set', `${key}=${value}`, '--force', ...scope]);
  }
}

async function codeOfVersion(key: string, version: number): Promise<number | null> {
  return (await cli.run(['get', key, '--version', String(version), ...scope])).code;
}

const destroy = (key: string, version: number, ...flags: string[]): string[] => [
  'destroy',
  key,
  '--version',
  String(version),
  ...scope,
  ...flags,
];

describe('destroy', () => {
  test('erases a version once it is confirmed, and the history shows since when', async () => {
    await write('LEAK', 'leaked', 'safe');
    const before = await cli.output(['versions', 'LEAK', ...scope]);
    expect(before).not.toContain('DESTROYED');
    const unasked = await cli.run(destroy('LEAK', 1));
    expect([unasked.code, unasked.stderr]).toEqual([7, expect.stringContaining('add --yes')]);
    const no = await cli.onTerminal(destroy('LEAK', 1), [['[y/N]', 'n\r']]);
    expect([no.code, await codeOfVersion('LEAK', 1)]).toEqual([7, 0]);
    const { organization, project, environment } = world.slugs;
    expect(no.shown).toContain(`Destroy version 1 of LEAK in ${organization}/${project}/${environment} permanently?`);
    const yes = await cli.onTerminal(destroy('LEAK', 1), [['[y/N]', 'y\r']]);
    expect([yes.code, yes.shown]).toEqual([0, expect.stringMatching(/Together:\S* +v1/)]);
    const gone = await cli.run(['get', 'LEAK', '--version', '1', ...scope]);
    expect([gone.code, gone.stdout]).toEqual([5, '']);
    expect(gone.stderr).toContain('version 1 of secret LEAK was destroyed');
    expect(gone.stderr).toContain(`keyframe versions LEAK ${scope.join(' ')}\n`);
    const history = await cli.output(['versions', 'LEAK', ...scope]);
    expect(history).toMatch(/ DESTROYED +COMMENT\n/);
    expect(history).toMatch(/^v1 +created +\S+ +\S+ +20\S+Z/m);
    expect((await cli.run(['rollback', 'LEAK', '--version', '1', ...scope])).code).toBe(5);
    expect(await cli.json(destroy('LEAK', 1, '--yes'))).toMatchObject({ version: 1, destroyedVersions: [1] });
  });

  test('of the current version, or of a value that other versions have, says what to do instead', async () => {
    await write('SAME', 'leaked', 'leaked', 'safe');
    const current = await cli.run(destroy('SAME', 3, '--yes'));
    expect([current.code, current.stderr]).toEqual([
      6,
      expect.stringContaining(`keyframe set SAME ${scope.join(' ')}\n`),
    ]);
    const shared = await cli.run(destroy('SAME', 1, '--yes'));
    expect(shared.code).toBe(6);
    expect(shared.stderr).toContain('these versions hold the value of version 1 as well: 2\n');
    expect(shared.stderr).toContain('add --same-value');
    expect((await cli.run(destroy('SAME', 1, '--same-value', '--this-version-only'))).code).toBe(2);
    await cli.output(destroy('SAME', 1, '--this-version-only', '--yes'));
    expect([await codeOfVersion('SAME', 1), await codeOfVersion('SAME', 2)]).toEqual([5, 0]);
  });

  test('takes the same value out of all versions on request, and needs a version', async () => {
    await write('ALL', 'leaked', 'leaked', 'safe');
    const answer = await cli.json(destroy('ALL', 2, '--same-value', '--yes'));
    expect(answer).toMatchObject({ version: 2, destroyedVersions: [1, 2] });
    const { code, stderr } = await cli.run(['destroy', 'ALL', ...scope, '--yes']);
    expect([code, stderr]).toEqual([2, expect.stringContaining("required option '--version <n>'")]);
    expect((await cli.run(destroy('ALL', 9, '--yes'))).code).toBe(5);
  });

  test('is named where a snapshot has lost the value, by its plan, its restore and its diff', async () => {
    await write('LOST', 'leaked');
    const id = (await cli.output(['snapshot', 'create', ...scope, '--output', 'name'])).trim();
    await write('LOST', 'safe');
    await cli.output(destroy('LOST', 1, '--yes'));
    const restore = ['snapshot', 'restore', id];
    expect((await cli.run(restore)).stderr).toContain('LOST: skipped, because its value was destroyed');
    expect(await cli.output([...restore, '--plan'])).toContain('LOST: skipped');
    expect(await cli.json([...restore, '--yes'])).toMatchObject({ destroyed: ['LOST'] });
    expect(await cli.output(['get', 'LOST', ...scope])).toBe('safe');
    const diff = await cli.run(['snapshot', 'diff', id]);
    expect(diff.stderr).toContain('a restore leaves these as they are: LOST v1');
  });

  test('is for admins and owners alone', async () => {
    await write('RIGHT', 'leaked', 'safe');
    const developer = await CliRunner.create({ url: `http://127.0.0.1:${api.port}`, token: world.developer.token });
    try {
      expect((await developer.run(destroy('RIGHT', 1, '--yes'))).code).toBe(4);
    } finally {
      developer.remove();
    }
    expect(await codeOfVersion('RIGHT', 1)).toBe(0);
  });
});

describe('snapshot restore', () => {
  test('--plan prints what --dry-run prints, and --plan-hash holds to its hash', async () => {
    await write('PLAN', 'good');
    const id = (await cli.output(['snapshot', 'create', ...scope, '--output', 'name'])).trim();
    await write('PLAN', 'broken');
    const restore = ['snapshot', 'restore', id];
    const plan = await cli.json<{ planHash: string }>([...restore, '--plan']);
    expect(await cli.json([...restore, '--dry-run'])).toEqual(plan);
    expect(await cli.output(['get', 'PLAN', ...scope])).toBe('broken');
    await cli.output([...restore, '--plan-hash', plan.planHash]);
    expect(await cli.output(['get', 'PLAN', ...scope])).toBe('good');
    expect((await cli.run([...restore, '--plan-hash', plan.planHash])).code).toBe(6);
  });
});
