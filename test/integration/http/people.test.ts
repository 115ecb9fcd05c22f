import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { memberListView, memberView } from '../../../src/wire/members.ts';
import { createdPersonalTokenView, personalTokenListView } from '../../../src/wire/personal-tokens.ts';
import { organizationListView } from '../../../src/wire/tenancy.ts';
import { createdUserView, userListView, userView } from '../../../src/wire/users.ts';
import { giveRole, type HttpClient, type TestApi, expectProblem, startTestApi } from '../../support/api/http.ts';
import { type TestUser, type World, createUser, createWorld } from '../../support/api/services.ts';
import { sentence } from '../../support/fixtures/interface-sentences.ts';

let api: TestApi;
let world: World;
/** An instance admin without a role in the world's organization. */
let admin: TestUser;
let root: HttpClient;
let owner: HttpClient;

beforeAll(async () => {
  api = await startTestApi();
  world = await createWorld(api.services);
  admin = await createUser(api.services, { instanceAdmin: true });
  root = api.client(admin.token);
  owner = api.client(world.owner.token);
});

afterAll(() => api.close());

function clientOf(token: string): HttpClient {
  return api.client({ reveal: () => token });
}

describe('users', () => {
  test('are made with a token shown once, listed, read, changed and disabled', async () => {
    const made = await root.send('POST', '/users', { email: 'Ada@Example.test', displayName: 'Ada' });
    expect(made.status).toBe(201);
    const { token, ...user } = createdUserView.parse(made.body);
    expect(made.headers.get('location')).toBe(`/api/v1/users/${user.id}`);
    expect(user).toMatchObject({ email: 'ada@example.test', instanceAdmin: false, disabledAt: null });
    expect(await clientOf(token).expectStatus(200, 'GET', '/me')).toMatchObject({ id: user.id, organizations: [] });

    const one = await root.send('GET', `/users/${user.id.toUpperCase()}`);
    expect(userView.parse(one.body)).toEqual(user);
    const first = userListView.parse(await root.expectStatus(200, 'GET', '/users?limit=2'));
    const rest = await root.expectStatus(200, 'GET', `/users?cursor=${first.nextCursor}`);
    expect([...first.users, ...userListView.parse(rest).users]).toContainEqual(user);
    expect(one.text + JSON.stringify(rest)).not.toContain(token);

    const changed = await root.expectStatus(200, 'PATCH', `/users/${user.id}`, { displayName: null, disabled: true });
    expect(userView.parse(changed)).toMatchObject({ displayName: null, disabledAt: expect.any(String) });
    const refused = await expectProblem(clientOf(token).send('GET', '/me'), 'unauthenticated');
    expect(refused.detail).toBe('the user of this token is disabled');
  });

  test('get another token in place of a lost one, and lose all of them at once', async () => {
    const { id } = await createUser(api.services);
    const answer = await root.send('POST', `/users/${id}/personal-tokens`, { name: 'instead', expiresInDays: 7 });
    expect(answer.status).toBe(201);
    const { token } = createdPersonalTokenView.parse(answer.body);
    expect(await clientOf(token).expectStatus(200, 'GET', '/me')).toMatchObject({ id });
    await root.expectStatus(204, 'DELETE', `/users/${id}/personal-tokens`);
    await expectProblem(clientOf(token).send('GET', '/me'), 'unauthenticated');
  });

  test.each([
    ['POST', '/users', {}, 'email'],
    ['POST', '/users', { email: 'ada' }, 'email'],
    ['POST', '/users', { email: 'a@example.test', displayName: '' }, 'displayName'],
    ['POST', '/users', { email: 'a@example.test', role: 'owner' }, 'role'],
    ['PATCH', '/users/{id}', { instanceAdmin: 'yes' }, 'instanceAdmin'],
    ['PATCH', '/users/{id}', { email: 'b' }, 'email'],
    ['POST', '/users/{id}/personal-tokens', {}, 'name'],
    ['POST', '/users/{id}/personal-tokens', { name: 'x', expiresInDays: 0 }, 'expiresInDays'],
  ])('get what is wrong: %s %s %j', async (method, path, body, field) => {
    const asked = root.send(method, path.replace('{id}', admin.id), body);
    expect((await expectProblem(asked, 'invalid_input')).errors).toMatchObject([{ field }]);
  });

  test('are for no other caller to see or make, whatever they send', async () => {
    const machine = api.client((await world.serviceToken({ scope: 'organization' })).token);
    const viewer = api.client(world.viewer.token);
    for (const client of [viewer, machine]) {
      for (const [method, path] of [
        ['GET', '/users'],
        ['POST', '/users'],
        ['GET', '/users/x'],
        ['PATCH', '/users/x'],
        ['POST', '/users/x/personal-tokens'],
        ['DELETE', '/users/x/personal-tokens'],
      ] as const) {
        await expectProblem(client.send(method, path), 'forbidden');
      }
    }
  });

  test('keep an admin, and an organization its owner', async () => {
    const reported = await expectProblem(
      root.send('PATCH', `/users/${world.owner.id}`, { disabled: true }),
      'conflict',
    );
    expect(reported.detail).toContain(world.slugs.organization);
  });
});

