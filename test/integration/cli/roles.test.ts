import { beforeEach, describe, expect, test } from '@jest/globals';
import type { RoleBindingListView } from '../../../src/wire/role-bindings.ts';
import type { CliRunner } from '../../support/cli/cli.ts';
import type { CommandEnd } from '../../support/cli/running-command.ts';
import { withCommandWorld } from '../../support/cli/command-world.ts';
import type { TestApi } from '../../support/api/http.ts';
import { accept, createProject, createUser, type TestUser, type World } from '../../support/api/services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

const elsewhere = 'elsewhere';
let api: TestApi;
let world: World;
let cli: CliRunner;
/** The paths of the organization, the project and the environment. */
let places: readonly [organization: string, project: string, environment: string];
/** The options that name them. */
let flags: { readonly org: string[]; readonly project: string[]; readonly env: string[] };
/** A user who has a role in another project, so that others need no acceptance; new for each test. */
let ann: TestUser;

withCommandWorld(async (given) => {
  ({ api, world, cli } = given);
  const { organization, project, environment } = world.slugs;
  flags = { org: given.scope.slice(0, 2), project: given.scope.slice(0, 4), env: given.scope };
  places = [organization, `${organization}/${project}`, `${organization}/${project}/${environment}`];
  await cli.output(['set', 'A=1', ...given.scope]);
  // The folder's default environment, which must never be the place of a role by itself.
  await cli.output(['init', ...given.scope]);
  await createProject(api.services, world, elsewhere);
});

beforeEach(async () => {
  ann = await createUser(api.services);
  const place = { organization: world.slugs.organization, project: elsewhere };
  const access = await api.services.access.project(world.owner.caller, 'project.set_role', place);
  await accept(api.services, ann, await api.services.roleBindings.set(access, { id: ann.id }, 'viewer'));
});

const as = ({ token }: TestUser): { env: Record<string, string> } => ({ env: { KEYFRAME_TOKEN: token.reveal() } });

