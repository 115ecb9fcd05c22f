import { beforeEach, describe, expect, test } from '@jest/globals';
import { prismaOf } from '../../support/database/prisma.ts';
import { type PostgresProxy, runs } from '../../support/faults/postgres-proxy.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import { createUser, type TestServices, type World } from '../../support/api/services.ts';
import { ruleFor } from '../../support/api/token-resource.ts';
import { TestSyncReader } from '../../support/api/sync-reader.ts';
import { withProxiedWorlds } from '../../support/api/with-services.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;
let proxy: PostgresProxy;
let own: TestSyncReader;

withProxiedWorlds((given) => ({ services, world, calls, proxy } = given));

beforeEach(async () => {
  await calls.put('API_KEY', 'value');
  own = new TestSyncReader(services, world);
});

const value = { API_KEY: 'value' };

async function revoke(id: string): Promise<void> {
  await services.serviceTokens.revoke(await world.onOrganization(world.admin.caller, 'service_token.revoke'), id);
}

async function statements(work: () => Promise<unknown>): Promise<number> {
  const before = proxy.count(({ type }) => type === 'Execute' || type === 'Query');
  await work();
  return proxy.count(({ type }) => type === 'Execute' || type === 'Query') - before;
}

describe('when its environment', () => {
  const levels = [
    ['environment', () => world.environment.id],
    ['project', () => world.project.id],
    ['organization', () => world.organization.id],
  ] as const;

  test.each(levels)('loses its %s, nothing is read; undeleted, the same token reads', async (table, idOf) => {
    const { tokenId } = await own.enter();
    const set = async (time: string): Promise<unknown> =>
      services.database.pool.query(`UPDATE ${table} SET deleted_at = ${time} WHERE id = $1`, [idOf()]);
    await set('now()');
    expect(await own.outcome()).toBe('not_found');
    await set('NULL');
    expect(await own.outcome()).toEqual(value);
    expect((await own.enter()).tokenId).toBe(tokenId);
  });

  test.each([
    [
      'environment',
      ({ environment, organization, project }) =>
        `it was deleted at TIME. To take the deletion back, an admin of the organization runs \`keyframe env undelete ${environment} -o ${organization} -p ${project}\``,
    ],
    [
      'project',
      ({ organization, project }) =>
        `its project was deleted at TIME. To take the deletion back, an admin of the organization runs \`keyframe project undelete ${project} -o ${organization}\``,
    ],
    [
      'organization',
      ({ organization }) =>
        `its organization was deleted at TIME. To take the deletion back, an instance admin runs \`keyframe org undelete ${organization}\``,
    ],
  ] as readonly (readonly [keyof World['slugs'], (slugs: World['slugs']) => string])[])(
    'is deleted with its %s, the refusal says when, and what takes that back',
    async (level, said) => {
      await services.database.pool.query(`UPDATE ${level} SET deleted_at = '2026-01-02T03:04:05.678Z' WHERE id = $1`, [
        world[level].id,
      ]);
      const { organization, project, environment } = world.slugs;
      await expect(services.keyless.admit(own.reader, world.slugs)).rejects.toMatchObject({
        code: 'not_found',
        detail: `environment ${organization}/${project}/${environment} does not exist: ${said(world.slugs).replace('TIME', '2026-01-02T03:04:05Z')}`,
      });
    },
  );

  test('never existed, the refusal says how to create it', async () => {
    own.grants = [ruleFor(world, { kinds: ['SecretSync'], permission: 'read', environments: ['*'] })];
    await expect(services.keyless.admit(own.reader, { ...world.slugs, environment: 'typo' })).rejects.toMatchObject({
      code: 'not_found',
      detail: expect.stringMatching(
        /typo does not exist\. Correct the slugs, or create it with `keyframe env create` or/,
      ),
    });
  });

  test('is deleted and undeleted, a revocation stays', async () => {
    const { tokenId } = await own.enter();
    await revoke(tokenId);
    const { pool } = services.database;
    await pool.query('UPDATE environment SET deleted_at = now() WHERE id = $1', [world.environment.id]);
    expect(await own.outcome()).toBe('not_found');
    await pool.query('UPDATE environment SET deleted_at = NULL WHERE id = $1', [world.environment.id]);
    expect(await own.outcome()).toBe('token_revoked');
  });

  test('is deleted between admission and entry, no token is made', async () => {
    const admission = await services.keyless.admit(own.reader, world.slugs);
    await services.environments.delete(await world.onEnvironment(world.admin.caller, 'environment.delete'));
    await expect(admission.enter()).rejects.toMatchObject({ code: 'not_found' });
    const { id: environmentId } = world.environment;
    expect(await prismaOf(services.database).serviceToken.count({ where: { environmentId } })).toBe(0);
  });

  test('is purged, its token goes; an environment of that name begins without', async () => {
    const { tokenId } = await own.enter();
    await revoke(tokenId);
    await services.environments.delete(await world.onEnvironment(world.admin.caller, 'environment.delete'));
    const admin = await createUser(services, { instanceAdmin: true });
    const purge = await services.access.instance(admin.caller, 'environment.purge');
    await services.environments.purge(purge, world.slugs);
    expect(await prismaOf(services.database).serviceToken.findUnique({ where: { id: tokenId } })).toBeNull();
    const project = await world.onProject(world.admin.caller, 'environment.create');
    const { slug } = world.environment;
    const again = await services.environments.create(project, { slug, displayName: slug });
    const entered = await own.enter();
    expect(entered.access.environmentId).toBe(again.id);
    expect(entered.tokenId).not.toBe(tokenId);
  });
});

