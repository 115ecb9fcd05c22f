import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { AuditEntry } from '../../../src/store/generated/client.ts';
import type { Plaintext } from '../../../src/domain/plaintext.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { tableDigests } from '../../support/database/table-digest.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import { createUser, type TestServices, type TestToken, type World } from '../../support/api/services.ts';
import type { SnapshotCalls } from '../../support/api/snapshot-calls.ts';
import { TestSyncReader } from '../../support/api/sync-reader.ts';
import { type Level, levels, TenantCalls } from '../../support/api/tenant-calls.ts';
import { TokenResource } from '../../support/api/token-resource.ts';
import { withWorlds } from '../../support/api/with-services.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;
let snapshots: SnapshotCalls;
let tenants: TenantCalls;

withWorlds((given) => ({ services, world, calls, snapshots } = given));

beforeEach(() => {
  tenants = new TenantCalls(services, world);
});

/** `opens`, or why authentication refuses the token. */
async function opens(token: Plaintext): Promise<string> {
  return services.authentication.authenticate(token.reveal()).then(
    () => 'opens',
    ({ fault }: { fault: string }) => fault,
  );
}

async function auditOf(level: Level): Promise<readonly AuditEntry[]> {
  return prismaOf(services.database).auditEntry.findMany({
    where: { action: `${level}.undelete`, organizationId: world.organization.id },
    orderBy: { id: 'asc' },
  });
}

/** A token of each scope that a person made, with one of another environment and another project. */
async function tokensOfPeople(): Promise<Record<string, TestToken>> {
  const { caller } = world.owner;
  const sibling = await services.environments.create(await world.onProject(caller, 'environment.create'), {
    slug: 'sibling',
  });
  const project = await services.projects.create(await world.onOrganization(caller, 'project.create'), {
    slug: 'elsewhere',
  });
  return {
    environment: await world.serviceToken(),
    sibling: await world.serviceToken({ environmentId: sibling.id, scope: 'environment' }),
    project: await world.serviceToken({ scope: 'project', projectId: world.project.id }),
    elsewhere: await world.serviceToken({ scope: 'project', projectId: project.id }),
    organization: await world.serviceToken({ scope: 'organization' }),
  };
}

/** The tokens that an undeletion of each level ends. */
const ending: Readonly<Record<Level, readonly string[]>> = {
  environment: ['environment'],
  project: ['environment', 'sibling', 'project'],
  organization: ['environment', 'sibling', 'project', 'elsewhere', 'organization'],
};

