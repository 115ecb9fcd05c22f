import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { connectLocally } from '../../../src/compose/local-backend.ts';
import { Seen } from '../../../src/controller/frame/dependencies.ts';
import type { Outcome } from '../../../src/controller/frame/outcome.ts';
import type { SecretEnvironment } from '../../../src/controller/generated/secret-environment.ts';
import { EnvironmentReconciler } from '../../../src/controller/kinds/secret-environment/reconcile.ts';
import { meUserView } from '../../../src/wire/me.ts';
import type { CreatedInvitationView, CreatedLinkView } from '../../../src/wire/sign-in-links.ts';
import { expectProblem, type HttpClient } from '../../support/api/http.ts';
import { signInWith } from '../../support/api/link-browser.ts';
import { RoleCalls } from '../../support/api/role-calls.ts';
import { createUser, createWorld, type TestUser, type World } from '../../support/api/services.ts';
import { TestAuthenticator } from '../../support/passkeys/authenticator.ts';
import { passkeyOrigin, PasskeySite } from '../../support/passkeys/site.ts';

/** Roles that a user gets without accepting them, while the admin who took the user's address can sign in as the user. */

let site: PasskeySite;
let admin: TestUser;
let asAdmin: HttpClient;
/** The organization of the attacker, who is its admin. */
let theirs: World;
let asOwner: HttpClient;

beforeAll(async () => {
  site = await PasskeySite.start();
  admin = await createUser(site.first.services, { instanceAdmin: true });
  asAdmin = site.first.client(admin.token);
});
afterAll(() => site.close());
beforeEach(async () => {
  theirs = await createWorld(site.first.services);
  asOwner = site.first.client(theirs.owner.token);
});

interface Taken {
  readonly email: string;
  readonly id: string;
  readonly authenticator: TestAuthenticator;
}

/** Invites a free address, redeems its link and registers a passkey, as the admin of `theirs`. */
async function takeOver(email = `${randomUUID().slice(0, 8)}@victim.example.test`): Promise<Taken> {
  const path = `/organizations/${theirs.slugs.organization}/invitations`;
  const asTaker = site.first.client(theirs.admin.token);
  const { link } = await asTaker.expectStatus<CreatedInvitationView>(201, 'POST', path, { email, role: 'viewer' });
  const session = await signInWith(site.first, link);
  const { id } = meUserView.parse(await session.expectStatus(200, 'GET', '/me'));
  const authenticator = new TestAuthenticator(passkeyOrigin);
  expect((await site.register(session, authenticator)).status).toBe(201);
  return { email, id, authenticator };
}

/** Ends what the attacker set up: the owner of the address opens the link of an instance admin. */
async function giveBack({ id, authenticator }: Taken): Promise<void> {
  const { link } = await asAdmin.expectStatus<CreatedLinkView>(201, 'POST', `/users/${id}/sign-in-links`);
  await signInWith(site.first, link);
  expect((await site.signIn(authenticator)).status).toBe(401);
}

/** Expects that a change is refused and names the attacker, both ways to sign in, and what ends them. */
async function expectRefusal(change: ReturnType<HttpClient['send']>, { email }: Taken, what: string): Promise<void> {
  const { detail } = await expectProblem(change, 'conflict');
  expect(detail).toBe(refusalOf(email, what));
}

/** The same for a member, for whom an owner may vouch. */
async function expectNoRaise(change: ReturnType<HttpClient['send']>, { email }: Taken, role: string): Promise<void> {
  const { detail } = await expectProblem(change, 'conflict');
  const vouch = ', or an owner vouches for them (`keyframe member set --confirm-tokens`)';
  expect(detail).toBe(refusalOf(email, `the role ${role}`) + vouch);
}

/** The taker becomes a viewer of the organization. */
async function demoteTaker(): Promise<void> {
  await asOwner.expectStatus(200, 'PUT', `/members/${theirs.slugs.organization}/${theirs.admin.id}`, {
    role: 'viewer',
  });
}

function refusalOf(email: string, what: string): string {
  return (
    `${what} would also be for ${theirs.admin.email} (no instance admin), who can sign in as ${email} with ` +
    `a session, the passkey "Laptop"; these end when ${email} opens a sign-in link of an instance admin ` +
    `(\`keyframe user sign-in-link ${email}\`)`
  );
}

async function roleOf(organizationId: string, { id }: Taken): Promise<unknown> {
  const path = `SELECT role FROM membership WHERE organization_id = $1 AND user_id = $2`;
  const [row] = await site.sql(path, organizationId, id);
  return (row as { role: unknown } | undefined)?.role ?? null;
}

