import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Caller } from '../../../src/domain/principal.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { type SecretCalls, secretCalls } from '../../support/api/secret-calls.ts';
import { callerOf, type TestServices, type World } from '../../support/api/services.ts';
import { execute } from '../../support/api/test-server.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;

withWorlds((given) => ({ database, services, world } = given));

interface Row {
  readonly organizationId: string | null;
  readonly action: string;
  readonly target: unknown;
  readonly outcome: string;
  readonly label: string | null;
  readonly actorId: string;
}

/** The audit rows that one call left. */
async function rowsOf(actor: Caller, call: (caller: Caller) => Promise<unknown>): Promise<Row[]> {
  const caller = callerOf(actor.principal);
  await call(caller).catch(() => undefined);
  return prismaOf(services.database).auditEntry.findMany({
    where: { requestId: caller.requestId },
    orderBy: { id: 'asc' },
  });
}

function as(caller: Caller): SecretCalls {
  return secretCalls(services, world, caller);
}

/** Every call that is audited for every caller, on a key at version 1: its action, and what the target holds beside the slugs. */
const audited: [string, (caller: Caller) => Promise<unknown>, string, object][] = [
  ['secrets.list', (caller) => as(caller).read(), 'secret.list', { revision: 1, secrets: 1 }],
  ['secrets.get', (caller) => as(caller).readOne('KEY'), 'secret.read', { key: 'KEY', version: 1 }],
  ['secrets.put', (caller) => as(caller).put('KEY', 'x'), 'secret.write', { key: 'KEY', version: 2, revision: 2 }],
  [
    'secrets.patch',
    (caller) => as(caller).patch({ A: '1', B: '2' }, ['KEY']),
    'secret.write',
    { setKeys: ['A', 'B'], set: 2, deletedKeys: ['KEY'], deleted: 1, unchanged: 0, revision: 2 },
  ],
  [
    'secrets.patch of one key',
    (caller) => as(caller).patch({ A: '1' }),
    'secret.write',
    { setKeys: ['A'], set: 1, deletedKeys: [], deleted: 0 },
  ],
  [
    'secrets.patch of nothing',
    (caller) => as(caller).patch({}),
    'secret.write',
    { setKeys: [], set: 0, deletedKeys: [], deleted: 0 },
  ],
  ['secrets.delete', (caller) => as(caller).remove('KEY'), 'secret.delete', { key: 'KEY', revision: 2 }],
  ['versions.list', (caller) => as(caller).history('KEY'), 'version.list', { key: 'KEY' }],
  [
    'versions.get',
    async (caller) => services.versions.get(await world.onEnvironment(caller, 'version.read'), 'KEY', 1),
    'version.read',
    { key: 'KEY', version: 1 },
  ],
  [
    'versions.rollback',
    (caller) => as(caller).rollback('KEY', { targetVersion: 1 }),
    'version.rollback',
    { key: 'KEY', targetVersion: 1, version: 2, revision: 2 },
  ],
];

/** Calls that fail after they were let in: the code, and what the target holds. */
const failing: [string, (caller: Caller) => Promise<unknown>, string, object][] = [
  ['secrets.get', (caller) => as(caller).readOne('NONE'), 'secret.read', { key: 'NONE', error: 'not_found' }],
  [
    'secrets.put',
    (caller) => as(caller).put('KEY', 'x', { expectedVersion: 9 }),
    'secret.write',
    { key: 'KEY', error: 'version_mismatch' },
  ],
  ['secrets.patch', (caller) => as(caller).patch({}, ['NONE']), 'secret.write', { error: 'not_found' }],
  ['secrets.delete', (caller) => as(caller).remove('NONE'), 'secret.delete', { key: 'NONE', error: 'not_found' }],
  ['versions.list', (caller) => as(caller).history('NONE'), 'version.list', { key: 'NONE', error: 'not_found' }],
  [
    'versions.get',
    async (caller) => services.versions.get(await world.onEnvironment(caller, 'version.read'), 'KEY', 9),
    'version.read',
    { key: 'KEY', version: 9, error: 'not_found' },
  ],
  [
    'versions.rollback',
    (caller) => as(caller).rollback('KEY', { targetVersion: 9 }),
    'version.rollback',
    { key: 'KEY', targetVersion: 9, error: 'not_found' },
  ],
];

