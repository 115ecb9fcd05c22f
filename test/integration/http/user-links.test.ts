import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { generateToken } from '../../../src/crypto/token.ts';
import { meUserView } from '../../../src/wire/me.ts';
import { type CreatedInvitationView, type CreatedLinkView, linkView } from '../../../src/wire/sign-in-links.ts';
import { SignedInBrowser } from '../../support/api/browser-session.ts';
import { expectProblem, type HttpAnswer, type HttpClient, startTestApi, type TestApi } from '../../support/api/http.ts';
import { lookUp, redeem, signInWith } from '../../support/api/link-browser.ts';
import { createUser, createWorld, newRootKey, type TestUser, type World } from '../../support/api/services.ts';

/** Two replicas on one database. */
let api: TestApi;
let replica: TestApi;
let world: World;
let admin: TestUser;
let asAdmin: HttpClient;

beforeAll(async () => {
  const rootKeys = newRootKey();
  api = await startTestApi({}, { rootKeys });
  replica = await startTestApi({}, { rootKeys, database: { ...api.database, drop: () => Promise.resolve() } });
  world = await createWorld(api.services);
  admin = await createUser(api.services, { instanceAdmin: true });
  asAdmin = api.client(admin.token);
});
afterAll(async () => {
  await replica.close();
  await api.close();
});

async function linkFor({ id }: { readonly id: string }, by = asAdmin): Promise<string> {
  return (await by.expectStatus<CreatedLinkView>(201, 'POST', `/users/${id}/sign-in-links`)).link;
}

async function expectDead(link: string): Promise<void> {
  await expectProblem(lookUp(api, link), 'unauthenticated');
  await expectProblem(redeem(replica, link), 'unauthenticated');
}

async function sql(text: string, ...values: unknown[]): Promise<Record<string, unknown>[]> {
  return (await api.services.database.pool.query<Record<string, unknown>>(text, values)).rows;
}

async function lastDenial(email: string): Promise<Record<string, unknown> | undefined> {
  const text = `SELECT target->>'fault' AS fault, organization_id FROM audit_entry
    WHERE action = 'session.create' AND outcome = 'denied' AND target->>'email' = $1 ORDER BY id DESC LIMIT 1`;
  return (await sql(text, email))[0];
}

describe('the link of a user', () => {
  test('begins a session of this user once, on any replica', async () => {
    const user = await createUser(api.services);
    const link = await linkFor(user);
    const found = linkView.parse((await lookUp(replica, link)).body);
    expect(found).toMatchObject({ email: user.email, createdBy: { email: admin.email }, invitation: null });
    const browser = await signInWith(replica, link);
    const me = meUserView.parse(await browser.expectStatus(200, 'GET', '/me'));
    expect(me).toMatchObject({ id: user.id, session: { recentSignIn: true } });
    await expectDead(link);
    expect(await lastDenial(user.email)).toEqual({ fault: 'used', organization_id: null });
  });

  test('ends with a later one, which works', async () => {
    const user = await createUser(api.services);
    const former = await linkFor(user);
    const later = await linkFor(user);
    await expectDead(former);
    expect(await lastDenial(user.email)).toMatchObject({ fault: 'ended' });
    await signInWith(api, later);
  });

  test('has expired after 72 hours, by the clock of the database', async () => {
    const user = await createUser(api.services);
    const link = await linkFor(user);
    await sql(`UPDATE sign_in_link SET expires_at = expires_at - interval '72 hours' WHERE user_id = $1`, user.id);
    await expectDead(link);
    expect(await lastDenial(user.email)).toMatchObject({ fault: 'expired' });
  });

  test('ends when the user is disabled, and stays ended when the user is enabled again', async () => {
    const user = await createUser(api.services);
    const link = await linkFor(user);
    await asAdmin.expectStatus(200, 'PATCH', `/users/${user.id}`, { disabled: true });
    await expectProblem(asAdmin.send('POST', `/users/${user.id}/sign-in-links`), 'conflict');
    await expectDead(link);
    await asAdmin.expectStatus(200, 'PATCH', `/users/${user.id}`, { disabled: false });
    await expectDead(link);
  });

  test('does not work for a disabled user, even if it was not ended', async () => {
    const user = await createUser(api.services);
    const link = await linkFor(user);
    await sql('UPDATE app_user SET disabled_at = now() WHERE id = $1', user.id);
    await expectProblem(redeem(api, link), 'unauthenticated');
    expect(await lastDenial(user.email)).toMatchObject({ fault: 'user_disabled' });
    await sql('UPDATE app_user SET disabled_at = NULL WHERE id = $1', user.id);
    await signInWith(api, link);
  });

  test('ends with the sessions of the user', async () => {
    const user = await createUser(api.services);
    const first = await linkFor(user);
    await asAdmin.expectStatus(204, 'DELETE', `/users/${user.id}/sessions`);
    await expectDead(first);
    const second = await linkFor(user);
    await api.client(user.token).expectStatus(204, 'DELETE', '/sessions');
    await expectDead(second);
  });

  test.each(['instance_admin = false', 'disabled_at = now()'])(
    'does not work once its creator has %s',
    async (change) => {
      const creator = await createUser(api.services, { instanceAdmin: true });
      const user = await createUser(api.services);
      const link = await linkFor(user, api.client(creator.token));
      await sql(`UPDATE app_user SET ${change} WHERE id = $1`, creator.id);
      await expectProblem(redeem(api, link), 'unauthenticated');
      expect(await lastDenial(user.email)).toMatchObject({ fault: 'creator_not_admin' });
    },
  );

  test('is created by other instance admins alone, within 5 minutes of a sign-in', async () => {
    const path = `/users/${world.viewer.id}/sign-in-links`;
    for (const { token } of [world.admin, world.viewer, world.stranger]) {
      await expectProblem(api.client(token).send('POST', path), 'forbidden');
    }
    await expectProblem(asAdmin.send('POST', `/users/${admin.id}/sign-in-links`), 'conflict');
    await expectProblem(asAdmin.send('POST', `/users/${world.organization.id}/sign-in-links`), 'not_found');
    const browser = await SignedInBrowser.signIn(api, admin.token);
    await sql(`UPDATE session SET verified_at = now() - interval '6 minutes' WHERE id = $1`, await browser.id());
    await expectProblem(browser.send('POST', path), 'recent_sign_in_required');
  });

  test('is audited in the chains of the instance and of the organizations of its user', async () => {
    await linkFor(world.viewer);
    const text = `SELECT organization_id, actor_id FROM audit_entry
      WHERE action = 'sign_in_link.create' AND target->>'userId' = $1 ORDER BY organization_id NULLS FIRST`;
    expect(await sql(text, world.viewer.id)).toEqual([
      { organization_id: null, actor_id: admin.id },
      { organization_id: world.organization.id, actor_id: admin.id },
    ]);
  });

  test('ends the session of the same user that the browser had', async () => {
    const user = await createUser(api.services);
    const former = await SignedInBrowser.signIn(api, user.token);
    const headers = { ...former.headers, cookie: former.cookie };
    expect((await redeem(api, await linkFor(user), headers)).status).toBe(201);
    await expectProblem(former.send('GET', '/me'), 'unauthenticated');
  });
});

