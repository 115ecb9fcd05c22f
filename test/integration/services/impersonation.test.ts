import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Caller } from '../../../src/domain/principal.ts';
import type { AuditEntryRecord } from '../../../src/services/audit-entries/audit-entries.ts';
import type { CreatedPersonalToken } from '../../../src/services/tokens/personal-tokens.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import {
  accept,
  authenticated,
  createUser,
  createWorld,
  enrol,
  type TestServices,
  type TestUser,
  type World,
} from '../../support/api/services.ts';
import { userCalls } from '../../support/api/user-calls.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { withWorlds } from '../../support/api/with-services.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;
/** An instance admin without a role in the organization. */
let root: TestUser;

withWorlds((given) => ({ database, services, world } = given));

beforeEach(async () => {
  root = await createUser(services, { instanceAdmin: true });
});

/** A token that the instance admin creates for a user. */
async function givenToken(user: TestUser, by: Caller = root.caller): Promise<{ id: string; caller: Caller }> {
  return presented(await userCalls(services, by).createToken(user.id, { name: 'given' }));
}

/** A token that a user creates with a token. */
async function ownToken(caller: Caller, name = 'own'): Promise<{ id: string; caller: Caller }> {
  const access = await services.access.person(caller, 'personal_token.create');
  return presented(await services.personalTokens.create(access, { name }));
}

async function presented({ record, token }: CreatedPersonalToken): Promise<{ id: string; caller: Caller }> {
  return { id: record.id, caller: await authenticated(services, token) };
}

async function forbid(forbidden = true, by: Caller = world.owner.caller): Promise<void> {
  const access = await world.onOrganization(by, 'organization.set_impersonation');
  await services.organizations.setImpersonation(access, forbidden);
}

async function audited(filter: { action?: string } = {}, of = world): Promise<readonly AuditEntryRecord[]> {
  const access = await of.onOrganization(of.owner.caller, 'audit.list');
  return (await services.auditEntries.list(access, filter)).entries;
}

async function write(caller: Caller): Promise<unknown> {
  return secretCalls(services, world, caller).put('KEY', 'value');
}

/** Creates the member's membership in another world as well. */
async function enrolIn(other: World, user: TestUser): Promise<void> {
  await enrol(services, other.owner, user, { organization: other.slugs.organization, role: 'viewer' });
}

async function setMember(
  user: { readonly id: string },
  confirmTokens: boolean,
  by: TestUser = world.owner,
): Promise<object> {
  const access = await world.onOrganization(by.caller, 'member.set');
  return services.members.set(access, { id: user.id }, { role: 'developer', confirmTokens });
}

const createdByRoot = (derived: boolean): object => ({ type: 'user', id: root.id, name: root.email, derived });

describe('an entry of the audit names the credential', () => {
  test('and who else created it', async () => {
    const { id, caller } = await givenToken(world.developer);
    await write(caller);
    const [entry] = await audited({ action: 'secret.write' });
    expect(entry).toMatchObject({
      actor: { id: world.developer.id },
      credential: { id, createdBy: createdByRoot(false) },
    });
  });

  test('of a service token, and of a token of the user’s own without a creator', async () => {
    const token = await world.serviceToken();
    await secretCalls(services, world, token.caller).read();
    await write(world.developer.caller);
    const entries = await audited({ action: 'secret.' });
    const { credentialId } = world.developer.caller.principal;
    expect(entries).toMatchObject([
      { actor: { type: 'user' }, credential: { id: credentialId, createdBy: null } },
      { actor: { id: token.id }, credential: { id: token.caller.principal.credentialId, createdBy: null } },
    ]);
    expect(token.caller.principal.credentialId).not.toBe(token.id);
  });

  test('through every token that was created with such a token', async () => {
    const given = await givenToken(world.developer);
    const child = await ownToken(given.caller);
    const grandchild = await ownToken(child.caller);
    await write(grandchild.caller);
    const [entry] = await audited({ action: 'secret.write' });
    expect(entry?.credential).toEqual({ id: grandchild.id, createdBy: createdByRoot(true) });
  });

  test('also where the action is refused', async () => {
    const { id, caller } = await givenToken(world.viewer);
    await expect(write(caller)).rejects.toMatchObject({ code: 'forbidden' });
    const [entry] = await audited({ action: 'secret.write' });
    expect(entry).toMatchObject({ outcome: 'denied', credential: { id, createdBy: createdByRoot(false) } });
  });
});

