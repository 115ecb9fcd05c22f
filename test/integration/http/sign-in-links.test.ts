import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { generateToken } from '../../../src/crypto/token.ts';
import { limits } from '../../../src/domain/limits.ts';
import { meUserView } from '../../../src/wire/me.ts';
import type { Problem } from '../../../src/wire/problem.ts';
import { sessionView } from '../../../src/wire/sessions.ts';
import { createdInvitationView, type CreatedInvitationView, linkView } from '../../../src/wire/sign-in-links.ts';
import { SignedInBrowser } from '../../support/api/browser-session.ts';
import { expectProblem, giveRole, type HttpClient, startTestApi, type TestApi } from '../../support/api/http.ts';
import { lookUp, redeem, secretOf, signInWith } from '../../support/api/link-browser.ts';
import { createUser, createWorld, enrol, type TestUser, type World } from '../../support/api/services.ts';

let api: TestApi;
let world: World;
let owner: HttpClient;
let admin: HttpClient;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
beforeEach(async () => {
  world = await createWorld(api.services);
  owner = api.client(world.owner.token);
  admin = api.client(world.admin.token);
});

const deadLink =
  'this link is unknown, was used, was replaced by a later one, or has expired; ask the person who sent it for another one';

function newAddress(): string {
  return `${randomUUID().slice(0, 8)}@new.example.test`;
}

interface Wanted {
  readonly email?: string;
  readonly role?: string;
  readonly project?: string;
  readonly environment?: string;
}

async function invite(by = admin, { email = newAddress(), role = 'developer', ...place }: Wanted = {}) {
  const path = `/organizations/${world.slugs.organization}/invitations`;
  return by.expectStatus<CreatedInvitationView>(201, 'POST', path, { email, role, ...place });
}

async function sql(text: string, ...values: unknown[]): Promise<Record<string, unknown>[]> {
  return (await api.services.database.pool.query<Record<string, unknown>>(text, values)).rows;
}

async function audited(action: string, email: string): Promise<Record<string, unknown>[]> {
  const text = `SELECT outcome, organization_id, actor_name, target FROM audit_entry
    WHERE action = $1 AND (target->>'email' = $2 OR actor_name = $2) ORDER BY id`;
  return sql(text, action, email);
}

async function userOf(email: string): Promise<Record<string, unknown>[]> {
  return sql('SELECT id, instance_admin FROM app_user WHERE email = $1', email);
}

/** Expects that a link is refused like one that never existed, both when it is looked up and when it is used. */
async function expectDead(link: string): Promise<void> {
  for (const answer of [await lookUp(api, link), await redeem(api, link)]) {
    expect(answer.status).toBe(401);
    expect((answer.body as Problem).detail).toBe(deadLink);
    expect(answer.headers.has('set-cookie')).toBe(false);
  }
}