/** Calls that are audited for service tokens alone: a person reads no value by them. */
const tokenAudited: [string, (caller: Caller) => Promise<unknown>, string][] = [
  ['me.get', (caller) => services.me.get(caller), 'me.read'],
  ['organizations.list', (caller) => services.organizations.list(caller), 'organization.list'],
  [
    'organizations.get',
    async (caller) => services.organizations.get(await world.onOrganization(caller, 'organization.read')),
    'organization.read',
  ],
  [
    'projects.list',
    async (caller) => services.projects.list(await world.onOrganization(caller, 'project.list')),
    'project.list',
  ],
  [
    'projects.get',
    async (caller) => services.projects.get(await world.onProject(caller, 'project.read')),
    'project.read',
  ],
  [
    'environments.list',
    async (caller) => services.environments.list(await world.onProject(caller, 'environment.list')),
    'environment.list',
  ],
  [
    'environments.get',
    async (caller) => services.environments.get(await world.onEnvironment(caller, 'environment.read')),
    'environment.read',
  ],
];

describe('one audit row', () => {
  beforeEach(async () => {
    await as(world.owner.caller).put('KEY', 'one');
  });

  test.each(audited)('is left by %s, for people and for service tokens', async (_name, call, action, target) => {
    const organizationId = world.organization.id;
    const common = { organizationId, action, outcome: 'success', target: { ...world.slugs, ...target } };
    const actorId = world.developer.id;
    expect(await rowsOf(world.developer.caller, call)).toMatchObject([{ ...common, actorId, label: null }]);
  });

  test.each(audited)('of %s is labelled where a service token calls', async (_name, call, action) => {
    const token = await world.serviceToken();
    const row = { action, outcome: 'success', actorId: token.id, label: '[Service Token]' };
    expect(await rowsOf(token.caller, call)).toMatchObject([row]);
  });

  test.each(failing)('is left by %s when it fails, with the reason', async (_name, call, action, target) => {
    const organizationId = world.organization.id;
    const row = { organizationId, action, outcome: 'failed', target: { ...world.slugs, ...target } };
    expect(await rowsOf(world.developer.caller, call)).toMatchObject([row]);
  });

  test.each(tokenAudited)('is left by %s of a service token, and none by a person', async (_name, call, action) => {
    const token = await world.serviceToken({ permission: 'read' });
    const row = { organizationId: world.organization.id, action, outcome: 'success', label: '[Service Token]' };
    expect(await rowsOf(token.caller, call)).toMatchObject([row]);
    expect(await rowsOf(world.owner.caller, call)).toEqual([]);
  });

  test('is left by each call about service tokens, labelled though a person makes it', async () => {
    const onTokens = async (caller: Caller) => world.onOrganization(caller, 'service_token.list');
    const create = async (caller: Caller): Promise<unknown> =>
      services.serviceTokens.create(await world.onOrganization(caller, 'service_token.create'), {
        name: 'deployer',
        scope: 'project',
        projectId: world.project.id,
        permission: 'read',
      });
    const { caller } = world.admin;
    const created = await rowsOf(caller, create);
    const { serviceTokenId: id = '' } = (created[0]?.target ?? {}) as { serviceTokenId?: string };
    const rows = [
      ...created,
      ...(await rowsOf(caller, async (each) => services.serviceTokens.list(await onTokens(each)))),
      ...(await rowsOf(caller, async (each) => services.serviceTokens.get(await onTokens(each), id))),
      ...(await rowsOf(caller, async (each) =>
        services.serviceTokens.revoke(await world.onOrganization(each, 'service_token.revoke'), id),
      )),
      ...(await rowsOf(caller, async (each) =>
        services.serviceTokens.revoke(await world.onOrganization(each, 'service_token.revoke'), id),
      )),
      ...(await rowsOf(caller, async (each) => services.serviceTokens.get(await onTokens(each), world.project.id))),
    ];
    const common = { organizationId: world.organization.id, label: '[Service Token]', outcome: 'success' };
    const { organization } = world.slugs;
    const scope = {
      name: 'deployer',
      scope: 'project',
      projectId: world.project.id,
      permission: 'read',
      expiresAt: null,
    };
    expect(rows).toMatchObject([
      { ...common, action: 'service_token.create', target: { organization, serviceTokenId: id, ...scope } },
      { ...common, action: 'service_token.list', target: { organization, serviceTokens: 1 } },
      { ...common, action: 'service_token.list', target: { organization, serviceTokenId: id } },
      { ...common, action: 'service_token.revoke', target: { organization, serviceTokenId: id } },
      { ...common, action: 'service_token.revoke', target: { serviceTokenId: id, alreadyRevoked: true } },
      { ...common, action: 'service_token.list', outcome: 'failed', target: { error: 'not_found' } },
    ]);
  });

  test('is left by the creation of an organization, a project and an environment', async () => {
    const { caller } = world.owner;
    const slug = `${world.slugs.organization}-2`;
    const rows = [
      ...(await rowsOf(caller, async (each) =>
        services.organizations.create(await services.access.instance(each, 'organization.create'), { slug }),
      )),
      ...(await rowsOf(caller, async (each) =>
        services.projects.create(await world.onOrganization(each, 'project.create'), { slug: 'api' }),
      )),
      ...(await rowsOf(caller, async (each) =>
        services.environments.create(await world.onProject(each, 'environment.create'), { slug: 'dev' }),
      )),
      ...(await rowsOf(caller, async (each) =>
        services.environments.create(await world.onProject(each, 'environment.create'), { slug: 'dev' }),
      )),
      ...(await rowsOf(world.stranger.caller, async (each) =>
        services.organizations.create(await services.access.instance(each, 'organization.create'), { slug: 'mine' }),
      )),
    ];
    const created = await prismaOf(services.database).organization.findUniqueOrThrow({ where: { slug } });
    const { organization, project } = world.slugs;
    const common = { organizationId: world.organization.id, outcome: 'success' };
    expect(rows).toMatchObject([
      { organizationId: created.id, action: 'organization.create', outcome: 'success', target: { organization: slug } },
      { ...common, action: 'project.create', target: { organization, project: 'api' } },
      { ...common, action: 'environment.create', target: { organization, project, environment: 'dev' } },
      { ...common, outcome: 'failed', target: { environment: 'dev', error: 'conflict' } },
      { organizationId: null, action: 'organization.create', outcome: 'denied', target: {} },
    ]);
  });

  test('names at most 100 keys, and the revision that has them all', async () => {
    const all = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`KEY_${index}`, '']));
    const [row] = await rowsOf(world.developer.caller, (caller) => as(caller).patch(all));
    const target = row?.target as { setKeys: string[]; revisionId: string };
    expect(target).toMatchObject({ set: 150, deletedKeys: [] });
    expect(target.setKeys).toHaveLength(100);
    const { revisionId } = target;
    expect(await prismaOf(services.database).secretChange.count({ where: { revisionId } })).toBe(150);
    const [deletion] = await rowsOf(world.developer.caller, (caller) => as(caller).patch({}, Object.keys(all)));
    expect(deletion?.target).toMatchObject({ set: 0, deleted: 150, deletedKeys: { length: 100 } });
  });
});

