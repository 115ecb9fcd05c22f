import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { generateToken } from '../../../src/crypto/token.ts';
import { limits } from '../../../src/domain/limits.ts';
import { meUserView } from '../../../src/wire/me.ts';
import { createdPersonalTokenView } from '../../../src/wire/personal-tokens.ts';
import { sessionListView } from '../../../src/wire/sessions.ts';
import { SignedInBrowser } from '../../support/api/browser-session.ts';
import { type HttpAnswer, type TestApi, expectProblem, startTestApi } from '../../support/api/http.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { EventReader } from '../../support/api/event-reader.ts';
import { type TestUser, type World, createUser, createWorld } from '../../support/api/services.ts';

let api: TestApi;
let world: World;
let admin: TestUser;

beforeAll(async () => {
  api = await startTestApi({}, { streams: { checkMs: 60_000 } });
  api.services.feed.start();
  await waitFor('the feed to hear', () => api.services.feed.ready);
  world = await createWorld(api.services);
  admin = await createUser(api.services, { instanceAdmin: true });
});

afterAll(() => api.close());

async function signIn(user: TestUser = world.owner): Promise<SignedInBrowser> {
  return SignedInBrowser.signIn(api, user.token);
}

function streamUrl(): string {
  const { organization, project, environment } = world.slugs;
  return `http://127.0.0.1:${api.port}/api/v1/changes/${organization}/${project}/${environment}`;
}

async function sql(text: string, ...values: unknown[]): Promise<void> {
  await api.services.database.pool.query(text, values);
}

async function denials(fault: string): Promise<number> {
  const { rows } = await api.services.database.pool.query(
    `SELECT 1 FROM audit_entry WHERE action = 'authenticate' AND outcome = 'denied' AND target->>'fault' = $1`,
    [fault],
  );
  return rows.length;
}

const crossSite: [string, Record<string, string>][] = [
  ['another site', { 'sec-fetch-site': 'cross-site' }],
  ['another host of the same site', { 'sec-fetch-site': 'same-site' }],
  ['the address bar', { 'sec-fetch-site': 'none' }],
  ['an old browser on another site', { origin: 'https://evil.example' }],
  ['an old browser that hides its site', { origin: 'null' }],
  ['a client that says nothing of its site', {}],
];

