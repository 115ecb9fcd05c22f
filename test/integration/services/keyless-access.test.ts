import { beforeEach, describe, expect, test } from '@jest/globals';
import { connectLocally } from '../../../src/compose/local-backend.ts';
import { requireSyncGrant } from '../../../src/domain/grant-refusal.ts';
import { sha256 } from '../../../src/lib/digest.ts';
import { KeylessTokenRefusal } from '../../../src/services/access/keyless.ts';
import { codeOf, TestSyncReader } from '../../support/api/sync-reader.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { ruleFor } from '../../support/api/token-resource.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;
let own: TestSyncReader;

withWorlds((given) => ({ services, world, calls } = given));

beforeEach(async () => {
  own = new TestSyncReader(services, world);
  await calls.put('API_KEY', 'value');
});

interface TokenRow {
  readonly id: string;
  readonly name: string;
  readonly cluster: string | null;
  readonly namespace: string | null;
}

async function tokensOf(environmentId = world.environment.id): Promise<readonly TokenRow[]> {
  return await prismaOf(services.database).serviceToken.findMany({ where: { environmentId, cluster: { not: null } } });
}

describe('a SecretSync without a token reference', () => {
  test('reads as the keyless token of its namespace, which is made at its first read and has no credential', async () => {
    const admission = await services.keyless.admit(own.reader, world.slugs);
    expect(admission.environmentId).toBe(world.environment.id);
    expect(await tokensOf()).toEqual([]);
    const { tokenId, access } = await admission.enter();
    expect(access.caller.principal).toEqual({
      type: 'service_token',
      id: tokenId,
      name: 'SecretSyncs of team-a (cluster test)',
      isKeyless: true,
      organizationId: world.organization.id,
      scope: 'environment',
      projectId: world.project.id,
      environmentId: world.environment.id,
      permission: 'read',
      claim: { cluster: 'test', namespace: 'team-a' },
    });
    expect(await own.read()).toEqual({ API_KEY: 'value' });
    expect(await tokensOf()).toEqual([expect.objectContaining({ id: tokenId, createdByType: 'resource' })]);
    expect(await prismaOf(services.database).serviceTokenCredential.count({ where: { serviceTokenId: tokenId } })).toBe(
      0,
    );
    expect((await own.enter()).tokenId).toBe(tokenId);
  });

  test('has one token with all others of its namespace, and another one in each namespace and cluster', async () => {
    const places = [{}, { namespace: 'team-b' }, { cluster: 'other' }];
    const readers = places.flatMap((place) =>
      Array.from({ length: 40 }, () => new TestSyncReader(services, world, place)),
    );
    const entries = await Promise.all(readers.map((reader) => reader.enter()));
    const rows = await tokensOf();
    expect(rows.map(({ cluster, namespace }) => `${cluster} ${namespace}`).sort()).toEqual([
      'other team-a',
      'test team-a',
      'test team-b',
    ]);
    expect(new Set(entries.map(({ tokenId }) => tokenId))).toEqual(new Set(rows.map(({ id }) => id)));
    const created = await prismaOf(services.database).auditEntry.count({
      where: { action: 'service_token.create', organizationId: world.organization.id },
    });
    expect(created).toBe(3);
  });

  test('is refused without a grant, before anything is looked up, and by the grant as it is then', async () => {
    own.grants = [];
    const absent = { ...world.slugs, environment: 'no-such-thing' };
    for (const place of [world.slugs, absent]) {
      await expect(services.keyless.admit(own.reader, place)).rejects.toMatchObject({
        code: 'forbidden',
        detail: expect.stringContaining('kinds: [SecretSync]'),
      });
    }
    own.grants = [ruleFor(world, { kinds: ['ServiceToken'], permission: 'read' })];
    const admission = await services.keyless.admit(own.reader, world.slugs);
    requireSyncGrant(own.reader, world.slugs, sha256);
    own.grants = [];
    expect(() => requireSyncGrant(own.reader, world.slugs, sha256)).toThrow('needs Read on environment');
    await expect(admission.enter()).rejects.toMatchObject({ code: 'forbidden' });
    expect(await tokensOf()).toEqual([]);
  });

  test('learns what is granted and missing', async () => {
    own.grants = [ruleFor(world, { environments: ['*'], kinds: ['SecretSync'], permission: 'read' })];
    const place = { ...world.slugs, environment: 'no-such-thing' };
    await expect(services.keyless.admit(own.reader, place)).rejects.toMatchObject({ code: 'not_found' });
    const malformed = { ...world.slugs, environment: 'S3CRET' };
    await expect(services.keyless.admit(own.reader, malformed)).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

describe('a revoked keyless token', () => {
  test('bars its namespace and environment, and is not made again', async () => {
    const { tokenId } = await own.enter();
    expect((await own.enter()).tokenId).toBe(tokenId);
    await services.serviceTokens.revoke(
      await world.onOrganization(world.admin.caller, 'service_token.revoke'),
      tokenId,
    );
    const recreated = new TestSyncReader(services, world);
    for (const { reader } of [own, recreated]) {
      const refusal: unknown = await services.keyless.admit(reader, world.slugs).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(KeylessTokenRefusal);
      expect(refusal).toMatchObject({
        code: 'token_revoked',
        tokenId,
        detail: expect.stringContaining(`keyframe token reinstate -o ${world.slugs.organization} --id ${tokenId}`),
      });
    }
    expect(await tokensOf()).toHaveLength(1);
    expect(await new TestSyncReader(services, world, { namespace: 'team-b' }).read()).toEqual({ API_KEY: 'value' });
    expect(await new TestSyncReader(services, world, { cluster: 'other' }).read()).toEqual({ API_KEY: 'value' });
  });

  test('bars also those that were admitted before the token existed', async () => {
    const admission = await services.keyless.admit(own.reader, world.slugs);
    const { tokenId } = await new TestSyncReader(services, world).enter();
    await services.serviceTokens.revoke(
      await world.onOrganization(world.admin.caller, 'service_token.revoke'),
      tokenId,
    );
    await expect(admission.enter()).rejects.toMatchObject({ code: 'token_revoked', tokenId });
  });
});

test('an environment that was replaced after the admission gets no token', async () => {
  const admission = await services.keyless.admit(own.reader, world.slugs);
  const { id } = world.environment;
  await services.database.pool.query(`UPDATE environment SET slug = slug || '-old' WHERE id = $1`, [id]);
  const project = await world.onProject(world.admin.caller, 'environment.create');
  const { slug } = world.environment;
  const replacement = await services.environments.create(project, { slug, displayName: slug });
  expect(await admission.enter().catch(codeOf)).toBe('conflict');
  expect(await tokensOf(replacement.id)).toEqual([]);
});

test('the comparison of states knows keyless tokens', async () => {
  const { tokenId } = await own.enter();
  const other = await world.serviceToken();
  const serviceTokenIds = [tokenId, other.id];
  const { changes } = connectLocally(services)(() => 'test');
  const live = async (): Promise<ReadonlySet<string>> => (await changes.compare({ serviceTokenIds })).liveTokens;
  expect(await live()).toEqual(new Set(serviceTokenIds));
  await services.database.pool.query('UPDATE service_token SET suspended_at = now() WHERE id = $1', [other.id]);
  expect(await live()).toEqual(new Set([tokenId]));
  await services.database.pool.query('UPDATE environment SET deleted_at = now() WHERE id = $1', [world.environment.id]);
  expect(await live()).toEqual(new Set());
  await services.database.pool.query('UPDATE environment SET deleted_at = NULL WHERE id = $1', [world.environment.id]);
  await services.database.pool.query('UPDATE service_token SET revoked_at = now() WHERE id = $1', [tokenId]);
  expect(await live()).toEqual(new Set());
});