describe('a mutation and its audit row', () => {
  test('are of one transaction', async () => {
    const { caller } = world.developer;
    const { revisionId } = await as(caller).put('KEY', 'one');
    const rows = await prismaOf(services.database).$queryRaw<{ same: boolean }[]>`
      SELECT a.xmin = r.xmin AS same FROM audit_entry a, environment_revision r
      WHERE a.request_id = ${caller.requestId}::uuid AND a.action = 'secret.write' AND r.id = ${revisionId}::uuid`;
    expect(rows).toEqual([{ same: true }]);
  });

  test('are both refused, and no value is read, while the audit takes no row', async () => {
    await as(world.owner.caller).put('KEY', 'one');
    await execute(
      database.url,
      `CREATE FUNCTION refuse_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'full'; END $$;
       CREATE TRIGGER refuse_rows BEFORE INSERT ON audit_entry FOR EACH ROW EXECUTE FUNCTION refuse_row();`,
    );
    const calls = as(world.developer.caller);
    const attempts = [
      () => calls.put('KEY', 'two'),
      () => calls.remove('KEY'),
      () => calls.rollback('KEY', { targetVersion: 1 }),
      () => calls.read(),
      () => calls.readOne('KEY'),
      () => calls.history('KEY'),
      () => world.serviceToken(),
    ];
    const outcomes = await Promise.allSettled(attempts.map((attempt) => attempt()));
    await execute(database.url, 'DROP TRIGGER refuse_rows ON audit_entry; DROP FUNCTION refuse_row()');
    expect(outcomes.map(({ status }) => status)).toEqual(attempts.map(() => 'rejected'));
    expect(await calls.read()).toMatchObject({ revision: 1, secrets: { KEY: ['one', 1] } });
    expect(
      await prismaOf(services.database).serviceToken.count({ where: { organizationId: world.organization.id } }),
    ).toBe(0);
  });
});
