import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { CliRunner } from '../../support/cli/cli.ts';
import { withCommandWorld } from '../../support/cli/command-world.ts';
import type { TestApi } from '../../support/api/http.ts';
import { createUser, enrol, type World } from '../../support/api/services.ts';
import { TestSyncReader } from '../../support/api/sync-reader.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { sentence } from '../../support/fixtures/interface-sentences.ts';

const unknownId = '5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e';
let api: TestApi;
let world: World;
let cli: CliRunner;
let scope: string[];

withCommandWorld((given) => {
  ({ api, world, cli, scope } = given);
});

describe('service tokens', () => {
  test(`create-service takes -o, -n, -s, -p as the permission, and --expires-in ${sentence('4.9.6.org', '4.9.6.name', '4.9.6.scope', '4.9.6.permission', '4.9.6.expires-in')}`, async () => {
    const { organization } = world.slugs;
    const line = ['token', 'create-service', '-o', organization, '-n', 'ci', '-s', 'organization', '-p', 'read'];
    const made = await cli.json<{ token: string; expiresAt: string }>([...line, '--expires-in', '2']);
    expect(made).toMatchObject({ name: 'ci', scope: 'organization', permission: 'read' });
    expect(made.token).toMatch(/^kf_svc_/);
    expect(Math.round((Date.parse(made.expiresAt) - Date.now()) / 86_400_000)).toBe(2);
    const shown = await cli.run(line);
    expect(shown.stdout).toMatch(/Token: +kf_svc_/);
    expect(shown.stderr).toContain('shown only once');
  });

  test(`create-service finds project and environment by id and by slug ${sentence('4.9.6.project-id')}`, async () => {
    const { organization, project, environment } = world.slugs;
    const line = ['token', 'create-service', '-o', organization, '-n', 'x', '-p', 'read_write'];
    const inProject = { scope: 'project', projectId: world.project.id };
    const inEnvironment = { scope: 'environment', environmentId: world.environment.id };
    expect(await cli.json([...line, '-s', 'project', '--project-id', world.project.id])).toMatchObject(inProject);
    expect(await cli.json([...line, '-s', 'project', '--project', project])).toMatchObject(inProject);
    const byId = [...line, '-s', 'environment', '--environment-id', world.environment.id];
    expect(await cli.json(byId)).toMatchObject(inEnvironment);
    const bySlug = [...line, '--scope', 'environment', '--project', project, '--env', environment];
    expect(await cli.json(bySlug)).toMatchObject(inEnvironment);
    for (const missing of [['project'], ['environment'], ['environment', '--project', project]]) {
      const { code, stderr } = await cli.run([...line, '-s', ...missing]);
      expect(code).toBe(2);
      expect(stderr).toMatch(/needs --(?:project|environment)-id/);
    }
  });

  test.each([
    ['organization', ['--project', 'PROJECT'], '--project does not fit --scope organization'],
    ['organization', ['-e', 'ENVIRONMENT'], '--env does not fit --scope organization'],
    ['organization', ['--project-id', unknownId], '--project-id does not fit --scope organization'],
    ['project', ['--project', 'PROJECT', '-e', 'ENVIRONMENT'], '--env does not fit --scope project'],
    ['project', ['--environment-id', unknownId], '--environment-id does not fit --scope project'],
    ['environment', ['--project-id', unknownId], '--project-id does not fit --scope environment'],
    ['project', ['--project-id', unknownId, '--project', 'PROJECT'], '--project-id and --project cannot be combined'],
    [
      'environment',
      ['--environment-id', unknownId, '-e', 'ENVIRONMENT'],
      '--environment-id and --env cannot be combined',
    ],
  ])('create-service of scope %s refuses a place that it would ignore: %j', async (wanted, place, message) => {
    const { organization, project, environment } = world.slugs;
    const slugs = place.map((word) => word.replace('PROJECT', project).replace('ENVIRONMENT', environment));
    const listed = (): Promise<string> => cli.output(['token', 'list-service', '-o', organization, '--output', 'name']);
    const before = await listed();
    const create = ['token', 'create-service', '-o', organization, '-n', 'wide', '-p', 'read'];
    const { code, stderr } = await cli.run([...create, '-s', wanted, ...slugs]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`error: ${message}`) });
    expect(await listed()).toBe(before);
  });

  test('the revocation of a revoked token by its name is no error, and it cannot be rotated', async () => {
    const line = ['-o', world.slugs.organization, '-n', 'over', '-s', 'organization', '-p', 'read'];
    await cli.output(['token', 'create-service', ...line]);
    const revoke = ['token', 'revoke-service', '-o', world.slugs.organization, '--id', 'over', '--yes'];
    await cli.output(revoke);
    expect(await cli.run(revoke)).toMatchObject({ code: 0, stderr: expect.stringContaining('is revoked already.\n') });
    // Nothing is asked, so no terminal is needed.
    expect(await cli.json(revoke.slice(0, -1))).toMatchObject({ action: 'revoked', name: 'over' });
    const unknown = await cli.run([...revoke.slice(0, -2), 'ovre', '--yes']);
    expect(unknown).toMatchObject({ code: 5, stderr: expect.stringContaining('has the name "ovre"') });
    const rotation = [
      'token',
      'rotate-service',
      '-o',
      world.slugs.organization,
      '--id',
      'over',
      '--overlap',
      '0',
      '--yes',
    ];
    const rotated = await cli.run(rotation);
    expect(rotated.code).toBe(5);
    expect(rotated.stderr).toContain(`service token "over" of ${world.slugs.organization} is revoked already`);
    await cli.output(['token', 'create', '-n', 'old-laptop']);
    await cli.output(['token', 'revoke', 'old-laptop', '--yes']);
    const again = await cli.run(['token', 'revoke', 'old-laptop', '--yes']);
    expect(again).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^Personal token "old-laptop" .* revoked already/),
    });
  });

  test("create-service means the folder's project and environment where no flag says another", async () => {
    const { organization, project, environment } = world.slugs;
    await cli.output(['init', ...scope], { folder: '.' });
    const line = ['token', 'create-service', '-n', 'here', '-p', 'read', '-s'];
    expect(await cli.json([...line, 'environment'])).toMatchObject({ environmentId: world.environment.id });
    expect(await cli.json([...line, 'environment', '--env', environment])).toMatchObject({ scope: 'environment' });
    expect(await cli.json([...line, 'project'])).toMatchObject({ projectId: world.project.id, environmentId: null });
    expect(await cli.json([...line, 'organization'])).toMatchObject({ projectId: null, environmentId: null });
    expect((await cli.run([...line, 'environment', '--env', 'other'])).code).toBe(5);
    await cli.output(['project', 'create', 'second', '-o', organization]);
    // The file's environment belongs to its project.
    for (const elsewhere of [
      ['--project', 'second'],
      ['-o', 'another', '--project', project],
    ]) {
      expect((await cli.run([...line, 'environment', ...elsewhere])).stderr).toContain('needs --environment-id');
    }
    rmSync(join(cli.folder, '.keyframe.json'));
  });

  test(`list-service, rotate-service and revoke-service go by the id, and a revoked token ends with 3 ${sentence('4.9.7', '4.9.8.org', '4.9.8.id')}`, async () => {
    const { organization } = world.slugs;
    const line = ['token', 'create-service', '-o', organization, '-n', 'turning', '-s', 'organization', '-p', 'read'];
    const made = await cli.json<{ id: string; token: string }>(line);
    const rotate = ['token', 'rotate-service', '--yes', '-o', organization, '--id', made.id, '--overlap'];
    const turned = await cli.json<{ token: string }>([...rotate, '1h']);
    expect(turned.token).not.toBe(made.token);
    const as = (token: string): { env: Record<string, string> } => ({ env: { KEYFRAME_TOKEN: token } });
    for (const token of [made.token, turned.token]) {
      expect((await cli.run(['whoami'], as(token))).stdout).toContain(`organization ${organization}`);
    }
    expect((await cli.run([...rotate, 'soon'])).code).toBe(2);
    await cli.output(['token', 'revoke-service', '--yes', '-o', organization, '--id', made.id]);
    expect((await cli.run(['whoami'], as(turned.token))).code).toBe(3);
    expect(await cli.output(['token', 'list-service', '-o', organization])).toMatch(
      new RegExp(`${made.id} +turning.*revoked`),
    );
    expect((await cli.run(['token', 'revoke-service', '--yes', '-o', organization, '--id', unknownId])).code).toBe(5);
  });

  test('reinstate lifts the revocation of a keyless token, which list-service shows with its namespace, and of no other', async () => {
    const { organization } = world.slugs;
    const { tokenId } = await new TestSyncReader(api.services, world, { namespace: 'team-a' }).enter();
    const line = ['-o', organization, '--id', tokenId];
    expect((await cli.run(['token', 'rotate-service', '--yes', ...line, '--overlap', '1h'])).code).toBe(6);
    await cli.output(['token', 'revoke-service', '--yes', ...line]);
    const listed = async (): Promise<string | undefined> =>
      (await cli.output(['token', 'list-service', '-o', organization]))
        .split('\n')
        .find((row) => row.includes(tokenId));
    expect(await listed()).toMatch(/ test +team-a +revoked /);
    const { code, stdout, stderr } = await cli.run(['token', 'reinstate', ...line]);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '',
      stderr: `Service token "SecretSyncs of team-a (cluster test)" (${tokenId}) is reinstated.\n`,
    });
    expect(await listed()).toMatch(/ test +team-a +active /);
    const other = await world.serviceToken();
    const refused = await cli.run(['token', 'reinstate', '-o', organization, '--id', other.id]);
    expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining('its revocation is permanent') });
  });

  test('a read token that writes ends with 4, and says how to look', async () => {
    const { token } = await world.serviceToken({ permission: 'read' });
    const { code, stderr } = await cli.run(['snapshot', 'create', ...scope], {
      env: { KEYFRAME_TOKEN: token.reveal() },
    });
    expect(code).toBe(4);
    expect(stderr).toContain('keyframe whoami');
  });
});