async function set(subject: string, role: string, ...place: readonly string[]): Promise<string> {
  const { code, stderr } = await cli.run(['role', 'set', subject, '--role', role, ...place]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return stderr.trim();
}

async function removed(subject: string, ...place: readonly string[]): Promise<CommandEnd> {
  return await cli.run(['role', 'remove', subject, ...place, '--yes']);
}

/** Puts a user into a group, as a sign-in does. */
async function join(user: { readonly id: string }, groupName: string): Promise<void> {
  const expiresAt = new Date(Date.now() + 3_600_000);
  await prismaOf(api.services.database).groupMember.create({ data: { userId: user.id, groupName, expiresAt } });
}

async function bindings(): Promise<string[]> {
  const { roles } = await cli.json<RoleBindingListView>(['role', 'list', ...flags.org]);
  return roles.map(({ project, environment, user, group, role }) =>
    [project, environment, user?.email ?? group, role].join(' '),
  );
}

describe('role set', () => {
  test('gives a user a role in a project or an environment, and says where', async () => {
    const [, project, environment] = places;
    expect((await cli.run(['get', 'A', ...flags.env], as(ann))).code).toBe(5);
    expect(await set(ann.email.toUpperCase(), 'viewer', ...flags.env)).toBe(
      `Gave ${ann.email} the role viewer on environment ${environment}.`,
    );
    expect(await cli.output(['get', 'A', ...flags.env], as(ann))).toBe('1');
    expect((await cli.run(['set', 'A=1', ...flags.env], as(ann))).code).toBe(4);
    expect(await set(ann.id, 'developer', ...flags.project)).toBe(
      `Gave ${ann.email} the role developer on project ${project}.`,
    );
    expect((await cli.run(['set', 'A=1', ...flags.env], as(ann))).code).toBe(0);
  });

  test('gives a group a role at any place', async () => {
    await join(ann, 'platform');
    expect(await set('group:platform', 'viewer', ...flags.org)).toBe(
      `Gave group platform the role viewer on organization ${places[0]}.`,
    );
    expect((await cli.run(['project', 'list', ...flags.org, '--output', 'name'], as(ann))).stdout).toContain(
      world.slugs.project,
    );
    expect(await set('group:Team A/ops & more', 'admin', ...flags.project)).toContain(
      'Gave group Team A/ops & more the',
    );
    expect((await removed('group:Team A/ops & more', ...flags.project)).code).toBe(0);
    expect((await removed('group:platform', ...flags.org)).code).toBe(0);
  });

  test('takes what is above the named place from the folder, and never the place itself', async () => {
    const before = await bindings();
    for (const line of [
      ['set', ann.email, '--role', 'viewer'],
      ['remove', ann.email, '--yes'],
    ]) {
      const { code, stderr } = await cli.run(['role', ...line]);
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('the place is missing') });
    }
    expect(await bindings()).toEqual(before);
    const { project, environment } = world.slugs;
    expect(await set(ann.email, 'viewer', '-p', project)).toContain(`on project ${places[1]}.`);
    expect(await set(ann.email, 'viewer', '-e', environment)).toContain(`on environment ${places[2]}.`);
    // The project of the folder is not one of another organization.
    const foreign = await cli.run(['role', 'set', ann.email, '--role', 'viewer', '-o', 'other', '-e', environment]);
    expect(foreign).toMatchObject({ code: 2, stderr: expect.stringContaining('the project is missing') });
    expect((await bindings()).filter((line) => line.includes(ann.email))).toEqual([
      `${elsewhere}  ${ann.email} viewer`,
      `${project}  ${ann.email} viewer`,
      `${project} ${environment} ${ann.email} viewer`,
    ]);
  });

  test('refuses a user in a whole organization, an owner by place and a malformed subject', async () => {
    const inOrganization = await cli.run(['role', 'set', ann.email, '--role', 'viewer', ...flags.org]);
    expect(inOrganization.code).toBe(2);
    expect(inOrganization.stderr).toContain('<subject> must be a group');
    expect(inOrganization.stderr).toContain('keyframe member set');
    for (const [subject, role] of [
      [ann.email, 'owner'],
      ['ann', 'viewer'],
      ['group:', 'viewer'],
    ] as const) {
      expect((await cli.run(['role', 'set', subject, '--role', role, ...flags.project])).code).toBe(2);
    }
  });

  test('refuses a role for oneself, and for a group that one is in', async () => {
    await join(world.owner, 'owners');
    for (const subject of [world.owner.email, 'group:owners']) {
      const { code, stderr } = await cli.run(['role', 'set', subject, '--role', 'viewer', ...flags.project, '--yes']);
      expect({ code, stderr }).toMatchObject({ code: 4, stderr: expect.stringContaining('to oneself') });
    }
  });

  test('asks before it lowers a role that the caller cannot raise again', async () => {
    await set(ann.email, 'admin', ...flags.project);
    await join(ann, 'leads');
    await set('group:leads', 'admin', ...flags.env);
    for (const [subject, place] of [
      [ann.email.toUpperCase(), flags.project],
      [ann.id, flags.project],
      ['group:leads', flags.env],
    ] as const) {
      const line = ['role', 'set', subject, '--role', 'developer', ...place];
      const { code, stderr } = await cli.run(line, as(ann));
      expect({ code, stderr }).toMatchObject({ code: 7, stderr: expect.stringContaining('This role is yours') });
    }
    // Of another user, and of a group at a place where it gives the caller nothing.
    const other = await createUser(api.services);
    for (const subject of [other.email, 'group:other']) {
      const line = ['role', 'set', subject, '--role', 'developer', ...flags.project];
      expect((await cli.run(line, as(ann))).code).toBe(0);
    }
    const own = ['role', 'set', ann.email, '--role', 'viewer', ...flags.project, '--yes'];
    expect((await cli.run(own, as(ann))).code).toBe(0);
    expect((await removed('group:leads', ...flags.env)).code).toBe(0);
    expect((await removed('group:other', ...flags.project)).code).toBe(0);
  });
});

