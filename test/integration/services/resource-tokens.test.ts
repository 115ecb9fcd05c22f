import { beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { resourceCaller } from '../../support/api/resource-caller.ts';
import { authenticated, type TestServices, type World } from '../../support/api/services.ts';
import { ruleFor, TokenResource } from '../../support/api/token-resource.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { withWorlds } from '../../support/api/with-services.ts';

let services: TestServices;
let world: World;
let own: TokenResource;

withWorlds((given) => ({ services, world } = given));

beforeEach(() => {
  own = new TokenResource(services, world);
});

describe('minting', () => {
  test('makes a secret that opens nothing before it is activated, and only by that very secret', async () => {
    const made = await own.mint();
    expect(await own.opens(made)).toBe('pending');
    await expect(own.activate({ ...made, token: new Plaintext('kf_svc_other') })).rejects.toMatchObject({
      code: 'conflict',
    });
    const other = await world.serviceToken();
    await expect(own.activate({ ...made, token: other.token })).rejects.toMatchObject({ code: 'conflict' });
    expect(await own.opens(made)).toBe('pending');
    await own.activate(made);
    expect(await own.opens(made)).toBe('opens');
    await own.activate(made);
    expect(await own.opens(made)).toBe('opens');
  });

  test('makes a token that may what was asked for, where it was asked for', async () => {
    const made = await own.minted({ permission: 'read' });
    const caller = await authenticated(services, made.token);
    expect(caller.principal).toMatchObject({
      type: 'service_token',
      id: made.tokenId,
      name: 'team-a/ci',
      scope: 'environment',
      environmentId: world.environment.id,
      permission: 'read',
    });
    await expect(world.onEnvironment(caller, 'secret.list')).resolves.toBeDefined();
    await expect(world.onEnvironment(caller, 'secret.write')).rejects.toMatchObject({ code: 'forbidden' });
  });

  test('makes tokens of project and organization scope where the grant is that wide', async () => {
    const { organization, project } = world.slugs;
    const places = [
      {
        place: { organization, project, environment: null },
        needs: ruleFor(world, { environments: ['*'] }),
        scope: 'project',
      },
      {
        place: { organization, project: null, environment: null },
        needs: ruleFor(world, { project: '*', environments: ['*'] }),
        scope: 'organization',
      },
    ];
    for (const { place, needs, scope } of places) {
      const caller = resourceCaller({ kind: 'ServiceToken', grantsNow: () => own.grants });
      const may = () => services.resourceAccess.mayMint(caller, { ...place, permission: 'read' });
      own.grants = [ruleFor(world)];
      await expect(may()).rejects.toMatchObject({ code: 'forbidden' });
      own.grants = [needs];
      await services.resourceTokens.mint(await may(), { name: 'wide', serial: 1, expiresAt: null });
      expect(await own.find(caller)).toMatchObject({ scope, permission: 'read' });
    }
  });

  test('shows in the lists of the API as made by the resource, and in the audit as a matter of service tokens', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000);
    const made = await own.minted({ expiresAt });
    const list = await services.serviceTokens.list(
      await world.onOrganization(world.owner.caller, 'service_token.list'),
    );
    expect(list.serviceTokens).toMatchObject([
      {
        id: made.tokenId,
        createdByType: 'resource',
        createdBy: own.caller.principal.id,
        createdByName: 'ServiceToken team-a/ci',
        cluster: 'test',
        suspendedAt: null,
        expiresAt,
      },
    ]);
    const entries = await own.auditOf(made.tokenId);
    expect(entries.map(({ action }) => action)).toEqual(['service_token.create', 'service_token.activate']);
    for (const entry of entries) {
      expect(entry).toMatchObject({
        organizationId: world.organization.id,
        actorType: 'resource',
        actorId: own.caller.principal.id,
        actorName: 'ServiceToken team-a/ci',
        outcome: 'success',
        label: '[Service Token]',
      });
    }
    expect(entries[0]?.target).toEqual({
      ...world.slugs,
      serviceTokenId: made.tokenId,
      name: 'team-a/ci',
      serial: 1,
      scope: 'environment',
      permission: 'read_write',
      expiresAt: expiresAt.toISOString(),
    });
  });

  test('under a former name of its cluster is found by that name, and revoked without touching the present one', async () => {
    const former = await own.minted();
    const { principal, ...request } = own.caller;
    const present = await own.minted({ caller: { ...request, principal: { ...principal, cluster: 'renamed' } } });
    const list = await services.serviceTokens.list(
      await world.onOrganization(world.owner.caller, 'service_token.list'),
    );
    const found = list.serviceTokens.map(({ id, cluster }) => ({ id, cluster }));
    expect(found).toEqual([
      { id: present.tokenId, cluster: 'renamed' },
      { id: former.tokenId, cluster: 'test' },
    ]);
    await services.serviceTokens.revoke(
      await world.onOrganization(world.owner.caller, 'service_token.revoke'),
      former.tokenId,
    );
    expect([await own.opens(former), await own.opens(present)]).toEqual(['revoked', 'opens']);
  });

  test('after a crash before the activation is found as pending, and made again under the same serial', async () => {
    const lost = await own.mint();
    expect(await own.find()).toMatchObject({ tokenId: lost.tokenId, credentials: [{ serial: 1, state: 'pending' }] });
    const again = await own.mint();
    expect(again.tokenId).toBe(lost.tokenId);
    await expect(own.activate(lost)).rejects.toMatchObject({ code: 'conflict' });
    await own.activate(again);
    expect([await own.opens(lost), await own.opens(again)]).toEqual(['unknown', 'opens']);
    expect((await own.find())?.credentials).toMatchObject([{ serial: 1, state: 'active', revokedAt: null }]);
  });

  test('of a serial that is live is refused; the next one lives beside it until that is revoked', async () => {
    const first = await own.minted();
    await expect(own.mint()).rejects.toMatchObject({ code: 'conflict' });
    const second = await own.minted({ serial: 2 });
    expect(second.tokenId).toBe(first.tokenId);
    expect([await own.opens(first), await own.opens(second)]).toEqual(['opens', 'opens']);
    await own.revokeSerial(1);
    expect([await own.opens(first), await own.opens(second)]).toEqual(['revoked', 'opens']);
    await expect(own.mint()).rejects.toMatchObject({ code: 'conflict' });
    const events = (await own.auditOf(first.tokenId)).map(({ action }) => action);
    await own.revokeSerial(1);
    await own.revokeSerial(7);
    expect((await own.auditOf(first.tokenId)).map(({ action }) => action)).toEqual(events);
  });

  test('of a serial that was revoked before it was activated is refused, so that its value stays revoked', async () => {
    const made = await own.mint();
    await own.revokeSerial(1);
    await expect(own.mint()).rejects.toMatchObject({ code: 'conflict' });
    expect(await own.opens(made)).toBe('revoked');
    expect((await own.find())?.credentials).toMatchObject([{ serial: 1, revokedAt: expect.any(Date) }]);
  });

  test('notes first and last use of each serial, for a user who waits for the old one to be unused', async () => {
    const first = await own.minted();
    expect((await own.find())?.credentials).toMatchObject([{ firstUsedAt: null, lastUsedAt: null }]);
    await authenticated(services, first.token);
    await waitFor('the note of the use', async () => {
      const [credential] = (await own.find())?.credentials ?? [];
      return credential?.firstUsedAt instanceof Date && credential.lastUsedAt instanceof Date;
    });
  });

  test('finds the serial of a value, live or revoked, and of no other value', async () => {
    const first = await own.minted();
    const second = await own.mint({ serial: 2 });
    await own.revokeSerial(1);
    const foreign = await world.serviceToken();
    const values = [first.token, second.token, foreign.token, new Plaintext('kf_svc_other')];
    expect(await Promise.all(values.map((value) => own.serialOf(value)))).toEqual([1, 2, undefined, undefined]);
    const other = new TokenResource(services, world);
    expect(await other.serialOf(first.token)).toBeUndefined();
  });

  test('is refused with an input that is none', async () => {
    for (const serial of [0, -1, 1.5, Number.NaN, 2 ** 31]) {
      await expect(own.mint({ serial })).rejects.toMatchObject({ code: 'invalid_input' });
    }
    expect(await own.find()).toBeUndefined();
  });

  test('takes over the permission that is asked for now', async () => {
    const first = await own.minted({ permission: 'read_write' });
    await own.mint({ serial: 2, permission: 'read' });
    expect((await authenticated(services, first.token)).principal).toMatchObject({ permission: 'read' });
  });
});