describe('an address that is read as a group', () => {
  test.each(['group:platform@example.test', 'Group:ops@example.test'])('is refused everywhere: %s', async (email) => {
    const { organization } = world.slugs;
    const user = await createUser(api.services);
    await root.expectStatus(200, 'PATCH', `/users/${user.id}`, { disabled: true });
    const attempts = [
      root.send('POST', '/users', { email }),
      root.send('PATCH', `/users/${user.id}`, { email }),
      owner.send('POST', `/organizations/${organization}/invitations`, { email, role: 'viewer' }),
      owner.send('PUT', `/members/${organization}/${encodeURIComponent(email)}`, { role: 'viewer' }),
      root.send('PUT', `/organizations/${organization}/owner`, { user: email }),
    ];
    for (const attempt of attempts) {
      expect(JSON.stringify((await expectProblem(attempt, 'invalid_input')).errors)).toMatch(/e-mail address/);
    }
  });
});

describe('members', () => {
  test('are set by e-mail address or UUID, listed and removed', async () => {
    const { organization } = world.slugs;
    const { user, token } = await api.services.users.create(
      await api.services.access.instance(admin.caller, 'user.create'),
      {
        email: `a+b/c-${world.owner.id.slice(0, 8)}@example.test`,
      },
    );
    const byEmail = `/members/${organization}/${encodeURIComponent(user.email.toUpperCase())}`;
    await giveRole(owner, api.client(token), byEmail, 'viewer');
    const added = memberView.parse(await owner.expectStatus(200, 'PUT', byEmail, { role: 'viewer' }));
    expect(added).toMatchObject({ userId: user.id, email: user.email, role: 'viewer' });
    const byId = `/members/${organization}/${user.id}`;
    expect(await owner.expectStatus(200, 'PUT', byId, { role: 'admin' })).toEqual({ ...added, role: 'admin' });
    const list = memberListView.parse(await owner.expectStatus(200, 'GET', `/members/${organization}`));
    expect(list.members).toHaveLength(5);
    expect(list.members).toContainEqual({ ...added, role: 'admin' });
    expect(list.nextCursor).toBeNull();
    await owner.expectStatus(204, 'DELETE', byEmail);
    await expectProblem(owner.send('DELETE', byId), 'not_found');
  });

  test('keep their last owner', async () => {
    const path = `/members/${world.slugs.organization}/${world.owner.id}`;
    await expectProblem(owner.send('DELETE', path), 'conflict');
    await expectProblem(owner.send('PUT', path, { role: 'viewer' }), 'conflict');
  });

  test('are refused with what is wrong', async () => {
    const { organization } = world.slugs;
    const body = { role: 'viewer' };
    const reported = await expectProblem(owner.send('PUT', `/members/${organization}/ada`, body), 'invalid_input');
    expect(reported.errors).toEqual([{ field: 'user', message: "must be a user's UUID or e-mail address" }]);
    const path = `/members/${organization}/${world.viewer.id}`;
    await expectProblem(owner.send('PUT', path, { role: 'king' }), 'invalid_input');
    await expectProblem(owner.send('PUT', path), 'malformed_request');
    await expectProblem(owner.send('PUT', `/members/${organization}/unknown@example.test`, body), 'not_found');
    const viewer = api.client(world.viewer.token);
    await expectProblem(viewer.send('PUT', path, body), 'forbidden');
    await expectProblem(viewer.send('DELETE', `/members/${organization}/${world.admin.id}`), 'forbidden');
    await expectProblem(api.client(world.stranger.token).send('GET', `/members/${organization}`), 'not_found');
  });
});

