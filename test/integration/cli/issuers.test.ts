import { expect, test } from '@jest/globals';
import type { CliRunner } from '../../support/cli/cli.ts';
import { withCommandWorld } from '../../support/cli/command-world.ts';
import type { TestApi } from '../../support/api/http.ts';
import { IssuerCalls } from '../../support/api/issuer-calls.ts';
import type { World } from '../../support/api/services.ts';

let api: TestApi;
let world: World;
let cli: CliRunner;

withCommandWorld((given) => {
  ({ api, world, cli } = given);
});

test('issuer delete ends the tokens of an issuer only with --force, and after its name was typed', async () => {
  const issuer = new IssuerCalls(api.services);
  await issuer.set();
  await issuer.prove(world);
  const refused = await cli.run(['issuer', 'delete', issuer.name, '--yes']);
  expect(refused.stderr).toContain(`keyframe issuer delete ${issuer.name} --force`);
  const asked = await cli.run(['issuer', 'delete', issuer.name, '--force']);
  expect(asked).toMatchObject({
    code: 7,
    stderr: expect.stringContaining('revokes 1 service token in 1 organization for good'),
  });
  expect(await issuer.get()).toMatchObject({ tokens: 1, disabledAt: null });
  const done = await cli.run(['issuer', 'delete', issuer.name, '--force', '--yes']);
  expect(done.stderr).toContain(`Deleted ${issuer.name} and revoked 1 service token in 1 organization.`);
});