describe('a user as whom another user can sign in', () => {
  test('becomes no instance admin', async () => {
    const taken = await takeOver();
    const promote = { instanceAdmin: true };
    const path = `/users/${taken.id}`;
    await expectRefusal(asAdmin.send('PATCH', path, promote), taken, 'the right of an instance admin');
    await site.sessionOf(await site.signIn(taken.authenticator)).expectStatus(403, 'GET', '/users');
    await asAdmin.expectStatus(200, 'PATCH', path, { displayName: 'Ann', instanceAdmin: false });
    await giveBack(taken);
    await asAdmin.expectStatus(200, 'PATCH', path, promote);
  });

  test('is not appointed the owner of an organization that has none', async () => {
    const other = await createWorld(site.first.services);
    const org = `/organizations/${other.slugs.organization}`;
    const asFormer = site.first.client(other.owner.token);
    await asFormer.expectStatus(200, 'PUT', `${org}/impersonation`, { forbidden: true });
    const taken = await takeOver();
    await asAdmin.expectStatus(200, 'PATCH', `/users/${other.owner.id}`, { disabled: true, force: true });
    const appoint = { user: taken.email };
    await expectRefusal(asAdmin.send('PUT', `${org}/owner`, appoint), taken, 'the role owner');
    expect(await roleOf(other.organization.id, taken)).toBeNull();
    await giveBack(taken);
    await asAdmin.expectStatus(201, 'PUT', `${org}/owner`, appoint);
  });

  test('gets no higher role as a member, but a lower one', async () => {
    const taken = await takeOver();
    const path = `/members/${theirs.slugs.organization}/${taken.id}`;
    await expectNoRaise(asOwner.send('PUT', path, { role: 'owner' }), taken, 'owner');
    // What the admin of the organization has anyway is no gain.
    await asOwner.expectStatus(200, 'PUT', path, { role: 'developer' });
    await asOwner.expectStatus(200, 'PUT', path, { role: 'viewer' });
    await demoteTaker();
    for (const role of ['owner', 'developer']) {
      await expectNoRaise(asOwner.send('PUT', path, { role }), taken, role);
    }
    await site.sql(`UPDATE membership SET role = 'admin' WHERE user_id = $1`, taken.id);
    await asOwner.expectStatus(200, 'PUT', path, { role: 'developer' });
    await expectNoRaise(asOwner.send('PUT', path, { role: 'admin' }), taken, 'admin');
    await giveBack(taken);
    await asOwner.expectStatus(200, 'PUT', path, { role: 'owner' });
    expect(await roleOf(theirs.organization.id, taken)).toBe('owner');
  });

  test('gets a higher role if an owner vouches for what the member has until now', async () => {
    const taken = await takeOver();
    await demoteTaker();
    const path = `/members/${theirs.slugs.organization}/${taken.id}`;
    const inProject = `/projects/${theirs.slugs.organization}/${theirs.slugs.project}/roles/${taken.id}`;
    await expectNoRaise(asOwner.send('PUT', inProject, { role: 'developer' }), taken, 'developer');
    await asOwner.expectStatus(200, 'PUT', path, { role: 'developer', confirmTokens: true });
    // Members sign in again with what the owner vouched for.
    const session = site.sessionOf(await site.signIn(taken.authenticator));
    await asOwner.expectStatus(201, 'PUT', inProject, { role: 'admin' });
    // No owner has vouched for what is set up later.
    expect((await site.register(session, new TestAuthenticator(passkeyOrigin))).status).toBe(201);
    await expectProblem(asOwner.send('PUT', path, { role: 'admin' }), 'conflict');
  });

  test.each(['projects', 'environments'])('gets no higher role in %s, but a lower one', async (level) => {
    const { organization, project, environment } = theirs.slugs;
    const taken = await takeOver();
    const place = [organization, project, ...(level === 'environments' ? [environment] : [])].join('/');
    const path = `/${level}/${place}/roles/${taken.id}`;
    const set = (role: string): ReturnType<HttpClient['send']> => asOwner.send('PUT', path, { role });
    await demoteTaker();
    await expectNoRaise(set('admin'), taken, 'admin');
    await giveBack(taken);
    expect((await set('admin')).status).toBe(201);
    await site.sql(
      `INSERT INTO identity (id, user_id, issuer, subject, created_by_type, created_by_id, created_by_name, delegators)
        VALUES ($1, $2, 'https://id.example.com', $1::uuid::text, 'user', $3, $4, ARRAY[$3::uuid])`,
      randomUUID(),
      taken.id,
      theirs.admin.id,
      theirs.admin.email,
    );
    expect((await set('viewer')).status).toBe(200);
    await expectProblem(set('developer'), 'conflict');
  });
});