describe('the link of an invited address', () => {
  test('makes a user who has accepted the invitation, and begins a recent session, once', async () => {
    const email = newAddress();
    const created = createdInvitationView.parse(await invite(admin, { email: email.toUpperCase() }));
    const { link, invitation } = created;
    expect(link).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${api.port}/link#kf_lnk_[0-9A-Za-z]{71}$`));
    expect(invitation).toMatchObject({ user: { id: null, email }, role: 'developer', expiresAt: created.expiresAt });
    const hours = (Date.parse(created.expiresAt) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(71.9);
    expect(hours).toBeLessThan(72.1);
    const listed = await admin.expectStatus(200, 'GET', `/organizations/${world.slugs.organization}/invitations`);
    expect(listed).toEqual({ invitations: [invitation], nextCursor: null });
    expect(await userOf(email)).toEqual([]);

    const found = linkView.parse((await lookUp(api, link)).body);
    const place = { organization: world.slugs.organization, project: null, environment: null, role: 'developer' };
    expect(found).toEqual({
      email,
      createdBy: { email: world.admin.email },
      expiresAt: created.expiresAt,
      invitation: place,
    });

    const answer = await redeem(api, link);
    expect(answer.status).toBe(201);
    expect(sessionView.parse(answer.body)).toMatchObject({ signedInWith: 'link', current: true });
    const cookie = answer.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(
      /^__Host-keyframe=kf_ses_[0-9A-Za-z]{71}; Max-Age=43200; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
    );
    const me = meUserView.parse(await new SignedInBrowser(api, cookie).expectStatus(200, 'GET', '/me'));
    expect(me).toMatchObject({ name: email, instanceAdmin: false, session: { recentSignIn: true } });
    expect(me.organizations).toMatchObject([{ slug: world.slugs.organization, role: 'developer' }]);
    await expectDead(link);
    expect(await admin.expectStatus(200, 'GET', `/organizations/${world.slugs.organization}/invitations`)).toEqual({
      invitations: [],
      nextCursor: null,
    });
  });

  test('is stored as a hash alone, and is in neither the log nor the audit', async () => {
    const { link } = await invite();
    const secret = secretOf(link).slice(29, 70);
    await signInWith(api, link);
    expect(JSON.stringify(api.logs)).not.toContain(secret);
    const rows = [
      ...(await sql('SELECT * FROM sign_in_link')),
      ...(await sql('SELECT * FROM invitation')),
      ...(await sql('SELECT * FROM audit_entry')),
      ...(await sql('SELECT * FROM session')),
    ];
    expect(JSON.stringify(rows)).not.toContain(secret);
  });

  test('gives a role in a project or an environment', async () => {
    const { organization, project, environment } = world.slugs;
    const inProject = await invite(owner, { project, role: 'viewer' });
    const browser = await signInWith(api, inProject.link);
    const me = meUserView.parse(await browser.expectStatus(200, 'GET', '/me'));
    expect(me.rolesByPlace).toMatchObject([{ organization, project, environment: null, role: 'viewer' }]);
    const inEnvironment = await invite(owner, { project, environment, role: 'admin' });
    const other = await signInWith(api, inEnvironment.link);
    await other.expectStatus(200, 'GET', `/environments/${organization}/${project}/${environment}`);
    expect(meUserView.parse(await other.expectStatus(200, 'GET', '/me')).rolesByPlace).toMatchObject([
      { organization, project, environment, role: 'admin' },
    ]);
  });

  test('is audited in the chains of the organization and of the instance, with the user who invited', async () => {
    const { link, invitation } = await invite();
    const { email } = invitation.user;
    await signInWith(api, link);
    const organizationId = world.organization.id;
    const by = { createdById: world.admin.id, createdByEmail: world.admin.email };
    expect(await audited('invitation.create', email)).toMatchObject([
      {
        outcome: 'success',
        organization_id: organizationId,
        target: { role: 'developer', invitationId: invitation.id },
      },
    ]);
    expect(await audited('invitation.accept', email)).toMatchObject([
      {
        outcome: 'success',
        organization_id: organizationId,
        actor_name: email,
        target: { ...by, signedInWith: 'link' },
      },
    ]);
    const ofInstance = { outcome: 'success', organization_id: null, actor_name: email };
    expect(await audited('user.create', email)).toMatchObject([
      { ...ofInstance, target: { invitationId: invitation.id, invitedById: world.admin.id } },
    ]);
    expect(await audited('session.create', email)).toMatchObject([{ ...ofInstance, target: by }]);
  });

  test('that was used, replaced, withdrawn or has expired is refused like one that never was, and audited', async () => {
    const used = await invite();
    await signInWith(api, used.link);
    const replaced = await invite();
    await invite(owner, { email: replaced.invitation.user.email });
    const withdrawn = await invite();
    const path = `/organizations/${world.slugs.organization}/invitations`;
    await admin.expectStatus(204, 'DELETE', `${path}/${withdrawn.invitation.id}`);
    const expired = await invite();
    await sql(`UPDATE sign_in_link SET expires_at = now() WHERE invitation_id = $1`, expired.invitation.id);
    const faults = { used, ended: replaced, expired };
    for (const { link } of [used, replaced, withdrawn, expired]) await expectDead(link);
    for (const [fault, { invitation }] of Object.entries(faults)) {
      const denied = (await audited('invitation.accept', invitation.user.email)).filter(
        ({ outcome }) => outcome === 'denied',
      );
      const entry = { organization_id: world.organization.id, actor_name: 'sign-in', target: { fault } };
      expect(denied).toMatchObject([entry, entry]);
    }
    expect(await userOf(expired.invitation.user.email)).toEqual([]);
    await sql(
      "UPDATE sign_in_link SET expires_at = now() + interval '1 hour' WHERE invitation_id = $1",
      expired.invitation.id,
    );
    await signInWith(api, expired.link);
  });

  test('that is unknown, cut or of another kind is refused and leaves no audit entry', async () => {
    const { link } = await invite();
    const [{ count: before = 0 } = {}] = await sql('SELECT count(*)::int AS count FROM audit_entry');
    const unknown = generateToken('sign_in_link', randomUUID()).token.reveal();
    const [{ id }] = (await sql('SELECT id FROM sign_in_link ORDER BY created_at DESC LIMIT 1')) as [{ id: string }];
    const guessed = generateToken('sign_in_link', id).token.reveal();
    for (const text of [unknown, guessed, link.slice(0, -1), world.owner.token.reveal(), 'kf_lnk_'])
      await expectDead(text);
    expect(await sql('SELECT count(*)::int AS count FROM audit_entry')).toEqual([{ count: before }]);
    await signInWith(api, link);
  });

  test('does not work as a token, and not as a cookie', async () => {
    const { link } = await invite();
    const token = { reveal: () => secretOf(link) };
    await expectProblem(api.client(token).send('GET', '/me'), 'unauthenticated');
    const browser = new SignedInBrowser(api, `__Host-keyframe=${secretOf(link)}`);
    expect((await browser.send('GET', '/me')).status).toBe(401);
    await signInWith(api, link);
  });

  test.each<[string, Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site', 'x-keyframe-csrf': '1' }],
    ['another host of the same site', { 'sec-fetch-site': 'same-site', 'x-keyframe-csrf': '1' }],
    ['an old browser on another site', { origin: 'https://evil.example', 'x-keyframe-csrf': '1' }],
    ['a form', { 'sec-fetch-site': 'same-origin' }],
    ['a client that says nothing of its site', { 'x-keyframe-csrf': '1' }],
  ])('is not used by %s', async (_name, headers) => {
    const { link } = await invite();
    const answer = await redeem(api, link, headers);
    expect(answer.status).toBe(401);
    expect(answer.headers.has('set-cookie')).toBe(false);
    await signInWith(api, link);
  });

  test('makes no user once the organization has taken in as many as it may in a day, and stays valid', async () => {
    const first = await invite();
    await signInWith(api, first.link);
    const copies = `INSERT INTO sign_in_link
        (id, token_hash, invitation_id, created_by, created_at, expires_at, used_at, delegators)
      SELECT gen_random_uuid(), token_hash, invitation_id, created_by, created_at, expires_at, used_at, delegators
      FROM sign_in_link, generate_series(2, $2::int) WHERE invitation_id = $1`;
    await sql(copies, first.invitation.id, limits.newUsersPerOrganizationAndDay);
    const second = await invite();
    const { detail } = await expectProblem(redeem(api, second.link), 'quota_exceeded');
    expect(detail).toBe(
      `the invitations of organization ${world.slugs.organization} have made 500 users in the last 24 hours, which is the limit; use this link tomorrow`,
    );
    expect(await userOf(second.invitation.user.email)).toEqual([]);
    const day = "UPDATE sign_in_link SET used_at = used_at - interval '1 day' WHERE invitation_id = $1";
    await sql(day, first.invitation.id);
    await signInWith(api, second.link);
  });

  test('gives nothing once the user who invited can no longer give the role', async () => {
    const { organization } = world.slugs;
    const ends: readonly [string, (inviter: TestUser) => Promise<unknown>][] = [
      [
        'demoted',
        async ({ id }) => owner.expectStatus(200, 'PUT', `/members/${organization}/${id}`, { role: 'viewer' }),
      ],
      ['removed', async ({ id }) => owner.expectStatus(204, 'DELETE', `/members/${organization}/${id}`)],
      ['disabled', async ({ id }) => owner.expectStatus(200, 'PATCH', `/users/${id}`, { disabled: true })],
    ];
    for (const [, end] of ends) {
      const inviter = await createUser(api.services);
      await enrol(api.services, world.owner, inviter, { organization, role: 'admin' });
      const { link, invitation } = await invite(api.client(inviter.token));
      await end(inviter);
      const { detail } = await expectProblem(redeem(api, link), 'conflict');
      expect(detail).toContain(`${inviter.email}, who invited you, may no longer give the role developer`);
      expect(await userOf(invitation.user.email)).toEqual([]);
      expect((await audited('invitation.accept', invitation.user.email)).at(-1)).toMatchObject({
        outcome: 'denied',
        target: { fault: 'conflict' },
      });
    }
  });

  test('gives nothing in a place that is deleted', async () => {
    const { organization, project } = world.slugs;
    const inProject = await invite(owner, { project });
    await owner.expectStatus(204, 'DELETE', `/projects/${organization}/${project}`);
    await expectDead(inProject.link);
    const inOrganization = await invite(owner);
    await owner.expectStatus(204, 'DELETE', `/organizations/${organization}`);
    await expectDead(inOrganization.link);
    expect(await userOf(inOrganization.invitation.user.email)).toEqual([]);
  });

  test('ends when its address becomes that of a user, for whom the invitation then waits', async () => {
    const { link, invitation } = await invite();
    const { email } = invitation.user;
    const { token } = await owner.expectStatus<{ token: string }>(201, 'POST', '/users', { email });
    await expectDead(link);
    const ann = api.client({ reveal: () => token });
    const own = await ann.expectStatus<{ invitations: { id: string; expiresAt: string }[] }>(
      200,
      'GET',
      '/invitations',
    );
    expect(own.invitations).toMatchObject([{ id: invitation.id, role: 'developer', user: { email } }]);
    const days = (Date.parse(own.invitations[0]?.expiresAt ?? '') - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29);
    await ann.expectStatus(200, 'POST', `/invitations/${invitation.id}/accept`);
  });

  test('does not sign in a user of its address, even if it was not ended', async () => {
    const { link, invitation } = await invite();
    const { email } = invitation.user;
    await sql('INSERT INTO app_user (id, email) VALUES (gen_random_uuid(), $1)', email);
    const { detail } = await expectProblem(redeem(api, link), 'conflict');
    expect(detail).toContain(`${email} is the e-mail address of a user by now`);
    expect(await sql('SELECT 1 FROM session s JOIN app_user u ON u.id = s.user_id WHERE u.email = $1', email)).toEqual(
      [],
    );
  });
});