test('a link begins with the public address of the server, if it is configured', async () => {
  const publicUrl = 'https://keyframe.example.com';
  const rootKeys = newRootKey();
  const configured = await startTestApi({}, { rootKeys, publicUrl });
  try {
    const root = await createUser(configured.services, { instanceAdmin: true });
    const user = await createUser(configured.services);
    const link = await linkFor(user, configured.client(root.token));
    expect(link.startsWith(`${publicUrl}/link#kf_lnk_`)).toBe(true);
    const found = await configured.client().expectStatus(200, 'POST', '/sign-in-links/lookup', { link });
    expect(found).toMatchObject({ email: user.email });
  } finally {
    await configured.close();
  }
});

test('guessed links count for their address, which is then refused', async () => {
  const rateLimits = { requests: 0, failedAuthentications: 3, trafficBytes: 0 };
  const limited = await startTestApi({ rateLimits }, { rootKeys: newRootKey() });
  try {
    const guess = (): Promise<HttpAnswer> =>
      lookUp(limited, generateToken('sign_in_link', randomUUID()).token.reveal());
    for (let index = 0; index < 3; index += 1) await expectProblem(guess(), 'unauthenticated');
    await expectProblem(guess(), 'limit_exceeded');
  } finally {
    await limited.close();
  }
});

test('a link begins no session while sign-in is closed, and is not spent', async () => {
  const user = await createUser(api.services);
  const link = await linkFor(user);
  await asAdmin.expectStatus(200, 'PUT', '/sign-in', { open: false });
  try {
    await expectProblem(redeem(api, link), 'forbidden');
    expect(await lastDenial(user.email)).toMatchObject({ fault: 'sign_in_closed' });
  } finally {
    await asAdmin.expectStatus(200, 'PUT', '/sign-in', { open: true });
  }
  await signInWith(api, link);
});