describe('the end of a serial', () => {
  test('is moved, and moved back, and reported only if it changed', async () => {
    const made = await own.minted();
    const move = async (expiresAt: Date | null): Promise<void> => {
      const access = await services.resourceAccess.token(own.caller, 'service_token.update', own.asked());
      await services.resourceTokens.update(access, [{ serial: 1, expiresAt }]);
    };
    await move(new Date(Date.now() - 1_000));
    expect(await own.opens(made)).toBe('expired');
    await move(null);
    await move(null);
    expect(await own.opens(made)).toBe('opens');
    const updates = (await own.auditOf(made.tokenId)).filter(({ action }) => action === 'service_token.update');
    expect(updates).toHaveLength(2);
  });
});

describe('revoked', () => {
  test('by an admin over the API it is over for good, and `find` reports it', async () => {
    const made = await own.minted();
    const access = await world.onOrganization(world.owner.caller, 'service_token.revoke');
    await services.serviceTokens.revoke(access, made.tokenId);
    expect((await own.find())?.revokedAt).toBeInstanceOf(Date);
    expect(await own.opens(made)).toBe('revoked');
    await expect(own.mint({ serial: 2 })).rejects.toMatchObject({ code: 'conflict' });
    await expect(own.resume()).rejects.toMatchObject({ code: 'conflict' });
  });

  test('before it was ever minted, it is not minted any more', async () => {
    await own.revoke();
    await expect(own.mint()).rejects.toMatchObject({ code: 'conflict' });
    expect(await own.find()).toBeUndefined();
  });
});