describe('who may invite an address', () => {
  test('admins and owners of the organization, up to their own role', async () => {
    const { organization, project } = world.slugs;
    const path = `/organizations/${organization}/invitations`;
    const body = { email: newAddress(), role: 'viewer' };
    const projectAdmin = await createUser(api.services);
    const place = `/projects/${organization}/${project}/roles/${projectAdmin.id}`;
    await giveRole(owner, api.client(projectAdmin.token), place, 'admin');
    for (const { token } of [world.developer, world.viewer, projectAdmin]) {
      await expectProblem(api.client(token).send('POST', path, body), 'forbidden');
    }
    await expectProblem(api.client(projectAdmin.token).send('POST', path, { ...body, project }), 'forbidden');
    await expectProblem(api.client(world.stranger.token).send('POST', path, body), 'not_found');
    const { token: machine } = await world.serviceToken({ scope: 'organization', permission: 'read_write' });
    await expectProblem(api.client(machine).send('POST', path, body), 'forbidden');
    await expectProblem(admin.send('POST', path, { ...body, role: 'owner' }), 'forbidden');
    const { link } = await invite(owner, { role: 'owner' });
    await signInWith(api, link);
  });

  test('no caller an address that a user has, be it a disabled one', async () => {
    const path = `/organizations/${world.slugs.organization}/invitations`;
    const disabled = await createUser(api.services);
    await owner.expectStatus(200, 'PATCH', `/users/${disabled.id}`, { disabled: true });
    for (const { email } of [world.stranger, disabled, world.developer]) {
      const { detail } = await expectProblem(admin.send('POST', path, { email, role: 'viewer' }), 'conflict');
      expect(detail).toBe(
        `${email} is the e-mail address of a user already, who needs no link; invite the user with \`keyframe member set\` or \`keyframe role set\``,
      );
    }
    expect(await sql('SELECT 1 FROM sign_in_link WHERE created_by = $1', world.admin.id)).toEqual([]);
  });

  test('not in a place that does not exist, nor as an owner of a project', async () => {
    const path = `/organizations/${world.slugs.organization}/invitations`;
    const { project } = world.slugs;
    const body = { email: newAddress(), role: 'viewer' };
    await expectProblem(admin.send('POST', path, { ...body, project: 'absent' }), 'not_found');
    await expectProblem(admin.send('POST', path, { ...body, project, environment: 'absent' }), 'not_found');
    await expectProblem(admin.send('POST', path, { ...body, environment: 'prod' }), 'invalid_input');
    await expectProblem(owner.send('POST', path, { ...body, project, role: 'owner' }), 'invalid_input');
  });

  test('not in a session whose sign-in is too long ago', async () => {
    const browser = await SignedInBrowser.signIn(api, world.admin.token);
    await sql(`UPDATE session SET verified_at = now() - interval '6 minutes' WHERE id = $1`, await browser.id());
    const path = `/organizations/${world.slugs.organization}/invitations`;
    await expectProblem(browser.send('POST', path, { email: newAddress(), role: 'viewer' }), 'recent_sign_in_required');
    await expectProblem(
      owner.send('POST', path, { email: newAddress(), role: 'viewer' }, { 'idempotency-key': '"a"' }),
      'malformed_request',
    );
  });
});