describe.each(levels)('undeleting one (%s)', (level) => {
  test('gives back everything beneath it: values, versions, history, snapshots and members', async () => {
    await calls.patch({ A: '1', B: '2' });
    const { id } = await snapshots.create({ name: 'kept' });
    await calls.put('A', '3');
    const before = await tableDigests(services.database);
    await tenants.remove(level);
    await expect(calls.read()).rejects.toMatchObject({ code: 'not_found' });
    expect(await tenants.undelete(level)).toMatchObject({ id: world[level].id, slug: world.slugs[level] });
    expect(await tableDigests(services.database)).toEqual(before);
    expect(await calls.readOne('A')).toBe('3');
    expect((await snapshots.list()).snapshots.map((snapshot) => snapshot.id)).toContain(id);
    await calls.put('A', '4');
  });

  test('ends the service tokens that people made for it or for something beneath it, for good, and no other', async () => {
    const tokens = await tokensOfPeople();
    await tenants.remove(level);
    await tenants.undelete(level);
    const after = await Promise.all(
      Object.entries(tokens).map(async ([name, { token }]) => [name, await opens(token)]),
    );
    const expected = Object.keys(tokens).map((name) => [name, ending[level].includes(name) ? 'revoked' : 'opens']);
    expect(after).toEqual(expected);
    expect(await opens(world.owner.token)).toBe('opens');
    const audited = await auditOf(level);
    expect(audited).toMatchObject([
      {
        actorId: world.owner.id,
        outcome: 'success',
        target: { [level]: world.slugs[level], revokedServiceTokens: ending[level].length, endedResourceTokens: 0 },
      },
    ]);
    await tenants.remove(level);
    await tenants.undelete(level);
    expect(
      Object.fromEntries(
        await Promise.all(Object.entries(tokens).map(async ([name, { token }]) => [name, await opens(token)])),
      ),
    ).toEqual(Object.fromEntries(expected));
    expect((await auditOf(level)).at(-1)?.target).toMatchObject({ revokedServiceTokens: 0 });
  });

  test('ends the strings of a token that a custom resource made, which makes the next one for the same token', async () => {
    const own = new TokenResource(services, world);
    const first = await own.minted();
    const pending = await own.mint({ serial: 2 });
    await tenants.remove(level);
    expect(await own.opens(first)).toBe('scope_deleted');
    await tenants.undelete(level);
    expect(await own.opens(first)).toBe('revoked');
    await expect(own.activate(pending)).rejects.toMatchObject({ code: 'conflict' });
    expect(await own.opens(pending)).toBe('revoked');
    expect((await auditOf(level)).at(-1)?.target).toMatchObject({ revokedServiceTokens: 0, endedResourceTokens: 1 });
    const next = await own.minted({ serial: 3 });
    expect(next.tokenId).toBe(first.tokenId);
    expect(await own.opens(next)).toBe('opens');
  });

  test('leaves the keyless token of a namespace at work, and its revocation in force', async () => {
    await calls.put('KEY', 'value');
    const [reading, revoked] = [
      new TestSyncReader(services, world),
      new TestSyncReader(services, world, { namespace: 'team-b' }),
    ];
    const { tokenId } = await reading.enter();
    const revokedId = (await revoked.enter()).tokenId;
    await services.serviceTokens.revoke(
      await world.onOrganization(world.admin.caller, 'service_token.revoke'),
      revokedId,
    );
    await tenants.remove(level);
    expect(await reading.outcome()).toBe('not_found');
    await tenants.undelete(level);
    expect(await reading.outcome()).toEqual({ KEY: 'value' });
    expect((await reading.enter()).tokenId).toBe(tokenId);
    expect(await revoked.outcome()).toBe('token_revoked');
  });

  test('no string that was invalid before is valid after it', async () => {
    const { caller } = world.owner;
    const own = new TokenResource(services, world);
    const dead = await own.minted();
    await own.revokeSerial(1);
    const suspended = new TokenResource(services, world);
    const hidden = await suspended.minted();
    await suspended.suspend();
    const [gone, rotated] = [await world.serviceToken(), await world.serviceToken()];
    const next = await services.serviceTokens.rotate(
      await world.onOrganization(caller, 'service_token.rotate'),
      rotated.id,
    );
    await services.serviceTokens.revoke(await world.onOrganization(caller, 'service_token.revoke'), gone.id);
    await tenants.remove(level);
    await tenants.undelete(level);
    const strings = [dead.token, hidden.token, gone.token, rotated.token, next.token];
    expect(await Promise.all(strings.map(opens))).toEqual(['revoked', 'revoked', 'revoked', 'revoked', 'revoked']);
    await suspended.resume();
    expect(await suspended.opens(hidden)).toBe('revoked');
  });

  test('of what is not deleted changes nothing and returns it, again and again', async () => {
    const token = await world.serviceToken();
    await tenants.remove(level);
    const first = await tenants.undelete(level);
    const live = await world.serviceToken();
    const before = await tableDigests(services.database);
    expect([await tenants.undelete(level), await tenants.undelete(level)]).toEqual([first, first]);
    expect(await tableDigests(services.database)).toEqual(before);
    expect([await opens(token.token), await opens(live.token)]).toEqual(['revoked', 'opens']);
    const [, ...repeated] = await auditOf(level);
    expect(repeated.map(({ outcome, target }) => ({ outcome, target }))).toEqual(
      [1, 2].map(() => ({ outcome: 'success', target: expect.objectContaining({ changed: false }) })),
    );
  });

  test('is only for callers who may delete it, and the deleted one exists for no others', async () => {
    const wide = await createUser(services, { instanceAdmin: true });
    const machine = await world.serviceToken({ scope: 'organization' });
    const people = { ...world, wide, machine };
    type Name = 'admin' | 'developer' | 'viewer' | 'stranger' | 'wide' | 'machine';
    const attempt = async (name: Name): Promise<unknown> =>
      tenants.undelete(level, people[name].caller).then(
        () => 'done',
        ({ code, message }: { code: string; message: string }) => (code === 'not_found' ? message : code),
      );
    const others = ['developer', 'viewer', 'stranger', 'machine'] as const;
    const asked = async (): Promise<unknown[]> => Promise.all(others.map(attempt));
    const absent = `${level} ${Object.values(world.slugs)
      .slice(0, levels.indexOf(level) + 1)
      .join('/')} does not exist, or is not visible with this access`;
    const isInstance = level === 'organization';
    const live = isInstance
      ? ['forbidden', 'forbidden', 'forbidden', 'forbidden']
      : ['forbidden', 'forbidden', absent, 'forbidden'];
    expect(await asked()).toEqual(live);
    await tenants.remove(level);
    const hidden = isInstance ? live.slice(0, 3) : [absent, absent, absent, absent];
    // The organization's own token is refused by its end before anything else.
    expect((await asked()).slice(0, isInstance ? 3 : 4)).toEqual(hidden);
    expect(await attempt(isInstance ? 'admin' : 'wide')).toBe(isInstance ? 'forbidden' : absent);
    const denials = await prismaOf(services.database).auditEntry.findMany({
      where: { action: `${level}.undelete`, outcome: 'denied', organizationId: null, actorId: world.viewer.id },
    });
    expect(denials.length).toBeGreaterThan(0);
    expect(await attempt(isInstance ? 'wide' : 'admin')).toBe('done');
  });

  test('is undone when its caller loses the right before it is done', async () => {
    const { caller, id } = await createUser(services, { instanceAdmin: true });
    const prisma = prismaOf(services.database);
    await prisma.membership.create({
      data: { organizationId: world.organization.id, userId: id, role: 'admin' },
    });
    await tenants.remove(level);
    const before = await tableDigests(services.database);
    const { access, environments, organizations, projects } = services;
    const attempts = {
      organization: await access.instance(caller, 'organization.undelete'),
      project: await world.onProject(caller, 'project.undelete'),
      environment: await world.onEnvironment(caller, 'environment.undelete'),
    };
    const withdraw = async (isAdmin: boolean): Promise<void> => {
      await prisma.user.update({ where: { id }, data: { instanceAdmin: isAdmin } });
      await prisma.membership.updateMany({ where: { userId: id }, data: { role: isAdmin ? 'admin' : 'developer' } });
    };
    const attempt = (): Promise<unknown> => {
      if (level === 'organization') return organizations.undelete(attempts.organization, world.slugs);
      return level === 'project' ? projects.undelete(attempts.project) : environments.undelete(attempts.environment);
    };
    await withdraw(false);
    await expect(attempt()).rejects.toMatchObject({ code: 'forbidden' });
    await withdraw(true);
    expect(await tableDigests(services.database)).toEqual(before);
    await attempt();
  });

  test('finds nothing where nothing is, or is no more', async () => {
    const nowhere = { ...world.slugs, [level]: `no-${randomUUID().slice(0, 8)}` };
    await expect(tenants.undelete(level, undefined, nowhere)).rejects.toMatchObject({ code: 'not_found' });
    await expect(tenants.undelete(level, undefined, { ...world.slugs, [level]: 'No slug' })).rejects.toMatchObject({
      code: 'invalid_input',
      fields: [{ field: level }],
    });
    await tenants.remove(level);
    await tenants.purge(level);
    await expect(tenants.undelete(level)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('in a tree that is deleted in part', () => {
  test('what lies under something deleted is refused, with the command that undeletes that first', async () => {
    const { organization } = world.slugs;
    const [ofOrganization, ofProject] = [
      `keyframe org undelete ${organization}`,
      `keyframe project undelete web -o ${organization}`,
    ];
    const refused = (detail: string): object => ({ code: 'conflict', detail: expect.stringContaining(detail) });
    for (const level of ['environment', 'project'] as const) await tenants.remove(level);
    await expect(tenants.undelete('environment')).rejects.toMatchObject(refused(`\`${ofProject}\``));
    await tenants.remove('organization');
    await expect(tenants.undelete('environment')).rejects.toMatchObject(refused(`\`${ofOrganization}\``));
    await expect(tenants.undelete('project')).rejects.toMatchObject(refused(`\`${ofOrganization}\``));
    for (const level of levels) await tenants.undelete(level);
    await calls.put('KEY', 'value');
  });

  test('what is not deleted itself is refused too, as it is out of reach', async () => {
    await tenants.remove('project');
    await expect(tenants.undelete('environment')).rejects.toMatchObject({ code: 'conflict' });
  });

  test('what was deleted itself stays deleted when something above it is undeleted', async () => {
    for (const level of ['environment', 'organization'] as const) await tenants.remove(level);
    await tenants.undelete('organization');
    await expect(calls.read()).rejects.toMatchObject({ code: 'not_found' });
    await tenants.undelete('environment');
    await calls.put('KEY', 'value');
  });
});

describe('the lists of what is deleted', () => {
  test('have what is deleted itself and not purged, with the time, and the lists of the rest do not', async () => {
    const { caller } = world.owner;
    const { access, environments, organizations, projects } = services;
    const lists = {
      environment: async () => environments.listDeleted(await world.onProject(caller, 'environment.list_deleted')),
      project: async () => projects.listDeleted(await world.onOrganization(caller, 'project.list_deleted')),
      organization: async () =>
        (await organizations.listDeleted(await access.instance(caller, 'organization.list_deleted'))).filter(
          ({ id }) => id === world.organization.id,
        ),
    };
    for (const level of ['environment', 'project', 'organization'] as const) {
      expect(await lists[level]()).toEqual([]);
      await tenants.remove(level);
      const listed = await lists[level]();
      expect(listed).toMatchObject([{ id: world[level].id, slug: world.slugs[level], deletedAt: expect.any(Date) }]);
      await tenants.undelete(level);
      expect(await lists[level]()).toEqual([]);
    }
    await tenants.remove('organization');
    expect(await lists.organization()).toMatchObject([{ role: 'owner' }]);
    const wide = await createUser(services, { instanceAdmin: true });
    const seen = await organizations.listDeleted(await access.instance(wide.caller, 'organization.list_deleted'));
    expect(seen).toContainEqual(expect.objectContaining({ id: world.organization.id, role: null }));
    await tenants.purge('organization');
    expect(await lists.organization()).toEqual([]);
  });
});

describe('the list of deleted keys', () => {
  test('has the last version of each, and when and by whom it was deleted', async () => {
    await calls.patch({ KEPT: '1', GONE_A: '1', GONE_B: '1' });
    await calls.put('GONE_A', '2');
    const admin = await world.onEnvironment(world.admin.caller, 'secret.delete');
    await services.secrets.delete(admin, 'GONE_A');
    const { revision, revisionId } = await calls.patch({}, ['GONE_B']);
    const list = await services.secrets.listDeletedKeys(await world.onEnvironment(world.viewer.caller, 'secret.list'));
    const { id, email } = world.admin;
    expect(list).toMatchObject({ revision, revisionId });
    expect(list.secrets).toEqual([
      {
        key: 'GONE_A',
        version: 2,
        updatedAt: expect.any(Date),
        deletedAt: expect.any(Date),
        deletedBy: id,
        deletedByType: 'user',
        deletedByName: email,
        deletedByCluster: null,
      },
      expect.objectContaining({ key: 'GONE_B', version: 1, deletedBy: world.developer.id }),
    ]);
    const only = await services.secrets.listDeletedKeys(await world.onEnvironment(world.viewer.caller, 'secret.list'), {
      prefix: 'GONE_B',
    });
    expect(only.secrets.map(({ key }) => key)).toEqual(['GONE_B']);
    await calls.put('GONE_B', 'back');
    await calls.remove('GONE_B');
    const again = await services.secrets.listDeletedKeys(await world.onEnvironment(world.viewer.caller, 'secret.list'));
    expect(again.secrets.map(({ key, version }) => [key, version])).toEqual([
      ['GONE_A', 2],
      ['GONE_B', 2],
    ]);
  });

  test('is empty, at the revision, in an environment where nothing is deleted', async () => {
    const { revisionId } = await calls.put('KEY', 'value');
    const access = await world.onEnvironment(world.viewer.caller, 'secret.list');
    expect(await services.secrets.listDeletedKeys(access)).toMatchObject({ revisionId, secrets: [] });
  });
});
