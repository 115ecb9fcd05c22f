import { beforeEach, describe, expect, test } from '@jest/globals';
import type { InvitationListView, InvitationView } from '../../../src/wire/invitations.ts';
import type { CliRunner } from '../../support/cli/cli.ts';
import type { CommandEnd } from '../../support/cli/running-command.ts';
import { withCommandWorld } from '../../support/cli/command-world.ts';
import type { TestApi } from '../../support/api/http.ts';
import { createUser, type TestUser, type World } from '../../support/api/services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let api: TestApi;
let world: World;
let cli: CliRunner;
let scope: string[];
/** A user without any role, new for each test. */
let ann: TestUser;

withCommandWorld((given) => {
  ({ api, world, cli, scope } = given);
});

beforeEach(async () => {
  ann = await createUser(api.services);
});

const asAnn = (): { env: Record<string, string> } => ({ env: { KEYFRAME_TOKEN: ann.token.reveal() } });
const until = (): string => new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);

async function invite(...place: readonly string[]): Promise<CommandEnd> {
  const [noun, ...flags] = place;
  const run = await cli.run([noun ?? '', 'set', ann.email, '--role', 'developer', ...flags]);
  expect(run).toMatchObject({ code: 0, stdout: '' });
  return run;
}

describe('member set and role set', () => {
  test('say that the user was invited, to which place, until when, and how to accept', async () => {
    const { organization, project, environment } = world.slugs;
    const sentence = (place: string): string =>
      `Invited ${ann.email} to be developer on ${place}. The user has this role after accepting, until ${until()}: ` +
      `keyframe invitation accept -o ${organization}\n`;
    expect((await invite('member', '-o', organization)).stderr).toBe(sentence(organization));
    expect((await invite('role', ...scope.slice(0, 4))).stderr).toBe(sentence(`${organization}/${project}`));
    expect((await invite('role', ...scope)).stderr).toBe(sentence(`${organization}/${project}/${environment}`));
    const again = await cli.json<InvitationView>(['member', 'set', ann.email, '--role', 'viewer', '-o', organization]);
    expect(again).toMatchObject({
      role: 'viewer',
      user: { email: ann.email },
      invitedBy: { email: world.owner.email },
    });
    expect(
      await cli.output(['member', 'set', ann.email, '--role', 'viewer', '-o', organization, '--output', 'name']),
    ).toBe(`${ann.email}\n`);
  });
});