describe('people', () => {
  test('token revoke names the passkeys, accounts and tokens that were set up since', async () => {
    const user = await createUser(api.services);
    const own = { env: { KEYFRAME_TOKEN: user.token.reveal() } };
    const prisma = prismaOf(api.services.database);
    const key = {
      publicKey: Buffer.from('x'),
      counter: 0,
      backedUp: false,
      rpId: 'localhost',
      userId: user.id,
      delegators: [],
    };
    const before = { id: randomUUID(), credentialId: Buffer.from(randomUUID()), name: 'Before', ...key };
    await prisma.passkey.create({ data: { ...before, createdAt: new Date(Date.now() - 60_000) } });
    await cli.run(['token', 'create', '--name', 'leaked'], own);
    const passkey = { id: randomUUID(), credentialId: Buffer.from(randomUUID()), name: 'Unknown phone', ...key };
    await prisma.passkey.create({ data: passkey });
    const identity = {
      id: randomUUID(),
      userId: user.id,
      issuer: 'https://id.example',
      subject: randomUUID(),
      delegators: [],
    };
    await prisma.identity.create({ data: identity });
    await cli.run(['token', 'create', '--name', 'revoked'], own);
    await cli.run(['token', 'revoke', 'revoked', '--yes'], own);
    const later = await cli.json<{ id: string }>(['token', 'create', '--name', 'Unknown token'], own);
    const { code, stderr } = await cli.run(['token', 'revoke', 'leaked', '--yes'], own);
    expect(code).toBe(0);
    expect(stderr).toContain(`token "Unknown token" (${later.id})`);
    for (const gone of [', token "revoked"', ', token "leaked"', ', token "first"']) expect(stderr).not.toContain(gone);
    expect(stderr).toContain(`passkey "Unknown phone" (${passkey.id}), account of https://id.example (${identity.id})`);
    expect(stderr).not.toContain('Before');
  });

  test('token create, list and revoke are for the own tokens', async () => {
    const made = await cli.json<{ id: string; token: string }>([
      'token',
      'create',
      '-n',
      'laptop',
      '--expires-in',
      '3',
    ]);
    expect(made.token).toMatch(/^kf_pat_/);
    expect(await cli.output(['token', 'list'])).toMatch(new RegExp(`${made.id} +laptop +active`));
    await cli.output(['token', 'revoke', made.id, '--yes']);
    expect((await cli.run(['whoami'], { env: { KEYFRAME_TOKEN: made.token } })).code).toBe(3);
  });

  test('members are listed, set and removed', async () => {
    const person = await createUser(api.services);
    const { organization } = world.slugs;
    const set = ['member', 'set', person.email, '-o', organization, '--role'];
    await enrol(api.services, world.owner, person, { organization, role: 'admin' });
    expect(await cli.output([...set, 'viewer'])).toMatch(/Role: +viewer/);
    expect(await cli.json([...set, 'developer'])).toMatchObject({ role: 'developer', userId: person.id });
    expect((await cli.run([...set, 'king'])).code).toBe(2);
    expect(await cli.output(['member', 'list', '-o', organization, '--output', 'name'])).toContain(person.email);
    const remove = ['member', 'remove', person.email, '-o', organization];
    expect((await cli.run(remove)).code).toBe(7);
    await cli.output([...remove, '--yes']);
    expect((await cli.run([...remove, '--yes'])).code).toBe(5);
    const alone = await cli.run(['member', 'remove', world.owner.email, '-o', organization, '--yes']);
    expect(alone.code).toBe(6);
  });

  test('the first owner of an organization without one is appointed by an administrator of the server alone', async () => {
    const person = await createUser(api.services);
    const appoint = ['member', 'appoint-owner', person.email, '-o', world.slugs.organization, '--yes'];
    const refused = await cli.run(appoint);
    expect(refused.code).toBe(6);
    expect(refused.stderr).toContain('has an owner');
    const prisma = prismaOf(api.services.database);
    const where = { organizationId: world.organization.id, role: 'owner' as const };
    await prisma.membership.deleteMany({ where });
    try {
      const listed = async (): Promise<string> => await cli.output(['org', 'list', '--all']);
      expect(await listed()).toMatch(new RegExp(`^${world.slugs.organization} .* no owner$`, 'm'));
      expect(await cli.output(appoint)).toMatch(/Role: +owner/);
      expect(await listed()).toMatch(new RegExp(`^${world.slugs.organization} .* ${person.email}$`, 'm'));
      const [, ...asOther] = appoint;
      const other = await cli.run(['member', ...asOther], { env: { KEYFRAME_TOKEN: person.token.reveal() } });
      expect(other.code).toBe(4);
      const asPerson = { env: { KEYFRAME_TOKEN: person.token.reveal() } };
      expect(await cli.run(['org', 'list', '--all'], asPerson)).toMatchObject({ code: 4, stdout: '' });
    } finally {
      await prisma.membership.deleteMany({ where });
      await prisma.membership.create({ data: { ...where, userId: world.owner.id } });
    }
  });

  test('users are made, disabled and enabled by an administrator of the server alone', async () => {
    const made = await cli.json<{ id: string; token: string }>(['user', 'create', 'ann@example.test', '-n', 'Ann']);
    const asAnn = { env: { KEYFRAME_TOKEN: made.token } };
    expect((await cli.run(['whoami'], asAnn)).code).toBe(0);
    expect((await cli.run(['user', 'list'], asAnn)).code).toBe(4);
    expect((await cli.run(['user', 'disable', 'ann@example.test'])).code).toBe(7);
    await cli.output(['user', 'disable', 'Ann@example.test', '--yes']);
    expect((await cli.run(['whoami'], asAnn)).code).toBe(3);
    expect(await cli.output(['user', 'list'])).toMatch(/ann@example\.test +Ann/);
    await cli.output(['user', 'enable', made.id]);
    expect((await cli.run(['whoami'], asAnn)).code).toBe(0);
    expect((await cli.run(['user', 'disable', 'missing@example.test', '--yes'])).code).toBe(5);
    expect((await cli.run(['user', 'create', 'not an address'])).code).toBe(2);
  });

  test('audit is read with its filters', async () => {
    const { organization } = world.slugs;
    const only = await cli.json<{ entries: { action: string }[] }>([
      'audit',
      '-o',
      organization,
      '--action',
      'service_token.',
      '--limit',
      '3',
    ]);
    expect(only.entries).toHaveLength(3);
    expect(only.entries.every(({ action }) => action.startsWith('service_token.'))).toBe(true);
    expect(await cli.output(['audit', '-o', organization, '--actor-type', 'service_token'])).toContain(
      '[Service Token]',
    );
    const made = ['audit', '-o', organization, '--action', 'service_token.create', '--limit', '1'];
    expect(await cli.output(made)).toMatch(
      new RegExp(`${world.owner.email} +service_token\\.create .* \\[Service Token\\]\n`),
    );
    const both = await cli.run(['audit', '--instance', '-o', organization]);
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('cannot be combined')]);
    const none = await cli.run(['audit', '-o', organization, '--since', '2999-01-01T00:00:00Z', '--actor', unknownId]);
    expect(none.stderr).toBe('There are no such entries.\n');
  });
});

