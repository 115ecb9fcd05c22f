import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { limits } from '../../../src/domain/limits.ts';
import { IssuerCalls } from '../../support/api/issuer-calls.ts';
import {
  authenticated,
  createWorld,
  type TestServices,
  type TestToken,
  type World,
} from '../../support/api/services.ts';
import { codeOf } from '../../support/api/sync-reader.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let issuer: IssuerCalls;

withWorlds((given) => ({ services, world } = given));

beforeEach(() => {
  issuer = new IssuerCalls(services);
});

const keyOf = (kid: string): object => ({
  ...generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }),
  kid,
});

/** The audit entries of this issuer in an organization, or of the instance with null. */
async function audited(organizationId: string | null): Promise<readonly object[]> {
  const where = { organizationId, target: { path: ['issuer'], equals: issuer.name } };
  const entries = await prismaOf(services.database).auditEntry.findMany({ where, orderBy: { id: 'asc' } });
  return entries.map(({ action, outcome, target }) => ({ action, outcome, ...(target as object) }));
}

const stateOf = async ({ token }: TestToken): Promise<string> =>
  authenticated(services, token).then(() => 'opens', codeOf);

async function rowOf(): Promise<{ keysVersion: number; keys: unknown; fetchedAt: Date | null }> {
  return prismaOf(services.database).trustedIssuer.findUniqueOrThrow({ where: { name: issuer.name } });
}

describe('a trusted issuer', () => {
  test('is added, read and listed', async () => {
    const added = await issuer.set({ maxAgeSeconds: 600, expectedVersion: 0 });
    expect(added).toMatchObject({
      name: issuer.name,
      cluster: null,
      generation: 1,
      version: 1,
      maxAgeSeconds: 600,
      keys: null,
      tokens: 0,
      disabledAt: null,
    });
    expect(await issuer.get()).toEqual(added);
    const access = await world.onOrganization(world.admin.caller, 'trusted_issuer.list');
    const names = await services.trustedIssuers.names(access);
    expect(names.find(({ name }) => name === issuer.name)).toEqual({
      name: issuer.name,
      preset: 'none',
      iss: 'https://a.example',
      generation: 1,
      disabledAt: null,
    });
    expect(await audited(null)).toMatchObject([{ action: 'trusted_issuer.set', outcome: 'success', generation: 1 }]);
  });

  test('of which nothing differs stays at its version', async () => {
    const added = await issuer.set();
    expect(await issuer.set({ expectedVersion: 1 })).toEqual(added);
  });

  test('is changed only at its expected version', async () => {
    expect(await issuer.set({ expectedVersion: 1 }).catch(codeOf)).toBe('version_mismatch');
    await issuer.set();
    expect(await issuer.set({ expectedVersion: 0 }).catch(codeOf)).toBe('version_mismatch');
    expect(await issuer.delete({ expectedVersion: 2 }).catch(codeOf)).toBe('version_mismatch');
    await issuer.delete({ expectedVersion: 1 });
    expect(await issuer.get().catch(codeOf)).toBe('not_found');
    expect(await issuer.delete().catch(codeOf)).toBe('not_found');
  });

  test('that is added twice at the same moment is added once', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => issuer.set({ expectedVersion: 0 }).catch(codeOf)));
    expect(made.filter((one) => one === 'version_mismatch')).toHaveLength(7);
  });

  test('can have the iss of another one', async () => {
    await issuer.set({ keys: [keyOf('a')], algorithms: ['EdDSA'] });
    const twin = new IssuerCalls(services);
    expect(await twin.set({ keys: [keyOf('a')], algorithms: ['EdDSA'] })).toMatchObject({ version: 1 });
  });

  test('is one of 100 at most', async () => {
    const prisma = prismaOf(services.database);
    const count = await prisma.trustedIssuer.count({ where: { name: { not: null } } });
    const row = { preset: 'none', iss: 'x', jwksUrl: 'x', algorithms: ['RS256'], maxAgeSeconds: 1 };
    const data = Array.from({ length: limits.trustedIssuers - count - 1 }, () => ({ id: randomUUID(), ...row }));
    await prisma.trustedIssuer.createMany({ data: data.map((one) => ({ ...one, name: `full-${one.id}` })) });
    const others = Array.from({ length: 4 }, () => new IssuerCalls(services));
    const made = await Promise.all(others.map(async (one) => one.set().then(() => 'added', codeOf)));
    expect(made.toSorted()).toEqual(['added', 'quota_exceeded', 'quota_exceeded', 'quota_exceeded']);
    await prisma.trustedIssuer.deleteMany({ where: { name: { startsWith: 'full-' } } });
  });

  test('of a cluster is shown, and changed by its cluster only', async () => {
    const row = { preset: 'kubernetes', iss: 'x', keys: { keys: [] }, algorithms: ['RS256'], maxAgeSeconds: 1 };
    await prismaOf(services.database).trustedIssuer.create({
      data: { id: randomUUID(), cluster: issuer.name, ...row },
    });
    expect(await issuer.get()).toMatchObject({ name: issuer.name, cluster: issuer.name });
    expect(await issuer.set().catch(codeOf)).toBe('conflict');
    expect(await issuer.delete({ force: true }).catch(codeOf)).toBe('conflict');
    const access = await world.onOrganization(world.admin.caller, 'trusted_issuer.list');
    expect((await services.trustedIssuers.names(access)).map(({ name }) => name)).not.toContain(issuer.name);
  });

  test('is not at a private address without the setting, whatever its form', async () => {
    for (const host of ['127.0.0.1', '2130706433', '10.0.0.1.', '[::1]', '[fd00::1]', '[::ffff:192.168.0.1]']) {
      const refused = issuer.set({ jwksUrl: `https://${host}:8443/keys` });
      await expect(refused).rejects.toMatchObject({
        code: 'invalid_input',
        fields: [{ field: 'jwksUrl', message: expect.stringContaining('TRUSTED_ISSUER_PRIVATE_ADDRESSES') }],
      });
    }
    expect(await issuer.set({ jwksUrl: 'https://1.1.1.1/keys' })).toMatchObject({ version: 1 });
  });

  test('records a refused key without the key', async () => {
    const { d } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
    await expect(issuer.set({ keys: [{ ...keyOf('a'), d }] })).rejects.toMatchObject({ code: 'invalid_input' });
    const entries = await audited(null);
    expect(entries).toMatchObject([{ action: 'trusted_issuer.set', outcome: 'failed' }]);
    expect(JSON.stringify(entries)).not.toContain(d);
  });
});