describe('a session of a link', () => {
  test('counts as a token of the creator of the link: organizations may forbid it', async () => {
    const { organization } = world.slugs;
    const browser = await signInWith(api, await linkFor(world.developer));
    await browser.expectStatus(200, 'GET', `/organizations/${organization}`);
    const owner = api.client(world.owner.token);
    await owner.expectStatus(200, 'PUT', `/organizations/${organization}/impersonation`, { forbidden: true });
    try {
      const { detail } = await expectProblem(browser.send('GET', `/organizations/${organization}`), 'forbidden');
      expect(detail).toContain(`${admin.email} created this token`);
    } finally {
      await owner.expectStatus(200, 'PUT', `/organizations/${organization}/impersonation`, { forbidden: false });
    }
  });

  test('accepts invitations of other organizations only if an instance admin created the link', async () => {
    const { organization } = world.slugs;
    const email = 'ann@links.example.test';
    const other = await createWorld(api.services);
    const body = { email, role: 'viewer' };
    const path = `/organizations/${other.slugs.organization}/invitations`;
    const byAdmin = api.client(other.admin.token);
    const { link } = await byAdmin.expectStatus<CreatedInvitationView>(201, 'POST', path, body);
    const ann = await signInWith(api, link);
    const owner = api.client(world.owner.token);
    const { id } = await owner.expectStatus<{ id: string }>(202, 'PUT', `/members/${organization}/${email}`, {
      role: 'admin',
    });
    const { detail } = await expectProblem(ann.send('POST', `/invitations/${id}/accept`), 'forbidden');
    expect(detail).toContain(`this token goes back to ${other.admin.email}, who is no instance admin`);
    const { id: annId } = meUserView.parse(await ann.expectStatus(200, 'GET', '/me'));
    const again = await signInWith(api, await linkFor({ id: annId }));
    await again.expectStatus(200, 'POST', `/invitations/${id}/accept`);
  });

  test('ends with its link when the organization that invited is purged', async () => {
    const other = await createWorld(api.services);
    const { organization } = other.slugs;
    const path = `/organizations/${organization}/invitations`;
    const owner = api.client(other.owner.token);
    const body = { email: 'purged@links.example.test', role: 'viewer' };
    const { link } = await owner.expectStatus<CreatedInvitationView>(201, 'POST', path, body);
    const browser = await signInWith(api, link);
    await owner.expectStatus(204, 'DELETE', `/organizations/${organization}`);
    await browser.expectStatus(200, 'GET', '/me');
    await owner.expectStatus(204, 'POST', `/organizations/${organization}/purge`);
    await expectProblem(browser.send('GET', '/me'), 'unauthenticated');
  });
});

const rounds = 12;

describe('at the same time', () => {
  test('of several uses on two replicas one begins a session', async () => {
    for (let round = 0; round < rounds; round += 1) {
      const user = await createUser(api.services);
      const link = await linkFor(user);
      const answers = await Promise.all([api, replica, api, replica].map((server) => redeem(server, link)));
      expect(answers.map(({ status }) => String(status)).sort()).toEqual(['201', '401', '401', '401']);
      expect(await sql('SELECT 1 FROM session WHERE user_id = $1', user.id)).toHaveLength(1);
    }
  });

  test('of several uses of an invitation on two replicas one makes the user', async () => {
    const owner = api.client(world.owner.token);
    const path = `/organizations/${world.slugs.organization}/invitations`;
    for (let round = 0; round < rounds; round += 1) {
      const email = `round-${round}@links.example.test`;
      const { link } = await owner.expectStatus<CreatedInvitationView>(201, 'POST', path, { email, role: 'viewer' });
      const answers = await Promise.all([api, replica, api, replica].map((server) => redeem(server, link)));
      expect(answers.map(({ status }) => String(status)).sort()).toEqual(['201', '401', '401', '401']);
      expect(await sql('SELECT 1 FROM app_user WHERE email = $1', email)).toHaveLength(1);
    }
  });

  test('an address is invited, or a user has it: an invitation never waits for an address that a user has', async () => {
    const path = `/organizations/${world.slugs.organization}/invitations`;
    const owner = api.client(world.owner.token);
    for (let round = 0; round < rounds; round += 1) {
      const email = `taken-${round}@links.example.test`;
      const [invited, created] = await Promise.all([
        owner.send('POST', path, { email, role: 'viewer' }),
        replica.client(admin.token).send('POST', '/users', { email }),
      ]);
      expect(created.status).toBe(201);
      expect([201, 409]).toContain(invited.status);
      expect(await sql('SELECT 1 FROM invitation WHERE address = $1 AND ended_at IS NULL', email)).toEqual([]);
    }
  });

  test('a link and what ends it: a session begins before that, or not at all', async () => {
    const owner = api.client(world.owner.token);
    const path = `/organizations/${world.slugs.organization}/invitations`;
    const outcomes = new Set<string>();
    for (let round = 0; round < rounds; round += 1) {
      const email = `race-${round}@links.example.test`;
      const { link, invitation } = await owner.expectStatus<CreatedInvitationView>(201, 'POST', path, {
        email,
        role: 'viewer',
      });
      const rivals = [
        () => owner.send('DELETE', `${path}/${invitation.id}`),
        () => owner.send('POST', path, { email, role: 'admin' }),
        () => asAdmin.send('POST', '/users', { email }),
      ];
      const [used, rival] = await Promise.all([redeem(replica, link), rivals[round % 3]?.()]);
      outcomes.add(`${used.status} ${rival?.status}`);
      const users = await sql('SELECT id FROM app_user WHERE email = $1', email);
      const sessions = await sql('SELECT 1 FROM session WHERE user_id = $1', users[0]?.['id'] ?? null);
      expect(sessions).toHaveLength(used.status === 201 ? 1 : 0);
      expect([201, 401, 409]).toContain(used.status);
      expect(rival?.status).toBeLessThan(500);
      // Never both the user of the link and one of the instance admin, nor a second invitation of a user.
      expect(users.length).toBeLessThanOrEqual(1);
      const waiting = await sql('SELECT 1 FROM invitation WHERE address = $1 AND ended_at IS NULL', email);
      expect([users.length, waiting.length]).not.toEqual([1, 1]);
    }
    expect(outcomes.size).toBeGreaterThan(0);
  });
});