describe('a session', () => {
  test('begins with a personal token, acts as its user, and has a cookie that only this host gets', async () => {
    const answer = await api.client(world.owner.token).send('POST', '/sessions');
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ signedInWith: 'personal_token', current: true });
    const cookie = answer.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(
      /^__Host-keyframe=kf_ses_[0-9A-Za-z]{71}; Max-Age=43200; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
    );
    const secret = /=([^;]+)/.exec(cookie)?.[1] ?? '';
    expect(answer.text).not.toContain(secret);
    const browser = new SignedInBrowser(api, cookie);
    const me = meUserView.parse(await browser.expectStatus(200, 'GET', '/me'));
    expect(me).toMatchObject({ id: world.owner.id, session: { recentSignIn: true } });
    const { organization } = world.slugs;
    await browser.expectStatus(200, 'GET', `/organizations/${organization}`);
    const { rows } = await api.services.database.pool.query(
      `SELECT credential_id, actor_id FROM audit_entry WHERE action = 'session.create' AND target->>'sessionId' = $1`,
      [me.session?.id],
    );
    expect(rows).toMatchObject([{ actor_id: world.owner.id }]);
    expect(JSON.stringify(api.logs)).not.toContain(secret.slice(0, 30));
  });

  test.each(crossSite)(
    'does not count for %s, neither to read nor to write, and the audit has it',
    async (_name, headers) => {
      const browser = await signIn();
      const before = await denials('cross_site');
      for (const method of ['GET', 'POST'] as const) {
        const path = method === 'GET' ? '/me' : '/personal-tokens';
        const body = method === 'GET' ? undefined : { name: 'stolen' };
        const asked = browser.sendAs({ ...headers, 'x-keyframe-csrf': '1' }, method, path, body);
        expect((await expectProblem(asked, 'unauthenticated')).detail).toContain('only for pages of this server');
      }
      expect(await denials('cross_site')).toBe(before + 2);
      await browser.expectStatus(200, 'GET', '/me');
    },
  );

  test('gets no header that lets another site read a response, also not when its browser asks first', async () => {
    const browser = await signIn();
    const origin = 'https://evil.example';
    const asks = {
      origin,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'x-keyframe-csrf',
    };
    const answers = [
      await browser.sendAs({ ...browser.headers, origin }, 'GET', '/me'),
      await browser.sendAs({ origin, 'sec-fetch-site': 'cross-site' }, 'GET', '/me'),
      await browser.sendAs(asks, 'OPTIONS', '/me'),
      await api.client(world.owner.token).send('GET', '/me', undefined, { origin }),
    ];
    for (const { headers } of answers) {
      expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });

  test('of an old browser counts for pages of this server', async () => {
    const browser = await signIn();
    const origin = { origin: `http://127.0.0.1:${api.port}` };
    expect((await browser.sendAs(origin, 'GET', '/me')).status).toBe(200);
  });

  test.each([
    ['POST', '/personal-tokens', { name: 'x' }, 201],
    ['PUT', '/secrets/{place}/CSRF', { value: 'x' }, 200],
    ['PATCH', '/secrets/{place}', { set: { CSRF: 'y' } }, 200],
    ['DELETE', '/secrets/{place}/CSRF', undefined, 204],
  ])(
    'changes nothing by %s without the header that another site cannot send',
    async (method, template, sent, status) => {
      const browser = await signIn();
      const { organization, project, environment } = world.slugs;
      const place = `${organization}/${project}/${environment}`;
      await api.client(world.owner.token).send('PUT', `/secrets/${place}/CSRF`, { value: 'w' });
      const path = template.replace('{place}', place);
      const asked = browser.sendAs({ 'sec-fetch-site': 'same-origin' }, method, path, sent);
      expect((await expectProblem(asked, 'unauthenticated')).detail).toContain('X-Keyframe-CSRF');
      expect((await browser.send(method, path, sent)).status).toBe(status);
    },
  );

  test('does not count beside any header Authorization, and its token is no bearer token', async () => {
    const browser = await signIn();
    for (const authorization of ['Basic eDp5', 'Bearer', `Bearer ${browser.token}`]) {
      await expectProblem(browser.sendAs({ ...browser.headers, authorization }, 'GET', '/me'), 'unauthenticated');
    }
    const other = `Bearer ${world.viewer.token.reveal()}`;
    const answer = await browser.sendAs({ ...browser.headers, authorization: other }, 'GET', '/me');
    expect(answer.body).toMatchObject({ id: world.viewer.id, session: null });
  });

  test('does not take a personal token as its cookie, nor a session that does not exist', async () => {
    for (const value of [world.owner.token.reveal(), 'x', generateToken('session', world.owner.id).token.reveal()]) {
      const stranger = new SignedInBrowser(api, `__Host-keyframe=${value}`);
      await expectProblem(stranger.send('GET', '/me'), 'unauthenticated');
    }
  });

  test('cannot begin another one, and a service token none', async () => {
    const browser = await signIn();
    await expectProblem(browser.send('POST', '/sessions'), 'forbidden');
    const { token } = await world.serviceToken();
    await expectProblem(api.client(token).send('POST', '/sessions'), 'forbidden');
  });

  test('is replaced if the same user signs in again in the browser, and not by another user', async () => {
    const first = await signIn();
    const second = await SignedInBrowser.signIn(api, world.owner.token, first);
    await expectProblem(first.send('GET', '/me'), 'unauthenticated');
    await SignedInBrowser.signIn(api, world.viewer.token, second);
    await second.expectStatus(200, 'GET', '/me');
  });
});