describe('the keys of an issuer', () => {
  test('that were fetched count no longer after a change of their URL', async () => {
    await issuer.set();
    await services.database.pool.query(
      `UPDATE trusted_issuer SET keys = '{"keys":[{"kty":"RSA"}]}', fetched_at = now(), fetch_tried_at = now(),
         fetch_fault = 'timeout', fetch_failed_at = now() WHERE name = $1`,
      [issuer.name],
    );
    await issuer.set({ maxAgeSeconds: 60 });
    expect(await rowOf()).toMatchObject({ keysVersion: 1, keys: { keys: [{ kty: 'RSA' }] } });
    expect(await issuer.get()).toMatchObject({ fetchFault: 'timeout', fetchFailedAt: expect.any(Date) });
    const moved = await issuer.set({ jwksUrl: 'https://b.example/keys' });
    expect(moved).toMatchObject({ generation: 2, keys: null, fetchFault: null, fetchFailedAt: null });
    expect(await rowOf()).toMatchObject({ keysVersion: 2, keys: null, fetchedAt: null, fetchTriedAt: null });
  });

  test('get another version and another generation if others are given', async () => {
    const [first, second] = [keyOf('a'), keyOf('b')];
    await issuer.set({ keys: [first], algorithms: ['EdDSA'] });
    expect(await issuer.set({ keys: [first], algorithms: ['EdDSA'] })).toMatchObject({ generation: 1, version: 1 });
    expect(await issuer.set({ keys: [first, second], algorithms: ['EdDSA'] })).toMatchObject({
      generation: 2,
      keys: { keys: [{ kid: 'a' }, { kid: 'b' }] },
    });
    expect(await rowOf()).toMatchObject({ keysVersion: 2 });
  });
});

