import { createHash, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { readAudience } from '../../../src/domain/audience.ts';
import type { Caller } from '../../../src/domain/principal.ts';
import type { NewTokenInput, ServiceTokenRecord } from '../../../src/services/tokens/service-tokens.ts';
import { createWorld, type TestServices, type World } from '../../support/api/services.ts';
import { outcomeOf } from '../../support/api/outcome.ts';
import { changeIssuer, insertIssuer, type TestIssuer } from '../../support/api/trusted-issuers.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { LockSession } from '../../support/database/locks.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let issuer: TestIssuer;

withWorlds((given) => ({ services, world } = given));
beforeEach(async () => {
  issuer = await insertIssuer(services.database);
});

const claims = { sub: ['system:serviceaccount:shop:ci'] };
type Created = Awaited<ReturnType<TestServices['serviceTokens']['createOnce']>>;

async function createOnce(
  input: Partial<NewTokenInput> = {},
  { by = world.admin.caller, key }: { readonly by?: Caller; readonly key?: string } = {},
): Promise<Created> {
  const access = await world.onOrganization(by, 'service_token.create');
  const fields = { name: 'ci', scope: 'organization', permission: 'read' } as const;
  const federation = { issuer: issuer.name, claims };
  const requestHash = createHash('sha256').update(JSON.stringify(input)).digest();
  const request = key === undefined ? undefined : { key, requestHash };
  return services.serviceTokens.createOnce(access, { ...fields, federation, ...input }, request);
}

async function create(input: Partial<NewTokenInput> = {}, by?: Caller): Promise<ServiceTokenRecord> {
  return (await createOnce(input, by === undefined ? {} : { by })).record;
}

async function get(id: string): Promise<ServiceTokenRecord> {
  return services.serviceTokens.get(await world.onOrganization(world.admin.caller, 'service_token.list'), id);
}

async function accept(id: string, generation: number): Promise<ServiceTokenRecord> {
  const access = await world.onOrganization(world.admin.caller, 'service_token.accept_issuer');
  return services.federations.acceptIssuer(access, id, { generation });
}

const audited = async (action: string): Promise<unknown[]> => {
  const where = { organizationId: world.organization.id, action };
  const entries = await prismaOf(services.database).auditEntry.findMany({ where, orderBy: { id: 'asc' } });
  return entries.map(({ outcome, label, target }) => ({ outcome, label, target }));
};

describe('creating a federated service token', () => {
  test('returns no value, and what proves the token', async () => {
    const created = await createOnce({ scope: 'project', projectId: world.project.id, permission: 'read_write' });
    expect(created).toMatchObject({ token: undefined, isReplayed: false });
    const { id, federation, ...fields } = created.record;
    expect(fields).toMatchObject({ scope: 'project', projectId: world.project.id, cluster: null, holder: null });
    const audience = federation?.audience ?? '';
    expect(federation).toEqual({ issuer: issuer.name, audience, claims, generation: 1, issuerGeneration: 1 });
    const { id: instance } = await prismaOf(services.database).instance.findFirstOrThrow();
    expect(readAudience(audience)).toEqual({ instance, target: { type: 'service_token', id } });
    expect(await get(id)).toEqual(created.record);
    const list = await services.serviceTokens.list(
      await world.onOrganization(world.admin.caller, 'service_token.list'),
    );
    expect(list.serviceTokens).toEqual([created.record]);
  });

  test('stores a hash that no value has', async () => {
    const [{ id: first }, { id: second }] = [await create(), await create()];
    const credentials = await prismaOf(services.database).serviceTokenCredential.findMany({
      where: { serviceTokenId: { in: [first, second] } },
    });
    const hashes = credentials.map(({ tokenHash }) => Buffer.from(tokenHash).toString('hex'));
    expect(hashes.map((hash) => hash.length)).toEqual([64, 64]);
    expect(new Set(hashes).size).toBe(2);
    expect(credentials.map(({ serial, state }) => [serial, state])).toEqual([
      [1, 'active'],
      [1, 'active'],
    ]);
  });

  test('is audited with the names of issuer and claims, and without values of claims', async () => {
    const { id } = await create({ federation: { issuer: issuer.name, claims: { sub: ['canary'], ref: ['canary'] } } });
    expect(await audited('service_token.create')).toEqual([
      {
        outcome: 'success',
        label: '[Service Token]',
        target: expect.objectContaining({
          serviceTokenId: id,
          issuer: issuer.name,
          issuerGeneration: 1,
          claims: ['sub', 'ref'],
        }),
      },
    ]);
    expect(JSON.stringify(await audited('service_token.create'))).not.toContain('canary');
  });

  test('ends with the token that creates it', async () => {
    const personal = await services.access.person(world.owner.caller, 'personal_token.create');
    const { record: short, token } = await services.personalTokens.create(personal, { name: 'a', expiresInDays: 1 });
    const principal = await services.authentication.authenticate(token.reveal());
    const record = await create({}, { ...world.owner.caller, principal });
    expect(record.expiresAt).toEqual(short.expiresAt);
    expect((await get(record.id)).expiresAt).toEqual(short.expiresAt);
  });

  test('is made once for an Idempotency-Key, whose repetition shows the token as it is now', async () => {
    const key = randomUUID();
    const first = await createOnce({}, { key });
    await changeIssuer(services.database, issuer);
    const again = await createOnce({}, { key });
    expect(again).toMatchObject({ token: undefined, isReplayed: true });
    expect(again.record).toEqual({
      ...first.record,
      federation: { ...first.record.federation, issuerGeneration: 2 },
    });
  });

  test('accepts the present generation of the issuer', async () => {
    await changeIssuer(services.database, issuer);
    expect((await create()).federation).toMatchObject({ generation: 2, issuerGeneration: 2 });
  });
});

describe('a federated service token is refused', () => {
  test('for an issuer that does not exist', async () => {
    const federation = { issuer: 'unknown', claims };
    await expect(create({ federation })).rejects.toMatchObject({
      code: 'invalid_input',
      fields: [{ field: 'federation.issuer', message: expect.stringContaining('is no trusted issuer') }],
    });
  });

  test('for the issuer that a cluster reports', async () => {
    const where = { id: issuer.id };
    await prismaOf(services.database).trustedIssuer.update({ where, data: { name: null, cluster: issuer.name } });
    await expect(create()).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field: 'federation.issuer' }] });
  });

  test('for a disabled issuer, with what to do', async () => {
    const where = { id: issuer.id };
    await prismaOf(services.database).trustedIssuer.update({ where, data: { disabledAt: new Date() } });
    await expect(create()).rejects.toMatchObject({
      code: 'conflict',
      detail: expect.stringMatching(/is disabled, .*an instance admin enables it with `keyframe issuer set issuer-/),
    });
  });

  test.each([
    ['federation.claims', { sub: [] }, 'federation.claims.sub'],
    ['federation.claims', {}, 'federation.claims'],
    ['federation.claims', { namespace: ['shop'] }, 'federation.claims'],
  ])('for claims at %s: %j', async (_name, wrong, field) => {
    await expect(create({ federation: { issuer: issuer.name, claims: wrong } })).rejects.toMatchObject({
      code: 'invalid_input',
      fields: [{ field }],
    });
    const where = { organizationId: world.organization.id };
    expect(await prismaOf(services.database).serviceToken.count({ where })).toBe(0);
  });

  test('for claims that are not enough with the preset of the issuer', async () => {
    const { name } = await insertIssuer(services.database, { preset: 'github' });
    const federation = { issuer: name, claims: { sub: ['repo:acme/shop:ref:refs/heads/main'] } };
    await expect(create({ federation })).rejects.toMatchObject({
      code: 'invalid_input',
      fields: [{ field: 'federation.claims', message: expect.stringContaining('repository_id is missing') }],
    });
  });
});

describe('a federated service token', () => {
  test('is not rotated', async () => {
    const { id } = await create();
    const access = await world.onOrganization(world.admin.caller, 'service_token.rotate');
    await expect(services.serviceTokens.rotate(access, id)).rejects.toMatchObject({
      code: 'conflict',
      detail: expect.stringMatching(/is federated.*create a new token and revoke this one/),
    });
  });

  test('is revoked for good, and stays listed with what proved it', async () => {
    const { id, federation } = await create();
    await services.serviceTokens.revoke(await world.onOrganization(world.admin.caller, 'service_token.revoke'), id);
    expect(await get(id)).toMatchObject({ revokedAt: expect.any(Date), federation });
    const access = await world.onOrganization(world.admin.caller, 'service_token.reinstate');
    await expect(services.serviceTokens.reinstate(access, id)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('shows the name of an issuer that was deleted', async () => {
    const { id } = await create();
    await prismaOf(services.database).trustedIssuer.delete({ where: { id: issuer.id } });
    expect((await get(id)).federation).toMatchObject({ issuer: issuer.name, generation: 1, issuerGeneration: null });
  });

  test('that an older server gave a value is no federated one any more', async () => {
    const { id } = await create();
    const data = { id: randomUUID(), serviceTokenId: id, serial: 2, tokenHash: new Uint8Array(32) };
    await prismaOf(services.database).serviceTokenCredential.create({ data });
    expect((await get(id)).federation).toBeNull();
  });
});

describe('accepting an issuer', () => {
  test('stores its present generation, once more without a change', async () => {
    const { id } = await create();
    await changeIssuer(services.database, issuer);
    expect((await get(id)).federation).toMatchObject({ generation: 1, issuerGeneration: 2 });
    const accepted = await accept(id, 2);
    expect(accepted.federation).toMatchObject({ generation: 2, issuerGeneration: 2 });
    expect(await accept(id, 2)).toEqual(accepted);
    const target = { serviceTokenId: id, issuer: issuer.name, issuerGeneration: 2 };
    expect(await audited('service_token.accept_issuer')).toMatchObject([
      { outcome: 'success', target: { ...target, from: 1 } },
      { outcome: 'success', target: { ...target, from: 2 } },
    ]);
  });

  test.each([1, 3])('with generation %i instead of the present one is a conflict that says it', async (generation) => {
    const { id } = await create();
    await changeIssuer(services.database, issuer);
    await expect(accept(id, generation)).rejects.toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('is at generation 2'),
    });
    expect((await get(id)).federation).toMatchObject({ generation: 1 });
  });

  test('is a conflict for a token that is revoked, has a value or whose issuer was deleted', async () => {
    const [revoked, orphan] = [await create(), await create()];
    const valued = await world.serviceToken();
    await services.serviceTokens.revoke(
      await world.onOrganization(world.admin.caller, 'service_token.revoke'),
      revoked.id,
    );
    await expect(accept(revoked.id, 1)).rejects.toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('was revoked'),
    });
    await expect(accept(valued.id, 1)).rejects.toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('is not federated'),
    });
    await prismaOf(services.database).trustedIssuer.delete({ where: { id: issuer.id } });
    await expect(accept(orphan.id, 1)).rejects.toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('was deleted'),
    });
  });

  test('is not_found for a token of another organization', async () => {
    const foreign = await createWorld(services);
    const access = await foreign.onOrganization(foreign.admin.caller, 'service_token.create');
    const { record } = await services.serviceTokens.createOnce(
      access,
      { name: 'ci', scope: 'organization', permission: 'read', federation: { issuer: issuer.name, claims } },
      undefined,
    );
    await changeIssuer(services.database, issuer);
    for (const id of [record.id, randomUUID()]) {
      await expect(accept(id, 2)).rejects.toMatchObject({ code: 'not_found' });
    }
    const where = { issuerId: issuer.id };
    const stored = await prismaOf(services.database).serviceTokenFederation.findMany({ where });
    expect(stored.map(({ generation }) => generation)).toEqual([1]);
    await expect(accept('x', 2)).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field: 'id' }] });
    await expect(accept(record.id, 0)).rejects.toMatchObject({ fields: [{ field: 'generation' }] });
  });

  test('waits for a change of the issuer, and is judged by it', async () => {
    const { id } = await create();
    const session = await LockSession.begin(services.url);
    await session.run('UPDATE trusted_issuer SET generation = generation + 1 WHERE id = $1', [issuer.id]);
    const accepted = outcomeOf(accept(id, 1));
    await session.waitForBlocked(1);
    await session.commit();
    expect(await accepted).toBe('conflict');
  });
});