describe('an admin through a group', () => {
  test('becomes no lasting member with an account of an address that they invited', async () => {
    const roles = new RoleCalls(site.first.services, theirs);
    const taker = await roles.member('organization', 'admin');
    const { organization, project, environment } = theirs.slugs;
    const email = `${randomUUID().slice(0, 8)}@puppet.example.test`;
    const invited = site.first.client(taker.token);
    const path = `/organizations/${organization}/invitations`;
    const { link } = await invited.expectStatus<CreatedInvitationView>(201, 'POST', path, { email, role: 'admin' });
    const session = await signInWith(site.first, link);
    const { token } = await session.expectStatus<{ token: string }>(201, 'POST', '/personal-tokens', { name: 'x' });
    const authenticator = new TestAuthenticator(passkeyOrigin);
    expect((await site.register(session, authenticator)).status).toBe(201);
    const puppets = [session, site.first.client({ reveal: () => token })];
    const later = site.sessionOf(await site.signIn(authenticator));
    const gifts = [
      [`/members/${organization}/${taker.id}`, 'admin'],
      [`/members/${organization}/${taker.id}`, 'viewer'],
      [`/projects/${organization}/${project}/roles/${taker.id}`, 'viewer'],
      [`/environments/${organization}/${project}/${environment}/roles/${taker.id}`, 'viewer'],
      [`/projects/${organization}/${project}/roles/group:${taker.group}`, 'viewer'],
    ] as const;
    for (const puppet of [...puppets, later]) {
      for (const [gift, role] of gifts) {
        const { detail } = await expectProblem(puppet.send('PUT', gift, { role }), 'forbidden');
        expect(detail).toContain(`goes back to ${taker.email}`);
      }
    }
    // A lower role of the group, another user, and the same gifts of another admin.
    await session.expectStatus(200, 'PUT', `/organizations/${organization}/roles/group:${taker.group}`, {
      role: 'viewer',
    });
    await session.expectStatus(202, 'PUT', `/members/${organization}/${theirs.stranger.id}`, { role: 'viewer' });
    for (const [gift, role] of gifts) {
      const { status } = await site.first.client(theirs.admin.token).send('PUT', gift, { role });
      expect([gift, [200, 201, 202].includes(status)]).toEqual([gift, true]);
    }
  });

  test('gets a role from a user whose first token they created as an instance admin', async () => {
    const made = await asAdmin.expectStatus<{ token: string }>(
      201,
      'POST',
      `/users/${theirs.owner.id}/personal-tokens`,
      {
        name: 'x',
      },
    );
    const owner = site.first.client({ reveal: () => made.token });
    await owner.expectStatus(202, 'PUT', `/members/${theirs.slugs.organization}/${admin.id}`, { role: 'viewer' });
  });
});

test('spec.owners of a SecretEnvironment appoints none of its users as long as another user can sign in as one', async () => {
  const { services } = site.first;
  const organization = `org-${randomUUID().slice(0, 8)}`;
  const email = `${randomUUID().slice(0, 8)}@cto.example.test`;
  const second = await createUser(services);
  const reconciler = new EnvironmentReconciler({
    backend: connectLocally(services)(() => 'test'),
    grants: { rulesFor: () => [], ownGrantOf: () => undefined },
    at: () => [],
    enqueue: () => undefined,
  });
  const resource = {
    apiVersion: 'keyframe.dev/v1alpha1' as const,
    kind: 'SecretEnvironment' as const,
    metadata: { name: organization, uid: randomUUID(), resourceVersion: '1' },
    spec: {
      environmentRef: { organization, project: 'web', name: 'prod' },
      owners: [second.email, email],
      deletionPolicy: 'Retain' as const,
      suspend: false,
    },
  };
  const reconcile = async (): Promise<Outcome<SecretEnvironment>> => {
    const context = { key: `/${organization}`, resource, requestId: randomUUID(), seen: new Seen(), isForced: false };
    return reconciler.reconcile(context);
  };
  const owners = (): Promise<object[]> =>
    site.sql(
      `SELECT u.email FROM membership m JOIN organization o ON o.id = m.organization_id JOIN app_user u ON u.id = m.user_id
        WHERE o.slug = $1 ORDER BY 1`,
      organization,
    );
  expect(await reconcile()).toMatchObject({ claim: { reason: 'NotFound' } });
  const taken = await takeOver(email);
  const detail = refusalOf(email, 'The role owner');
  expect(await reconcile()).toMatchObject({
    claim: { progress: 'reconciling', reason: 'Conflict', message: `${detail}.` },
    fields: { environmentId: expect.any(String) },
    next: { kind: 'retry' },
  });
  expect(await owners()).toEqual([]);
  await giveBack(taken);
  expect(await reconcile()).toMatchObject({ claim: { reason: 'Available' } });
  expect(await owners()).toEqual([second.email, email].toSorted().map((owner) => ({ email: owner })));
});