describe('role list', () => {
  test('shows place, subject, role and time, at a place and within it', async () => {
    await set('group:readers', 'viewer', ...flags.org);
    await set('group:readers', 'developer', ...flags.project);
    await set(ann.email, 'admin', ...flags.env);
    const [organization, project, environment] = places;
    const time = String.raw`\d{4}-\d{2}-\d{2}T[\d:.]+Z`;
    const listed = await cli.output(['role', 'list', ...flags.org]);
    expect(listed).toMatch(/^PLACE +SUBJECT +ROLE +SINCE$/m);
    expect(listed).toMatch(new RegExp(`^${organization} +group:readers +viewer +${time}$`, 'm'));
    expect(listed).toMatch(new RegExp(`^${project} +group:readers +developer +${time}$`, 'm'));
    expect(listed).toMatch(new RegExp(`^${environment} +${ann.email} +admin +${time}$`, 'm'));
    // Without a flag: the organization of the folder.
    expect(await cli.output(['role', 'list'])).toBe(listed);
    const inProject = await cli.output(['role', 'list', '-p', world.slugs.project]);
    expect(inProject).not.toContain(`${organization} `);
    expect(inProject).toContain(ann.email);
    const inEnvironment = await cli.output(
      ['role', 'list', '-e', world.slugs.environment, '--output', 'name'],
      as(ann),
    );
    expect(inEnvironment.split('\n')).toContain(ann.email);
    expect(inEnvironment).not.toContain('group:readers');
    for (const place of [flags.org, flags.project]) await removed('group:readers', ...place);
  });

  test('reads all pages', async () => {
    const data = Array.from({ length: 1001 }, (_, index) => ({
      id: crypto.randomUUID(),
      organizationId: world.organization.id,
      groupName: `crowd-${String(index).padStart(4, '0')}`,
      role: 'viewer' as const,
    }));
    const { roleBinding } = prismaOf(api.services.database);
    await roleBinding.createMany({ data });
    try {
      const names = (await cli.output(['role', 'list', ...flags.org, '--output', 'name'])).trimEnd().split('\n');
      expect(names.filter((name) => name.startsWith('group:crowd-'))).toEqual(
        data.map(({ groupName }) => `group:${groupName}`),
      );
    } finally {
      await roleBinding.deleteMany({ where: { groupName: { startsWith: 'crowd-' } } });
    }
  });
});

describe('role remove', () => {
  test('withdraws the role at exactly this place, after a question', async () => {
    await set(ann.email, 'viewer', ...flags.project);
    await set(ann.email, 'developer', ...flags.env);
    const line = ['role', 'remove', ann.email, ...flags.project];
    const asked = await cli.run(line);
    expect(asked).toMatchObject({
      code: 7,
      stderr: expect.stringContaining(`Withdraw the role of ${ann.email} on project ${places[1]}?`),
    });
    expect((await removed(ann.email, ...flags.project)).stderr).toBe(
      `Withdrew the role of ${ann.email} on project ${places[1]}.\n`,
    );
    expect(await cli.output(['get', 'A', ...flags.env], as(ann))).toBe('1');
    const again = await removed(ann.email, ...flags.project);
    expect(again).toMatchObject({ code: 5 });
    expect(again.stderr).toContain(`has no role of its own on project ${places[1]}`);
    expect(again.stderr).toContain(`See the roles: keyframe role list -o ${places[0]}`);
    expect((await removed('absent@example.test', ...flags.env)).stderr).toContain('keyframe user create <email>');
  });

  test('does not say to readers whether an address belongs to a user', async () => {
    await set(ann.email, 'viewer', ...flags.env);
    const other = await createUser(api.services);
    const said = async (user: string): Promise<unknown> => {
      const { code, stderr } = await cli.run(['role', 'remove', user, ...flags.env, '--yes'], as(ann));
      return { code, stderr };
    };
    const refused = await said(other.email);
    expect(refused).toMatchObject({ code: 4 });
    expect(await said('absent@example.test')).toEqual(refused);
  });

  test('lets users give up their own role', async () => {
    await set(ann.email, 'viewer', ...flags.env);
    expect((await cli.run(['role', 'remove', ann.email, ...flags.env, '--yes'], as(ann))).code).toBe(0);
    expect((await cli.run(['get', 'A', ...flags.env], as(ann))).code).toBe(5);
  });
});