describe('an issuer that proves service tokens', () => {
  test('records a new generation in each organization concerned, and no other change', async () => {
    await issuer.set();
    const [first, second] = [await issuer.prove(world), await issuer.prove(world)];
    const other = await createWorld(services);
    await issuer.prove(other);
    const bystander = await createWorld(services);
    await issuer.set({ maxAgeSeconds: 60 });
    expect(await audited(world.organization.id)).toEqual([]);
    expect(await issuer.set({ iss: 'https://b.example' })).toMatchObject({
      generation: 2,
      tokens: 3,
      organizations: 2,
    });
    const entry = { action: 'trusted_issuer.set', outcome: 'success', issuer: issuer.name, generation: 2 };
    expect(await audited(world.organization.id)).toEqual([{ ...entry, tokens: 2 }]);
    expect(await audited(other.organization.id)).toEqual([{ ...entry, tokens: 1 }]);
    expect(await audited(bystander.organization.id)).toEqual([]);
    expect([await stateOf(first), await stateOf(second)]).toEqual(['opens', 'opens']);
  });

  test('stays without force, and says how many tokens it proves', async () => {
    await issuer.set();
    const token = await issuer.prove(world);
    await expect(issuer.delete()).rejects.toMatchObject({
      code: 'conflict',
      detail: `trusted issuer ${issuer.name} proves 1 service token in 1 organization; to revoke them with it, run \`keyframe issuer delete ${issuer.name} --force\``,
    });
    expect(await stateOf(token)).toBe('opens');
    await services.database.pool.query('UPDATE service_token SET revoked_at = now() WHERE id = $1', [token.id]);
    await issuer.delete();
  });

  test('revokes them with force, and leaves others', async () => {
    await issuer.set();
    const own = await issuer.prove(world);
    const other = await createWorld(services);
    const foreign = await issuer.prove(other);
    const spared = await world.serviceToken();
    await issuer.delete({ force: true });
    expect(await issuer.get().catch(codeOf)).toBe('not_found');
    expect([await stateOf(own), await stateOf(foreign), await stateOf(spared)]).toEqual([
      'unauthenticated',
      'unauthenticated',
      'opens',
    ]);
    const entry = { action: 'service_token.revoke', outcome: 'success', cause: 'issuer_deleted' };
    expect(await audited(world.organization.id)).toMatchObject([{ ...entry, serviceTokenId: own.id }]);
    expect(await audited(other.organization.id)).toMatchObject([{ ...entry, serviceTokenId: foreign.id }]);
    expect(await audited(null)).toMatchObject([{}, { action: 'trusted_issuer.delete', tokens: 2, organizations: 2 }]);
    const federations = await prismaOf(services.database).serviceTokenFederation.findMany({
      where: { issuerName: issuer.name },
    });
    expect(federations).toEqual(
      Array.from({ length: 2 }, () => expect.objectContaining({ issuerId: null, endedAt: expect.any(Date) })),
    );
  });
});

test('an issuer that is disabled is enabled by the same content, and its keys are fetched again', async () => {
  await issuer.set();
  await services.database.pool.query(
    `UPDATE trusted_issuer SET disabled_at = now(), keys = '{"keys":[]}', fetched_at = now() WHERE name = $1`,
    [issuer.name],
  );
  expect(await issuer.get()).toMatchObject({ disabledAt: expect.any(Date) });
  expect(await issuer.set()).toMatchObject({ disabledAt: null, generation: 1, version: 2, keys: null });
  expect(await audited(null)).toMatchObject([{}, { changed: ['enabled'] }]);
});

test('issuers are for instance admins', async () => {
  const token = await world.serviceToken();
  for (const { caller } of [world.admin, token]) {
    for (const action of ['trusted_issuer.list_all', 'trusted_issuer.set', 'trusted_issuer.delete'] as const) {
      await expect(services.access.instance(caller, action)).rejects.toMatchObject({ code: 'forbidden' });
    }
  }
  for (const { caller } of [world.developer, token]) {
    await expect(world.onOrganization(caller, 'trusted_issuer.list')).rejects.toMatchObject({ code: 'forbidden' });
  }
});
