import { beforeEach, expect, test } from '@jest/globals';
import type { CliRunner } from '../../support/cli/cli.ts';
import { withCommandWorld } from '../../support/cli/command-world.ts';
import type { TestApi } from '../../support/api/http.ts';
import type { World } from '../../support/api/services.ts';
import { TestSyncReader } from '../../support/api/sync-reader.ts';

let api: TestApi;
let world: World;
let cli: CliRunner;
let place: string[];
let reader: TestSyncReader;

withCommandWorld(async (given) => {
  ({ api, world, cli } = given);
  const { organization, project, environment } = world.slugs;
  place = ['-o', organization, '-p', project, '-e', environment];
  await new TestSyncReader(api.services, world).read();
});

beforeEach(async () => {
  reader = new TestSyncReader(api.services, world);
  await cli.run(['cluster', 'rules', 'test', '--remove', '--yes', '-o', world.slugs.organization]);
});

test('the command in the message of a refusal allows what was refused', async () => {
  await cli.output(['cluster', 'allow', 'test', '--yes', '-o', world.slugs.organization, '-p', 'other', '-e', 'other']);
  const refusal = await services()
    .keyless.admit(reader.reader, world.slugs)
    .catch((error: unknown) => error);
  const command = /`keyframe ([^`]+)`/.exec((refusal as Error).message)?.[1] ?? '';
  await cli.output(command.split(' '));
  expect(await reader.outcome()).toEqual({});
});

test('deny takes an environment out of the rules, and names the rules if none names it', async () => {
  await cli.output(['cluster', 'allow', 'test', '--yes', ...place]);
  await cli.output(['cluster', 'deny', 'test', '--yes', ...place]);
  expect(await reader.outcome()).toBe('cluster_not_allowed');
  const again = await cli.run(['cluster', 'deny', 'test', '--yes', ...place]);
  expect(again.code).toBe(5);
  expect(again.stderr).toContain(`keyframe cluster rules test -o ${world.slugs.organization}`);
});

test('allow says what another kind means', async () => {
  const { stderr } = await cli.run(['cluster', 'allow', 'test', '--yes', '--kind', 'ServiceToken', ...place]);
  expect(stderr).toContain('With ServiceToken, the admins of the cluster decide who gets a token');
});

function services(): TestApi['services'] {
  return api.services;
}

test.each(['--plan', '--dry-run'])(
  'cluster forget with %s lists what the cluster has, and ends nothing',
  async (flag) => {
    await reader.read();
    const { code, stdout, stderr } = await cli.run(['cluster', 'forget', 'test', flag]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'Nothing was changed in cluster test (--plan): 1 token would be revoked, and 0 Secrets would stay behind\n',
    });
    expect(stdout).toMatch(/^Tokens: +1\nToken: +.*SecretSyncs of /);
    expect(await reader.outcome()).toEqual({});
  },
);
