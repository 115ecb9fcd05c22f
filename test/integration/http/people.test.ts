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
});