describe('a token that an instance admin creates for a user is in the audit of each organization of the user', () => {
  test('when it is created and when it is revoked, and nowhere else', async () => {
    const [second, foreign] = [await createWorld(services), await createWorld(services)];
    await enrolIn(second, world.developer);
    const { id, caller } = await givenToken(world.developer);
    const access = await services.access.person(caller, 'personal_token.revoke');
    await services.personalTokens.revoke(access, id);
    for (const place of [world, second]) {
      expect(await audited({ action: 'personal_token.' }, place)).toMatchObject([
        { action: 'personal_token.revoke', actor: { id: world.developer.id }, target: { personalTokenId: id } },
        {
          action: 'personal_token.create',
          actor: { id: root.id },
          target: { personalTokenId: id, userId: world.developer.id, name: 'given' },
        },
      ]);
    }
    expect(await audited({ action: 'personal_token.' }, foreign)).toEqual([]);
  });

  test('when all tokens of the user are revoked by the admin', async () => {
    await userCalls(services, root.caller).endTokens(world.developer.id);
    expect(await audited({ action: 'personal_token.' })).toMatchObject([
      { action: 'personal_token.revoke', actor: { id: root.id }, target: { userId: world.developer.id, revoked: 1 } },
    ]);
  });

  test('and so is each token that is created with it; a token of the user’s own is not', async () => {
    await ownToken(world.developer.caller, 'quiet');
    const given = await givenToken(world.developer);
    const child = await ownToken(given.caller, 'child');
    expect(await audited({ action: 'personal_token.' })).toMatchObject([
      {
        actor: { id: world.developer.id },
        target: { personalTokenId: child.id, name: 'child' },
        credential: { id: given.id, createdBy: createdByRoot(false) },
      },
      { target: { personalTokenId: given.id } },
    ]);
  });

  test('and the user sees the creator', async () => {
    const given = await givenToken(world.developer);
    const access = await services.access.person(world.developer.caller, 'personal_token.list');
    const { personalTokens } = await services.personalTokens.list(access);
    const creators = new Map(personalTokens.map(({ id, creator }) => [id, creator?.actor?.name ?? null]));
    expect(creators.get(given.id)).toBe(root.email);
    expect([...creators.values()].filter((name) => name !== null)).toEqual([root.email]);
  });
});