describe('after a purge of its environment', () => {
  test('the token is gone, and none is made for the environment that has its slugs then', async () => {
    const first = await own.minted();
    await services.environments.delete(await world.onEnvironment(world.owner.caller, 'environment.delete'));
    expect(await own.opens(first)).toBe('scope_deleted');
    const purge = await services.access.instance(world.owner.caller, 'environment.purge');
    await services.environments.purge(purge, world.slugs);
    expect(await own.findOrGone()).toBe('gone');
    await services.environments.create(await world.onProject(world.owner.caller, 'environment.create'), {
      slug: world.slugs.environment,
    });
    await expect(own.mint({ serial: 1 })).rejects.toMatchObject({ code: 'conflict' });
    await expect(own.mint({ serial: 2 })).rejects.toMatchObject({ code: 'conflict' });
    expect([await own.opens(first), await own.findOrGone()]).toEqual(['unknown', 'gone']);
    await own.revoke();
    expect(await own.find()).toBeUndefined();
  });
});

describe('whose a token is', () => {
  test('the database distinguishes by cluster and uid: the same uid in another cluster, or another uid, has nothing', async () => {
    const made = await own.minted();
    const { id: uid } = own.caller.principal;
    const foreign = [
      resourceCaller({ kind: 'ServiceToken', uid, cluster: 'other', grantsNow: () => own.grants, name: 'ci' }),
      resourceCaller({ kind: 'ServiceToken', uid: randomUUID(), grantsNow: () => own.grants, name: 'ci' }),
    ];
    for (const caller of foreign) {
      expect(await own.find(caller)).toBeUndefined();
      await expect(own.activate(made, caller)).rejects.toMatchObject({ code: 'not_found' });
      await own.revoke(caller);
    }
    expect(await own.opens(made)).toBe('opens');
  });

  test('other kinds, people and service tokens are refused whatever they ask, and nothing is changed', async () => {
    const token = await world.serviceToken({ scope: 'organization' });
    const snapshot = resourceCaller({
      kind: 'SecretSnapshot',
      grantsNow: () => [ruleFor(world, { kinds: ['ServiceToken', 'SecretSnapshot'] })],
    });
    for (const caller of [snapshot, world.owner.caller, token.caller]) {
      const calls = [
        () => own.mint({ caller }),
        () => own.find(caller),
        () => own.serialOf(new Plaintext('kf_svc_other'), caller),
        () => own.revoke(caller),
        () => services.resourceAccess.owner(caller, 'service_token.activate'),
        () => services.resourceAccess.owner(caller, 'service_token.suspend'),
        () => services.resourceAccess.token(caller, 'service_token.resume', own.asked()),
        () => services.resourceAccess.token(caller, 'service_token.update', own.asked()),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'forbidden' });
    }
    expect(await prismaOf(services.database).resourceClaim.count({ where: { kind: 'SecretSnapshot' } })).toBe(0);
  });
});

test('no token is in the audit, nor in any row but as its hash', async () => {
  const made = await own.minted();
  await own.suspend();
  await own.resume();
  await own.revoke();
  await own.mint({ serial: 2 }).catch(() => {});
  const secret = made.token.reveal().slice(-49);
  for (const table of ['audit_entry', 'resource_claim', 'service_token', 'service_token_credential']) {
    const rows = await services.database.pool.query(`SELECT t::text AS row FROM ${table} t`);
    const text = JSON.stringify(rows.rows);
    expect(text.includes(secret)).toBe(false);
    expect(text.includes(made.tokenId)).toBe(true);
  }
});
