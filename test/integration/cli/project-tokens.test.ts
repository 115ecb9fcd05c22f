import { expect, test } from '@jest/globals';
import { RoleCalls } from '../../support/api/role-calls.ts';
import type { World } from '../../support/api/services.ts';
import type { CliRunner } from '../../support/cli/cli.ts';
import { withCommandWorld } from '../../support/cli/command-world.ts';
import type { TestApi } from '../../support/api/http.ts';

let api: TestApi;
let world: World;
let cli: CliRunner;

withCommandWorld((given) => {
  ({ api, world, cli } = given);
});

test('an admin of a project alone creates, lists, rotates and revokes its service tokens', async () => {
  const admin = await new RoleCalls(api.services, world).user('project', 'admin');
  const env = { KEYFRAME_TOKEN: admin.token.reveal() };
  const { organization, project, environment } = world.slugs;
  const organizationFlags = ['-o', organization];
  const projectFlags = [...organizationFlags, '--project', project];
  const wide = await world.serviceToken({ scope: 'organization', name: 'wide' });
  const creation = ['token', 'create-service', '-p', 'read', ...projectFlags];
  for (const [name, scope] of [
    ['deploy', ['-s', 'project']],
    ['web', ['-s', 'environment', '-e', environment]],
  ] as const) {
    expect(await cli.output([...creation, '-n', name, ...scope], { env })).toMatch(/Token: +kf_svc_/);
  }
  const refused = await cli.run(
    ['token', 'create-service', '-p', 'read', '-n', 'x', '-s', 'organization', ...organizationFlags],
    { env },
  );
  expect(refused.stderr).toContain('ask an owner or admin');
  const list = await cli.output(['token', 'list-service', ...projectFlags], { env });
  expect(list).toMatch(/deploy/);
  expect(list).toMatch(/web/);
  expect(list).not.toContain('wide');
  expect((await cli.run(['token', 'list-service', ...organizationFlags], { env })).code).not.toBe(0);
  const rotation = ['token', 'rotate-service', '--id', 'deploy', '--overlap', '0', '--yes', ...projectFlags];
  expect(await cli.output(rotation, { env })).toMatch(/Token: +kf_svc_/);
  const revoke = (id: string): readonly string[] => ['token', 'revoke-service', '--id', id, '--yes', ...projectFlags];
  await cli.output(revoke('deploy'), { env });
  expect((await cli.run(revoke(wide.id), { env })).stderr).toContain('does not exist here');
});
