import { expect, test } from '@jest/globals';
import type { CliRunner } from '../../support/cli/cli.ts';
import { withCommandWorld } from '../../support/cli/command-world.ts';
import type { World } from '../../support/api/services.ts';

let world: World;
let cli: CliRunner;
let scope: string[];

withCommandWorld((given) => {
  ({ world, cli, scope } = given);
});

test('env protect lists the service tokens that lose write access, and env unprotect gives it back', async () => {
  const { environment } = world.slugs;
  const place = scope.slice(0, 4);
  const wide = await world.serviceToken({ scope: 'organization', name: 'deployer' });
  await world.serviceToken({ name: 'own' });
  const plan = await cli.run(['env', 'protect', environment, ...place, '--plan']);
  expect(plan.stderr).toContain(`The service token deployer (scope organization, ${wide.id}) would lose write access.`);
  expect(plan.stderr).not.toContain('own');
  expect(await cli.output(['env', 'show', environment, ...place])).not.toContain('Protected');
  const done = await cli.run(['env', 'protect', environment, ...place]);
  expect(done.stderr).toContain('The service token deployer');
  expect(done.stdout).toMatch(/Protected: +yes/);
  expect(await cli.output(['env', 'list', ...place])).toMatch(/PROTECTED[\s\S]* yes/);
  expect(await cli.output(['env', 'show', environment, ...place])).toMatch(/Protected: +yes/);
  const env = { KEYFRAME_TOKEN: world.developer.token.reveal() };
  const refused = await cli.run(['set', 'A=1', ...scope], { env });
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain('is protected; ask an owner or admin');
  expect(await cli.output(['env', 'unprotect', environment, ...place])).toMatch(/Protected: +no/);
  expect((await cli.run(['set', 'A=1', ...scope], { env })).code).toBe(0);
});