describe('the end of a session', () => {
  async function expectEnded(browser: SignedInBrowser): Promise<void> {
    expect((await expectProblem(browser.send('GET', '/me'), 'unauthenticated')).detail).toContain('sign in again');
  }

  test('comes when its user signs out, which also removes the cookie', async () => {
    const browser = await signIn();
    const answer = await browser.send('DELETE', `/sessions/${await browser.id()}`);
    expect(answer.status).toBe(204);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^__Host-keyframe=; Max-Age=0; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
    );
    await expectEnded(browser);
  });

  test('comes from another session of the user, and from no other user', async () => {
    const [one, two, stranger] = [await signIn(), await signIn(), await signIn(world.viewer)];
    const id = await two.id();
    await expectProblem(stranger.send('DELETE', `/sessions/${id}`), 'not_found');
    await two.expectStatus(200, 'GET', '/me');
    const listed = sessionListView.parse(await one.expectStatus(200, 'GET', '/sessions'));
    expect(listed.sessions.filter(({ current }) => current)).toHaveLength(1);
    expect(listed.sessions.find((session) => session.id === id)).toMatchObject({ current: false });
    const answer = await one.send('DELETE', `/sessions/${id}`);
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([204, null]);
    await expectEnded(two);
    await one.expectStatus(200, 'GET', '/me');
    await one.expectStatus(204, 'DELETE', '/sessions');
    await expectEnded(one);
    await stranger.expectStatus(200, 'GET', '/me');
  });

  test('comes from an instance admin, who sees whose it is, and from no owner', async () => {
    const user = await createUser(api.services);
    const browser = await signIn(user);
    const root = api.client(admin.token);
    const path = `/users/${user.id}/sessions`;
    expect(await root.expectStatus(200, 'GET', path)).toMatchObject({ sessions: [{ current: false }] });
    await expectProblem(api.client(world.admin.token).send('DELETE', path), 'forbidden');
    await browser.expectStatus(200, 'GET', '/me');
    await root.expectStatus(204, 'DELETE', path);
    await expectEnded(browser);
    await expectProblem(root.send('GET', `/users/${world.organization.id}/sessions`), 'not_found');
  });

  test('comes with the personal token that it began with, and with its user', async () => {
    const user = await createUser(api.services);
    const made = await api.client(user.token).send('POST', '/personal-tokens', { name: 'browser', expiresInDays: 1 });
    const { id, token, expiresAt } = createdPersonalTokenView.parse(made.body);
    const browser = await SignedInBrowser.signIn(api, { reveal: () => token });
    await browser.expectStatus(200, 'GET', '/me');
    // Tokens that the session creates end with it, too.
    const next = await browser.send('POST', '/personal-tokens', { name: 'next' });
    expect(next.body).toMatchObject({ expiresAt });
    await api.client(user.token).expectStatus(204, 'DELETE', `/personal-tokens/${id}`);
    await expectEnded(browser);

    const other = await signIn(user);
    await api.client(admin.token).expectStatus(200, 'PATCH', `/users/${user.id}`, { disabled: true });
    expect((await expectProblem(other.send('GET', '/me'), 'unauthenticated')).detail).toContain('is disabled');
    // And stays ended when the user is enabled again.
    await api.client(admin.token).expectStatus(200, 'PATCH', `/users/${user.id}`, { disabled: false });
    await expectProblem(other.send('GET', '/me'), 'unauthenticated');
    await api.client(user.token).expectStatus(200, 'GET', '/me');
  });

  test('comes after 30 minutes without activity, which streams and polling are not, and after 12 hours', async () => {
    const browser = await signIn();
    const id = await browser.id();
    const idle = `UPDATE session SET last_used_at = clock_timestamp() - make_interval(mins => $2) WHERE id = $1`;
    await sql(idle, id, 29);
    const background = { ...browser.headers, 'x-keyframe-background': '1' };
    expect((await browser.sendAs(background, 'GET', '/me')).status).toBe(200);
    await api.services.usage.drain();
    await sql(`UPDATE session SET last_used_at = last_used_at - interval '61 seconds' WHERE id = $1`, id);
    await expectEnded(browser);

    const watching = await signIn();
    await sql(idle, await watching.id(), 29);
    const stream = await EventReader.open(streamUrl(), undefined, { ...watching.headers, cookie: watching.cookie });
    await stream.take(1);
    stream.close();
    await api.services.usage.drain();
    await sql(
      `UPDATE session SET last_used_at = last_used_at - interval '61 seconds' WHERE id = $1`,
      await watching.id(),
    );
    await expectEnded(watching);

    const used = await signIn();
    await sql(idle, await used.id(), 29);
    await used.expectStatus(200, 'GET', '/me');
    await api.services.usage.drain();
    await sql(`UPDATE session SET last_used_at = last_used_at - interval '61 seconds' WHERE id = $1`, await used.id());
    await used.expectStatus(200, 'GET', '/me');
    await sql('UPDATE session SET expires_at = clock_timestamp() WHERE id = $1', await used.id());
    await expectEnded(used);
  });

  test('comes for the least recently used one if a user has too many', async () => {
    const user = await createUser(api.services);
    const first = await signIn(user);
    for (let index = 1; index < limits.sessionsPerUser; index += 1) await signIn(user);
    await first.expectStatus(200, 'GET', '/me');
    await sql(`UPDATE session SET last_used_at = last_used_at - interval '10 minutes' WHERE id = $1`, await first.id());
    const last = await signIn(user);
    await expectEnded(first);
    const { sessions } = sessionListView.parse(await last.expectStatus(200, 'GET', '/sessions'));
    expect(sessions).toHaveLength(limits.sessionsPerUser);
  });
});

