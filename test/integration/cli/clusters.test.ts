import { beforeEach, describe, expect, test } from '@jest/globals';
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

describe('what administrators of the server see of a cluster', () => {
  const hello = async (name: string, release: string): Promise<void> => {
    const program = { release, protocol: { min: 1, max: 2 }, kinds: ['SecretSync', 'ServiceToken'] };
    await services().clusters.hello(name, { uid: `uid-of-${name}`, isLeading: true, ...program });
  };

  test('cluster list --all shows the releases of controllers, and the server beside another one', async () => {
    const { stdout: me } = await cli.run(['status', '--output', 'json']);
    const { version } = (JSON.parse(me) as { server: { version: string } }).server;
    await hello('fra-1', version);
    await hello('fra-2', '0.9.7');
    const lines = (await cli.output(['cluster', 'list', '--all'])).split('\n');
    const lineOf = (name: string): string | undefined => lines.find((line) => line.startsWith(name));
    expect(lineOf('fra-1')).toContain(`enabled  ${version}  `);
    expect(lineOf('fra-1')).not.toContain('server:');
    expect(lineOf('fra-2')).toContain(`0.9.7 (server: ${version})`);
    expect(lineOf('test')).toContain('unknown');
  });

  test('cluster show --all shows its state and its controller', async () => {
    await hello('fra-3', '0.9.7');
    await services().database.pool.query(
      `INSERT INTO trusted_issuer (id, cluster, preset, iss, keys, algorithms, max_age_seconds)
      VALUES (gen_random_uuid(), 'fra-3', 'kubernetes', 'https://kubernetes.default.svc', '{"keys": [{}]}', '{RS256}', 3600)`,
    );
    const shown = await cli.output(['cluster', 'show', 'fra-3', '--all']);
    expect(shown).toMatch(/^State: +enabled$/m);
    expect(shown).toMatch(/^UID: +uid-of-fra-3$/m);
    expect(shown).toMatch(/^Release: +0\.9\.7 \(server: .*\)$/m);
    expect(shown).toMatch(/^Protocol: +1 to 2$/m);
    expect(shown).toMatch(/^Kinds: +SecretSync, ServiceToken$/m);
    expect(shown).toMatch(/^Issuer: +https:\/\/kubernetes.default.svc \(1 key\)$/m);
    const unknown = await cli.output(['cluster', 'show', 'test', '--all']);
    expect(unknown).toMatch(/^Release: +unknown$/m);
    expect(unknown).toMatch(/^Protocol: +unknown$/m);
    expect(unknown).toMatch(/^Issuer: +unknown$/m);
  });

  test('cluster show --all names the command that lists the clusters if it does not know one', async () => {
    const { code, stderr } = await cli.run(['cluster', 'show', 'atlantis', '--all']);
    expect(code).toBe(5);
    expect(stderr).toContain('keyframe cluster list --all');
  });
});