describe('tokens that an administrator of the server creates for others', () => {
  test('appear in the audit of the server, in that of the organization and in the list of tokens', async () => {
    const person = await createUser(api.services);
    const { organization } = world.slugs;
    await enrol(api.services, world.owner, person, { organization, role: 'viewer' });
    const client = api.client(world.owner.token);
    const given = await client.expectStatus(201, 'POST', `/users/${person.id}/personal-tokens`, { name: 'given' });
    const asPerson = { env: { KEYFRAME_TOKEN: (given as { token: string }).token } };
    await cli.output(['list', '-o', organization, '-p', 'web', '-e', 'prod'], asPerson);
    await cli.output(['token', 'create', '-n', 'child'], asPerson);
    expect(await cli.output(['audit', '--instance', '--action', 'personal_token.', '--limit', '2'])).toMatch(
      new RegExp(
        `${person.email} \\(token by ${world.owner.email}\\) +personal_token.create.*\n.*${world.owner.email} +`,
      ),
    );
    const listed = await cli.output(['token', 'list'], asPerson);
    expect(listed).toMatch(new RegExp(`given +active.* ${world.owner.email}\n`));
    expect(listed).toMatch(new RegExp(`child +active.* you, with a token of ${world.owner.email}\n`));
    expect((await cli.run(['audit', '--instance'], asPerson)).code).toBe(4);
  });

  test('are refused where an owner forbids it, until impersonation is allowed or the member’s own token confirmed', async () => {
    const person = await createUser(api.services);
    const { organization } = world.slugs;
    const set = ['member', 'set', person.email, '-o', organization, '--role', 'viewer'];
    await enrol(api.services, world.owner, person, { organization, role: 'viewer' });
    expect(await cli.output(['org', 'forbid-impersonation', organization])).toMatch(/Impersonation: +forbidden/);
    expect(await cli.output(['org', 'show', organization])).toMatch(/Impersonation: +forbidden/);
    try {
      const client = api.client(world.owner.token);
      const given = await client.expectStatus(201, 'POST', `/users/${person.id}/personal-tokens`, { name: 'given' });
      const asPerson = { env: { KEYFRAME_TOKEN: (given as { token: string }).token } };
      const refused = await cli.run(['org', 'show', organization], asPerson);
      expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining(`${world.owner.email} created this`)]);
      const own = await cli.json<{ token: string }>(['token', 'create', '-n', 'own'], asPerson);
      const asOwn = { env: { KEYFRAME_TOKEN: own.token } };
      expect((await cli.run(['org', 'show', organization], asOwn)).code).toBe(4);
      await cli.output([...set, '--confirm-tokens']);
      expect((await cli.run(['org', 'show', organization], asOwn)).code).toBe(0);
      expect((await cli.run(['org', 'show', organization], asPerson)).code).toBe(4);
    } finally {
      expect(await cli.output(['org', 'allow-impersonation', organization])).toMatch(/Impersonation: +allowed/);
    }
  });
});