test('the audit of reads for SecretSyncs delays that of requests in nothing', async () => {
  await own.enter();
  const held = proxy.hold(runs(/INSERT INTO audit_entry/));
  const reading = own.read();
  await held.arrived();
  const more = Array.from({ length: 50 }, () => own.read());
  expect((await calls.read()).secrets).toEqual({ API_KEY: ['value', 1] });
  held.release();
  expect(await Promise.all([reading, ...more])).toEqual(Array.from({ length: 51 }, () => value));
});

describe('what a read costs in statements', () => {
  test('one for all that ask at the same time, and none more to enter with a token that exists', async () => {
    await own.enter();
    await services.usage.drain();
    const readers = Array.from({ length: 100 }, (_, index) => {
      return new TestSyncReader(services, world, { namespace: index % 2 === 0 ? 'team-a' : 'team-b' });
    });
    const admit = async (): Promise<{ enter(): Promise<unknown> }[]> =>
      Promise.all(readers.map(({ reader }) => services.keyless.admit(reader, world.slugs)));
    let admissions = await admit();
    // Those without a token: one statement makes it, one more looks.
    expect(await statements(() => Promise.all(admissions.map((admission) => admission.enter())))).toBe(2);
    expect(await statements(() => services.usage.drain())).toBe(1);
    expect(await statements(async () => (admissions = await admit()))).toBe(1);
    expect(await statements(() => Promise.all(admissions.map((admission) => admission.enter())))).toBe(0);
    // Used less than a minute ago.
    expect(await statements(() => services.usage.drain())).toBe(0);
  });

  test('a lookup that answers a call begins after the call', async () => {
    const { tokenId } = await own.enter();
    await services.usage.drain();
    const held = proxy.hold(runs(/unnest.*asked \(cluster, namespace, organization/su));
    const early = services.keyless.admit(own.reader, world.slugs);
    await held.arrived();
    await revoke(tokenId);
    await expect(services.keyless.admit(own.reader, world.slugs)).rejects.toMatchObject({ code: 'token_revoked' });
    held.release();
    await early.catch(() => undefined);
  });

  test('without the database it is store_unavailable, and nothing is read', async () => {
    await own.enter();
    proxy.refuse();
    proxy.kill();
    await expect(services.keyless.admit(own.reader, world.slugs)).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