describe('what needs a recent sign-in', () => {
  async function staleSession(user: TestUser): Promise<SignedInBrowser> {
    const browser = await signIn(user);
    await sql(
      `UPDATE session SET verified_at = clock_timestamp() - interval '5 minutes' WHERE id = $1`,
      await browser.id(),
    );
    return browser;
  }

  async function expectRefused(asked: Promise<HttpAnswer>): Promise<void> {
    expect((await expectProblem(asked, 'recent_sign_in_required')).detail).toContain('sign in again and repeat it');
  }

  test('is refused in an older session, and audited as denied', async () => {
    const { organization } = world.slugs;
    const user = await createUser(api.services);
    const browser = await staleSession(world.owner);
    const root = await staleSession(admin);
    await expectRefused(browser.send('POST', '/personal-tokens', { name: 'x' }));
    const service = { name: 'x', scope: 'organization', permission: 'read' };
    await expectRefused(browser.send('POST', `/service-tokens/${organization}`, service));
    await expectRefused(browser.send('PUT', `/members/${organization}/${world.admin.id}`, { role: 'owner' }));
    await expectRefused(root.send('POST', '/users', { email: 'later@example.test' }));
    await expectRefused(root.send('POST', `/users/${user.id}/personal-tokens`, { name: 'x' }));
    await expectRefused(root.send('PATCH', `/users/${user.id}`, { instanceAdmin: true }));
    const owner = { user: user.email };
    await expectRefused(root.send('PUT', `/organizations/${organization}/owner`, owner));
    const { rows } = await api.services.database.pool.query(
      `SELECT action FROM audit_entry WHERE outcome = 'denied' AND credential_id = ANY($1) ORDER BY action`,
      [[await browser.id(), await root.id()]],
    );
    expect(rows.map((row) => (row as { action: string }).action)).toEqual([
      'member.set',
      'organization.appoint_owner',
      'personal_token.create',
      'personal_token.create',
      'service_token.create',
      'user.create',
      'user.update',
    ]);
    // What does not outlast the session needs none.
    await browser.expectStatus(200, 'PUT', `/members/${organization}/${world.admin.id}`, { role: 'admin' });
  });

  test('works with a token at any time, and in a session right after the sign-in, for 90 days at most', async () => {
    const made = await api.client(world.owner.token).send('POST', '/personal-tokens', { name: 'x' });
    expect(made.body).toMatchObject({ expiresAt: null });
    const browser = await signIn();
    const bounded = createdPersonalTokenView.parse(
      (await browser.send('POST', '/personal-tokens', { name: 'x' })).body,
    );
    const days = (Date.parse(bounded.expiresAt ?? '') - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(90);
    const tooLong = browser.send('POST', '/personal-tokens', { name: 'x', expiresInDays: 91 });
    expect((await expectProblem(tooLong, 'invalid_input')).errors).toMatchObject([{ field: 'expiresInDays' }]);
    const { organization } = world.slugs;
    const service = { name: 'x', scope: 'organization', permission: 'read' };
    const answer = await browser.send('POST', `/service-tokens/${organization}`, service);
    expect(answer.status).toBe(201);
    expect(Math.round((Date.parse((answer.body as { expiresAt: string }).expiresAt) - Date.now()) / 86_400_000)).toBe(
      90,
    );
  });
});