describe('personal tokens', () => {
  test(`are made, shown once, listed, used and revoked ${sentence('5.7')}`, async () => {
    const user = api.client((await createUser(api.services)).token);
    const answer = await user.send('POST', '/personal-tokens', { name: 'laptop', expiresInDays: 30 });
    expect(answer.status).toBe(201);
    const { token, ...record } = createdPersonalTokenView.parse(answer.body);
    expect(token).toMatch(/^kf_pat_/);
    await clientOf(token).expectStatus(200, 'GET', '/me');
    const list = await user.send('GET', '/personal-tokens?limit=1');
    expect(personalTokenListView.parse(list.body).personalTokens).toMatchObject([{ id: record.id, name: 'laptop' }]);
    expect(list.text).not.toContain(token);
    await expectProblem(
      clientOf(token).send('POST', '/personal-tokens', { name: 'x', expiresInDays: 60 }),
      'invalid_input',
    );
    for (const _ of ['first', 'again']) await user.expectStatus(204, 'DELETE', `/personal-tokens/${record.id}`);
    await expectProblem(clientOf(token).send('GET', '/me'), 'unauthenticated');
    await expectProblem(owner.send('DELETE', `/personal-tokens/${record.id}`), 'not_found');
  });

  test('end with the request that revokes the one it was sent with', async () => {
    const { token, caller } = await createUser(api.services);
    const client = api.client(token);
    await client.expectStatus(204, 'DELETE', `/personal-tokens/${caller.principal.credentialId}`);
    await expectProblem(client.send('GET', '/personal-tokens'), 'unauthenticated');
  });

  test('are not for service tokens, whatever they send', async () => {
    const machine = api.client((await world.serviceToken({ scope: 'organization' })).token);
    await expectProblem(machine.send('GET', '/personal-tokens?x=1'), 'forbidden');
    await expectProblem(machine.send('POST', '/personal-tokens', { nonsense: true }), 'forbidden');
    await expectProblem(machine.send('DELETE', '/personal-tokens/x'), 'forbidden');
  });
});

describe('organizations, projects and environments', () => {
  test('are renamed, deleted and purged, each for itself', async () => {
    const own = await createWorld(api.services);
    const founder = api.client(own.owner.token);
    const { organization, project, environment } = own.slugs;
    const paths = [
      `/environments/${organization}/${project}/${environment}`,
      `/projects/${organization}/${project}`,
      `/organizations/${organization}`,
    ];
    for (const path of paths) {
      const before = await founder.expectStatus<object>(200, 'GET', path);
      const renamed = await founder.expectStatus(200, 'PATCH', path, { displayName: 'New & shown' });
      expect(renamed).toEqual({ ...before, displayName: 'New & shown' });
      await expectProblem(founder.send('PATCH', path, { slug: 'x', displayName: 'x' }), 'invalid_input');
      await expectProblem(founder.send('PATCH', path, {}), 'invalid_input');
      const reported = await expectProblem(root.send('POST', `${path}/purge`), 'conflict');
      expect(reported.detail).toContain('delete it first');
      await founder.expectStatus(204, 'DELETE', path);
      await expectProblem(founder.send('GET', path), 'not_found');
      await root.expectStatus(204, 'POST', `${path}/purge`);
      await expectProblem(root.send('POST', `${path}/purge`), 'not_found');
    }
    await root.expectStatus(201, 'POST', '/organizations', { slug: organization });
  });

  test('all organizations are listed to an instance admin with their owners, apart from the deleted ones', async () => {
    const all = await root.expectStatus(200, 'GET', '/organizations?all=true');
    const owners = [{ userId: world.owner.id, email: world.owner.email, disabled: false }];
    const { slug } = world.organization;
    expect(organizationListView.parse(all).organizations).toContainEqual(
      expect.objectContaining({ slug, role: null, owners }),
    );
    const own = await owner.expectStatus(200, 'GET', '/organizations?all=false');
    expect(organizationListView.parse(own).organizations).not.toContainEqual(
      expect.objectContaining({ owners: expect.anything() }),
    );
    const deleted = await root.expectStatus(200, 'GET', '/organizations?deleted=true');
    expect(await root.expectStatus(200, 'GET', '/organizations?all=true&deleted=true')).toEqual(deleted);
  });

  test('are purged by instance admins alone, and by slugs alone', async () => {
    const { organization } = world.slugs;
    const machine = api.client((await world.serviceToken({ scope: 'organization' })).token);
    for (const client of [machine, api.client(world.admin.token)]) {
      await expectProblem(client.send('POST', `/organizations/${organization}/purge`), 'forbidden');
      await expectProblem(client.send('POST', '/projects/No/slug/purge', { x: 1 }), 'forbidden');
    }
    const reported = await expectProblem(root.send('POST', '/projects/acme/No_slug/purge'), 'invalid_input');
    expect(reported.errors).toMatchObject([{ field: 'project' }]);
    await expectProblem(root.send('POST', `/organizations/${organization}/purge`, {}), 'malformed_request');
  });
});