describe('roles by place', () => {
  test('are shown by whoami and status', async () => {
    expect(await cli.output(['whoami'], as(world.viewer))).not.toContain('Roles by place');
    await set(ann.email, 'developer', ...flags.env);
    await join(ann, 'auditors');
    await set('group:auditors', 'viewer', ...flags.org);
    const [organization, , environment] = places;
    const group = `${organization} (viewer, through group auditors)`;
    const shown = `${group}, ${organization}/${elsewhere} (viewer), ${environment} (developer)`;
    for (const command of ['whoami', 'status']) {
      expect(await cli.output([command], as(ann))).toMatch(
        new RegExp(`^Roles by place: +${shown.replaceAll(/[()]/g, String.raw`\$&`)}$`, 'm'),
      );
    }
    await removed('group:auditors', ...flags.org);
  });

  test('of a user end with the membership; those of groups stay', async () => {
    await cli.output(['member', 'set', ann.email, '--role', 'viewer', ...flags.org]);
    await set(ann.email, 'developer', ...flags.env);
    await join(ann, 'staying');
    await set('group:staying', 'viewer', ...flags.env);
    const asked = await cli.run(['member', 'remove', ann.email, ...flags.org]);
    expect(asked.stderr).toContain('with all roles of this user in its projects and environments?');
    const { stderr } = await cli.run(['member', 'remove', ann.email, ...flags.org, '--yes']);
    expect(stderr).toContain('The roles that groups give stay.');
    expect((await bindings()).filter((line) => line.includes(ann.email))).toEqual([]);
    expect(await cli.output(['get', 'A', ...flags.env], as(ann))).toBe('1');
    expect((await cli.run(['set', 'A=1', ...flags.env], as(ann))).code).toBe(4);
    await removed('group:staying', ...flags.env);
    expect((await cli.run(['get', 'A', ...flags.env], as(ann))).code).toBe(5);
  });

  test('of a group in the organization count for its members as well', async () => {
    await removed(ann.email, ...flags.org, '-p', elsewhere);
    await join(ann, 'admins');
    await set('group:admins', 'admin', ...flags.org);
    const other = await createUser(api.services);
    const line = ['member', 'set', other.email, '--role', 'viewer', ...flags.org];
    expect(await cli.run(line, as(ann))).toMatchObject({ code: 0 });
    const owner = await cli.run(['member', 'set', other.email, '--role', 'owner', ...flags.org, '--yes'], as(ann));
    expect(owner).toMatchObject({ code: 4, stderr: expect.stringContaining('only an owner') });
    expect(await cli.run(['member', 'remove', other.email, ...flags.org, '--yes'], as(ann))).toMatchObject({ code: 0 });
    const raised = await cli.run(['member', 'set', ann.email, '--role', 'viewer', ...flags.org, '--yes'], as(ann));
    expect(raised).toMatchObject({ code: 4, stderr: expect.stringContaining('cannot give oneself a higher role') });
    const own = await cli.run(['member', 'remove', ann.email, ...flags.org, '--yes'], as(ann));
    expect(own).toMatchObject({ code: 5, stderr: expect.stringContaining('is no member') });
    await removed('group:admins', ...flags.org);
  });

  test('complete the addresses of members', async () => {
    await cli.output(['member', 'set', ann.email, '--role', 'viewer', ...flags.org]);
    const { stdout } = await cli.run(['__complete', '--', 'role', 'set', ann.email.slice(0, -3)]);
    expect(stdout).toContain(`${ann.email}\t`);
  });
});