describe('invitation create and user sign-in-link', () => {
  test('print the link alone on standard output, and what it is for on standard error', async () => {
    const { organization, project } = world.slugs;
    const address = `${ann.id.slice(0, 8)}@new.example.test`;
    const place = ['--role', 'developer', '-p', project];
    const created = await cli.run(['invitation', 'create', address, '-o', organization, ...place]);
    expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^http:\S+\/link#kf_lnk_\w{71}\n$/) });
    expect(created.stderr).toMatch(
      new RegExp(
        `^With it, ${address} becomes a user and developer on ${organization}/${project}\\. The link works once, until \\S+Z, and is shown only here\\.\n$`,
      ),
    );
    expect(await cli.output(['invitation', 'list', '-o', organization])).toContain(address);
    const link = await cli.run(['user', 'sign-in-link', ann.email]);
    expect(link).toMatchObject({ code: 0, stdout: expect.stringMatching(/\/link#kf_lnk_\w{71}\n$/) });
    expect(link.stderr).toContain(`With it, ${ann.email} signs in to a browser.`);
    await cli.output(['invitation', 'withdraw', address, '-o', organization, '--yes']);
    expect(await cli.output(['invitation', 'list', '-o', organization])).not.toContain(address);
  });

  test('end with 6 for the address of a user, and with 5 for a user who does not exist', async () => {
    const role = ['--role', 'viewer'];
    const taken = await cli.run(['invitation', 'create', ann.email, '-o', world.slugs.organization, ...role]);
    expect(taken).toMatchObject({ code: 6, stdout: '', stderr: expect.stringContaining('keyframe member set') });
    expect((await cli.run(['user', 'sign-in-link', 'no-one@example.test'])).code).toBe(5);
  });
});

describe('invitation accept', () => {
  test('shows place, role and who invited, asks, and gives the roles', async () => {
    const { organization, project } = world.slugs;
    await cli.output(['set', 'A=1', ...scope]);
    await invite('member', '-o', organization);
    await invite('role', ...scope.slice(0, 4));
    expect((await cli.run(['get', 'A', ...scope], asAnn())).code).toBe(5);
    const titles = `developer on ${organization}, developer on ${organization}/${project}`;
    const asked = await cli.run(['invitation', 'accept', '-o', organization], asAnn());
    expect(asked.code).toBe(7);
    expect(asked.stderr).toContain(`Accept to be ${titles}, as ${world.owner.email} invited you?`);
    expect((await cli.run(['get', 'A', ...scope], asAnn())).code).toBe(5);
    const done = await cli.run(['invitation', 'accept', '-o', organization, '--yes'], asAnn());
    expect(done).toMatchObject({ code: 0, stderr: `You are ${titles}.\n` });
    expect(await cli.output(['get', 'A', ...scope], asAnn())).toBe('1');
    const none = await cli.run(['invitation', 'accept', '-o', organization, '--yes'], asAnn());
    expect(none).toMatchObject({ code: 5, stderr: expect.stringContaining('keyframe invitation list') });
  });

  test('ends with 6 and the reason if the invitation is not valid any more', async () => {
    const { organization } = world.slugs;
    await invite('member', '-o', organization);
    const prisma = prismaOf(api.services.database);
    await prisma.invitation.updateMany({ where: { userId: ann.id }, data: { invitedBy: world.viewer.id } });
    const refused = await cli.run(['invitation', 'accept', '-o', organization, '--yes'], asAnn());
    expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining('may no longer give the role') });
  });
});

describe('invitation list, decline and withdraw', () => {
  test('are for the user, and for admins of the organization', async () => {
    const { organization } = world.slugs;
    await invite('member', '-o', organization);
    expect(await cli.output(['invitation', 'list'], asAnn())).toMatch(
      new RegExp(`^PLACE +ROLE +INVITED BY +EXPIRES\n${organization} +developer +${world.owner.email} +${until()}`),
    );
    expect(await cli.output(['invitation', 'list', '-o', organization])).toMatch(
      new RegExp(`^${organization} +${ann.email} `, 'm'),
    );
    expect((await cli.run(['invitation', 'list', '-o', organization], asAnn())).code).toBe(5);
    const declined = await cli.run(['invitation', 'decline', '-o', organization, '--yes'], asAnn());
    expect(declined).toMatchObject({ code: 0, stderr: `You declined to be developer on ${organization}.\n` });
    expect((await cli.run(['invitation', 'list'], asAnn())).stderr).toBe('No invitations wait for you.\n');
    await invite('member', '-o', organization);
    const withdrawn = await cli.run(['invitation', 'withdraw', ann.email.toUpperCase(), '-o', organization, '--yes']);
    expect(withdrawn).toMatchObject({ code: 0, stderr: expect.stringContaining('is withdrawn') });
    const { invitations } = await cli.json<InvitationListView>(['invitation', 'list'], asAnn());
    expect(invitations).toEqual([]);
    const none = await cli.run(['invitation', 'withdraw', ann.email, '-o', organization, '--yes']);
    expect(none).toMatchObject({
      code: 5,
      stderr: expect.stringContaining(`keyframe invitation list -o ${organization}`),
    });
  });
});

test('whoami and status say in one line that invitations wait', async () => {
  const line = /^Invitations: +2 \(see: keyframe invitation list\)$/m;
  expect(await cli.output(['whoami'], asAnn())).not.toContain('Invitations');
  await invite('member', '-o', world.slugs.organization);
  await invite('role', ...scope);
  expect(await cli.output(['whoami'], asAnn())).toMatch(line);
  expect((await cli.run(['status'], asAnn())).stdout).toMatch(line);
});