describe('organizations, projects and environments', () => {
  test('are made, listed, shown, renamed and deleted', async () => {
    await cli.output(['org', 'create', 'cli-org', '-n', 'By command']);
    await cli.output(['project', 'create', 'web', '-o', 'cli-org']);
    await cli.output(['env', 'create', 'staging', '-o', 'cli-org', '-p', 'web']);
    expect(await cli.output(['org', 'list'])).toMatch(/cli-org +By command/);
    expect(await cli.output(['project', 'list', '-o', 'cli-org', '--output', 'name'])).toBe('web\n');
    expect(await cli.output(['env', 'list', '-o', 'cli-org', '-p', 'web'])).toMatch(/REVISION\nstaging/);
    expect((await cli.run(['env', 'list', '-o', 'cli-org'])).stderr).toContain('-p <project>');
    for (const line of [
      ['env', 'rename', 'staging', '-o', 'cli-org', '-p', 'web'],
      ['project', 'rename', 'web', '-o', 'cli-org'],
      ['org', 'rename', 'cli-org'],
    ]) {
      expect(await cli.json([...line, '-n', 'Renamed'])).toMatchObject({ displayName: 'Renamed' });
    }
    expect(await cli.output(['env', 'show', 'staging', '-o', 'cli-org', '-p', 'web'])).toMatch(/Revision: +0\n/);
    expect((await cli.run(['project', 'create', 'web', '-o', 'cli-org'])).code).toBe(6);
    expect((await cli.run(['project', 'create', 'Web', '-o', 'cli-org'])).code).toBe(2);
  });

  test('deletion wants the slug typed, or --yes', async () => {
    await cli.output(['org', 'create', 'cli-gone']);
    expect((await cli.run(['org', 'delete', 'cli-gone'])).code).toBe(7);
    const wrong = await cli.onTerminal(['org', 'delete', 'cli-gone'], [['to continue:', 'yes\r']]);
    expect(wrong.code).toBe(7);
    const right = await cli.onTerminal(['org', 'delete', 'cli-gone'], [['to continue:', 'cli-gone\r']]);
    expect(right.code).toBe(0);
    expect((await cli.run(['org', 'delete', 'cli-gone', '--yes'])).code).toBe(5);
    expect((await cli.run(['org', 'show', 'cli-gone'])).code).toBe(5);
  });
});