describe('an organization that forbids impersonation', () => {
  test('refuses a token that another person created, says so, and audits it', async () => {
    const { id, caller } = await givenToken(world.developer);
    const snapshotAccess = await world.onEnvironment(world.developer.caller, 'snapshot.create');
    const snapshot = await services.snapshots.create(snapshotAccess);
    await write(caller);
    await forbid();
    const refusals = [
      write(caller),
      world.onOrganization(caller, 'organization.read'),
      world.onProject(caller, 'project.read'),
      services.access.snapshot(caller, 'snapshot.read', snapshot.id),
    ];
    const message = expect.stringMatching(new RegExp(`^${root.email} created this token.*keyframe token create`));
    for (const refusal of await Promise.allSettled(refusals)) {
      expect(refusal).toMatchObject({ status: 'rejected', reason: { code: 'forbidden', message } });
    }
    const [entry] = await audited({ action: 'snapshot.read' });
    expect(entry).toMatchObject({ outcome: 'denied', credential: { id, createdBy: createdByRoot(false) } });
    await write(world.developer.caller);
  });

  test('keeps its name from those who are no members', async () => {
    await forbid();
    const { caller } = await givenToken(world.stranger);
    await expect(write(caller)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('leaves the token working elsewhere, and in it again when impersonation is allowed', async () => {
    const second = await createWorld(services);
    await enrolIn(second, world.developer);
    const { caller } = await givenToken(world.developer);
    await forbid();
    await second.onOrganization(caller, 'organization.read');
    await expect(write(caller)).rejects.toMatchObject({ code: 'forbidden' });
    await forbid(false);
    await write(caller);
    expect(await audited({ action: 'organization.set_impersonation' })).toMatchObject([
      { target: { impersonationForbidden: false }, actor: { id: world.owner.id } },
      { target: { impersonationForbidden: true }, actor: { id: world.owner.id } },
    ]);
  });

  test('refuses tokens that are created with such a token, and accepts those of before', async () => {
    const given = await givenToken(world.developer);
    const before = await ownToken(given.caller, 'before');
    await forbid();
    const after = await ownToken(given.caller, 'after');
    const offspring = await ownToken(before.caller, 'offspring');
    await write(before.caller);
    await write(offspring.caller);
    for (const { caller } of [after, await ownToken(after.caller)]) {
      await expect(write(caller)).rejects.toMatchObject({
        code: 'forbidden',
        message: expect.stringMatching(`${root.email}.*--confirm-tokens`),
      });
    }
  });

  test('accepts what a member created once an owner confirms it, and nothing that comes later', async () => {
    await forbid();
    const given = await givenToken(world.developer);
    const own = await ownToken(given.caller);
    await setMember(world.developer, false);
    await expect(write(own.caller)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(setMember(world.developer, true, world.admin)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(write(own.caller)).rejects.toMatchObject({ code: 'forbidden' });
    await setMember(world.developer, true);
    await write(own.caller);
    const late = await ownToken(given.caller);
    for (const { caller } of [given, late]) {
      await expect(write(caller)).rejects.toMatchObject({ code: 'forbidden' });
    }
    const [entry] = await audited({ action: 'member.set' });
    expect(entry?.target).toMatchObject({ userId: world.developer.id, confirmTokens: true });
  });

  test('accepts what a new member created before', async () => {
    await forbid();
    const created = await userCalls(services, root.caller).create({ email: `${root.id}@new.example.test` });
    const first = await authenticated(services, created.token);
    const own = await ownToken(first);
    const invited = await setMember(created.user, false);
    const late = await ownToken(first);
    for (const caller of [first, late.caller]) {
      await expect(accept(services, { caller }, invited)).rejects.toMatchObject({ code: 'forbidden' });
    }
    await accept(services, own, invited);
    await write(own.caller);
    for (const caller of [first, late.caller]) await expect(write(caller)).rejects.toMatchObject({ code: 'forbidden' });
  });

  test('accepts a token that the server itself created, and refuses one whose creator is unknown', async () => {
    await forbid();
    const prisma = prismaOf(services.database);
    const { id: userId, token, caller } = world.developer;
    const again = (): Promise<Caller> => authenticated(services, token);
    const creator = { createdByType: 'system', createdById: root.id, createdByName: 'keyframe' } as const;
    await prisma.personalToken.updateMany({ where: { userId }, data: creator });
    await write(await again());
    expect((await audited({ action: 'secret.write' }))[0]?.credential?.createdBy).toMatchObject({ type: 'system' });
    const unknown = { createdByType: null, createdById: null, createdByName: null };
    await prisma.personalToken.updateMany({ where: { userId: caller.principal.id }, data: unknown });
    await expect(write(await again())).rejects.toMatchObject({ code: 'forbidden' });
  });
});

describe('forbidding impersonation', () => {
  test.each(['admin', 'developer', 'viewer'] as const)('is not for a member with the role %s', async (role) => {
    await expect(forbid(true, world[role].caller)).rejects.toMatchObject({ code: 'forbidden' });
  });

  test('and allowing it is not for an instance admin who is no owner, also not with an owner’s token', async () => {
    await expect(forbid(true, root.caller)).rejects.toMatchObject({ code: 'not_found' });
    await forbid();
    const { caller } = await givenToken(world.owner);
    const derived = await ownToken(caller);
    for (const by of [root.caller, caller, derived.caller]) await expect(forbid(false, by)).rejects.toBeDefined();
    const organization = await services.organizations.get(
      await world.onOrganization(world.owner.caller, 'organization.read'),
    );
    expect(organization.impersonationForbidden).toBe(true);
  });

  test('does not lock out an owner whose own token would be refused', async () => {
    const { caller } = await givenToken(world.owner);
    await expect(forbid(true, caller)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('keyframe token create'),
    });
    const own = await ownToken(caller);
    await forbid(true, own.caller);
    await world.onOrganization(own.caller, 'organization.read');
  });

  test('again changes nothing: it confirms no user', async () => {
    await forbid();
    const { caller } = await ownToken((await givenToken(world.developer)).caller);
    await forbid();
    await expect(write(caller)).rejects.toMatchObject({ code: 'forbidden' });
  });

  test('holds for a change that is under way', async () => {
    const { caller } = await givenToken(world.developer);
    const session = await LockSession.begin(database.url);
    await session.run('SELECT FROM environment WHERE id = $1 FOR UPDATE', [world.environment.id]);
    const late = Promise.allSettled([write(caller)]);
    await session.waitForBlocked(1);
    await forbid();
    await session.commit();
    expect(await late).toMatchObject([{ status: 'rejected', reason: { code: 'forbidden' } }]);
  });

  test('ends a stream that is open with such a token', async () => {
    services.feed.start();
    await waitFor('the feed to hear', () => services.feed.ready);
    const { caller } = await givenToken(world.developer);
    const stream = await services.changeStreams.start(await world.onEnvironment(caller, 'change.list'), undefined);
    const abort = new AbortController();
    const events = stream(abort.signal)[Symbol.asyncIterator]();
    expect(await events.next()).toMatchObject({ value: { kind: 'ready' } });
    const end = events.next();
    await forbid();
    expect(await end).toEqual({ done: true, value: undefined });
  });
});

describe('an owner who lost every token', () => {
  const appoint = async (): Promise<unknown> => {
    const access = await services.access.instance(root.caller, 'organization.appoint_owner');
    return services.members.appointOwner(access, world.slugs, { id: world.owner.id });
  };

  test('gets in again when the instance admin appoints the owner again, which the organization sees', async () => {
    await forbid();
    await userCalls(services, root.caller).endTokens(world.owner.id);
    const own = await ownToken((await givenToken(world.owner)).caller);
    await expect(world.onOrganization(own.caller, 'audit.list')).rejects.toMatchObject({ code: 'forbidden' });
    await appoint();
    const access = await world.onOrganization(own.caller, 'audit.list');
    const { entries } = await services.auditEntries.list(access, { limit: 5 });
    expect(entries).toMatchObject([
      { action: 'organization.appoint_owner', target: { confirmTokens: true }, actor: { id: root.id } },
      { action: 'audit.list', outcome: 'denied' },
      { action: 'personal_token.create', actor: { id: world.owner.id } },
      { action: 'personal_token.create', actor: { id: root.id } },
      { action: 'personal_token.revoke', actor: { id: root.id } },
    ]);
  });

  test('is the only one: appointing an owner whose own token works confirms nothing', async () => {
    await forbid();
    const own = await ownToken((await givenToken(world.owner)).caller);
    await appoint();
    await expect(world.onOrganization(own.caller, 'audit.list')).rejects.toMatchObject({ code: 'forbidden' });
  });
});
