import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ownRelease } from '../../../src/lib/release.ts';
import { meView } from '../../../src/wire/me.ts';
import { secretListView, secretPatchView, secretView, secretWriteView } from '../../../src/wire/secrets.ts';
import { createdServiceTokenView, serviceTokenListView, serviceTokenView } from '../../../src/wire/service-tokens.ts';
import {
  environmentListView,
  environmentView,
  organizationListView,
  organizationView,
  projectListView,
  projectView,
} from '../../../src/wire/tenancy.ts';
import { rollbackView, versionListView, versionWithValueView } from '../../../src/wire/versions.ts';
import { type HttpClient, type TestApi, expectProblem, startTestApi } from '../../support/api/http.ts';
import { type World, createUser, createWorld } from '../../support/api/services.ts';
import { sentence } from '../../support/fixtures/interface-sentences.ts';

let api: TestApi;
let world: World;
let owner: HttpClient;

beforeAll(async () => {
  api = await startTestApi();
  world = await createWorld(api.services);
  owner = api.client(world.owner.token);
});

afterAll(() => api.close());

/** The paths of a new environment. */
async function newEnvironment(slug: string): Promise<{ secrets: string; versions: string; id: string }> {
  const { organization } = world.slugs;
  const { id } = await owner.expectStatus<{ id: string }>(201, 'POST', `/environments/${organization}/web`, { slug });
  return { secrets: `/secrets/${organization}/web/${slug}`, versions: `/versions/${organization}/web/${slug}`, id };
}

describe('organizations, projects and environments', () => {
  test(`are created, answered with their place, read there and listed by slug ${sentence('1.0')}`, async () => {
    const admin = api.client((await createUser(api.services, { instanceAdmin: true })).token);
    const created = await admin.send('POST', '/organizations', { slug: 'acme', displayName: 'Acme Corp.' });
    expect(created.status).toBe(201);
    expect(created.headers.get('location')).toBe('/api/v1/organizations/acme');
    const organization = organizationView.parse(created.body);
    expect(organization).toMatchObject({ slug: 'acme', displayName: 'Acme Corp.' });
    expect(await admin.expectStatus(200, 'GET', '/organizations/acme')).toEqual(organization);
    expect(organizationListView.parse(await admin.expectStatus(200, 'GET', '/organizations'))).toEqual({
      organizations: [{ ...organization, role: 'owner' }],
      nextCursor: null,
    });

    for (const slug of ['web', 'api']) {
      const project = await admin.send('POST', '/projects/acme', { slug });
      expect(project.headers.get('location')).toBe(`/api/v1/projects/acme/${slug}`);
      expect(await admin.expectStatus(200, 'GET', `/projects/acme/${slug}`)).toEqual(projectView.parse(project.body));
    }
    const { projects } = projectListView.parse(await admin.expectStatus(200, 'GET', '/projects/acme'));
    expect(projects.map(({ slug }) => slug)).toEqual(['api', 'web']);

    const environment = await admin.send('POST', '/environments/acme/web', { slug: 'prod' });
    expect(environment.headers.get('location')).toBe('/api/v1/environments/acme/web/prod');
    expect(environmentView.parse(environment.body)).toMatchObject({ slug: 'prod', displayName: 'prod', revision: 0 });
    expect(await admin.expectStatus(200, 'GET', '/environments/acme/web/prod')).toEqual(environment.body);
    const { environments } = environmentListView.parse(await admin.expectStatus(200, 'GET', '/environments/acme/web'));
    expect(environments).toEqual([environment.body]);
    const all = await admin.expectStatus(200, 'GET', '/projects/acme?environments=true');
    expect(projectListView.parse(all).projects).toEqual(
      projects.map((project) => ({ ...project, environments: project.slug === 'web' ? environments : [] })),
    );
    await expectProblem(admin.send('GET', '/projects/acme?environments=true&deleted=true'), 'invalid_input');
  });
});

describe('me', () => {
  test('shows a person their organizations', async () => {
    const me = meView.parse(await owner.expectStatus(200, 'GET', '/me'));
    const organizations = [{ id: world.organization.id, slug: world.slugs.organization, role: 'owner' }];
    const serverVersion = ownRelease();
    expect(me).toMatchObject({ type: 'user', id: world.owner.id, instanceAdmin: true, serverVersion, organizations });
  });

  test('shows a service token what it is tied to', async () => {
    const token = await world.serviceToken({ permission: 'read' });
    const me = meView.parse(await api.client(token.token).expectStatus(200, 'GET', '/me'));
    expect(me).toMatchObject({
      type: 'service_token',
      id: token.id,
      scope: 'environment',
      permission: 'read',
      serverVersion: ownRelease(),
      organization: { slug: world.slugs.organization },
      environment: { id: world.environment.id, slug: 'prod' },
    });
  });
});

describe('secrets', () => {
  test('are put, read, listed by key and deleted', async () => {
    const { secrets } = await newEnvironment('crud');
    const first = await owner.send('PUT', `${secrets}/B`, { value: 'v1 "é" 😀', comment: 'first' });
    expect(first.status).toBe(201);
    expect(first.headers.get('location')).toBe(`/api/v1${secrets}/B`);
    expect(secretWriteView.parse(first.body)).toMatchObject({ key: 'B', version: 1, revision: 1 });
    const second = await owner.send('PUT', `${secrets}/B`, { value: 'v2', expectedVersion: 1 });
    expect(second.status).toBe(200);
    expect(second.headers.has('location')).toBe(false);
    await owner.expectStatus(201, 'PUT', `${secrets}/A`, { value: '' });

    expect(secretView.parse(await owner.expectStatus(200, 'GET', `${secrets}/B`))).toMatchObject({
      value: 'v2',
      version: 2,
    });
    const list = secretListView.parse(await owner.expectStatus(200, 'GET', secrets));
    expect(list.secrets.map(({ key, value, version }) => [key, value, version])).toEqual([
      ['A', '', 1],
      ['B', 'v2', 2],
    ]);
    expect(list.revision).toBe(3);

    const deleted = await owner.send('DELETE', `${secrets}/A`);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    await expectProblem(owner.send('GET', `${secrets}/A`), 'not_found');
    await expectProblem(owner.send('DELETE', `${secrets}/A`), 'not_found');
  });

  test('are changed together by PATCH, in one revision', async () => {
    const { secrets } = await newEnvironment('patch');
    const made = secretPatchView.parse(
      await owner.expectStatus(200, 'PATCH', secrets, { set: { C: '3', A: '1', constructor: 'c' }, comment: 'all' }),
    );
    expect(made).toMatchObject({ revision: 1, deleted: [], unchanged: [] });
    expect(made.set.map(({ key }) => key).sort()).toEqual(['A', 'C', 'constructor']);
    const { revisionId: expectedRevision } = made;
    const changed = await owner.expectStatus(200, 'PATCH', secrets, {
      set: { A: '1', C: '4' },
      delete: ['constructor'],
      skipUnchanged: true,
      expectedRevision,
    });
    expect(changed).toMatchObject({
      set: [{ key: 'C', version: 2 }],
      deleted: ['constructor'],
      unchanged: ['A'],
      revision: 2,
    });
    await expectProblem(owner.send('PATCH', secrets, { set: { A: '2' }, expectedRevision }), 'version_mismatch');
  });

  test('are guarded by the version that is expected', async () => {
    const { secrets } = await newEnvironment('expect');
    await expectProblem(owner.send('PUT', `${secrets}/A`, { value: 'x', expectedVersion: 1 }), 'version_mismatch');
    await owner.expectStatus(201, 'PUT', `${secrets}/A`, { value: 'x', expectedVersion: 0 });
    await expectProblem(owner.send('PUT', `${secrets}/A`, { value: 'x', expectedVersion: 0 }), 'version_mismatch');
  });
});

describe('versions', () => {
  test(`are listed newest first, paged, read with their value and rolled back to ${sentence('4.7.2')}`, async () => {
    const { secrets, versions } = await newEnvironment('history');
    for (const value of ['one', 'two', 'three']) await owner.send('PUT', `${secrets}/A`, { value, comment: value });
    const all = versionListView.parse(await owner.expectStatus(200, 'GET', `${versions}/A`));
    expect(all.versions.map(({ version, comment }) => [version, comment])).toEqual([
      [3, 'three'],
      [2, 'two'],
      [1, 'one'],
    ]);
    expect(all.nextCursor).toBeNull();
    expect(all.versions[0]).toMatchObject({ changeType: 'updated', changedBy: world.owner.id, changedByType: 'user' });

    const page = versionListView.parse(await owner.expectStatus(200, 'GET', `${versions}/A?limit=2`));
    expect(page.versions).toEqual(all.versions.slice(0, 2));
    const rest = await owner.expectStatus(200, 'GET', `${versions}/A?limit=2&cursor=${page.nextCursor}`);
    expect(rest).toEqual({ ...all, versions: all.versions.slice(2) });

    const one = versionWithValueView.parse(await owner.expectStatus(200, 'GET', `${versions}/A/1`));
    expect(one).toEqual({ ...all.versions[2], value: 'one' });

    const rollback = await owner.send('POST', `${versions}/A/rollback`, { targetVersion: 1, comment: 'back' });
    expect(rollback.status).toBe(201);
    expect(rollback.headers.get('location')).toBe(`/api/v1${versions}/A/4`);
    expect(rollbackView.parse(rollback.body)).toMatchObject({
      version: 4,
      changeType: 'rolled_back',
      comment: 'back',
      revision: 4,
    });
    expect(await owner.expectStatus(200, 'GET', `${secrets}/A`)).toMatchObject({ value: 'one', version: 4 });
  });

  test('are rolled back to only from the expected state, also in a repetition', async () => {
    const { secrets, versions } = await newEnvironment('expected');
    await owner.send('PUT', `${secrets}/A`, { value: 'one' });
    const { revisionId } = rollbackView.parse(
      await owner.expectStatus(201, 'POST', `${versions}/A/rollback`, { targetVersion: 1, expectedVersion: 1 }),
    );
    const body = { targetVersion: 1, expectedVersion: 2, expectedRevision: revisionId.toUpperCase() };
    for (const wrong of [{ expectedVersion: 1 }, { expectedRevision: world.environment.id }]) {
      const send = owner.send('POST', `${versions}/A/rollback`, { ...body, ...wrong });
      expect(await expectProblem(send, 'version_mismatch')).toMatchObject({ status: 412 });
    }
    const headers = { 'idempotency-key': 'expected' };
    const first = await owner.send('POST', `${versions}/A/rollback`, body, headers);
    const again = await owner.send('POST', `${versions}/A/rollback`, body, headers);
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual(first.body);
  });

  test('of a deleted key stay readable, and are rolled back to only with undelete', async () => {
    const { secrets, versions } = await newEnvironment('deleted');
    await owner.send('PUT', `${secrets}/A`, { value: 'x' });
    await owner.send('DELETE', `${secrets}/A`);
    expect(await owner.expectStatus(200, 'GET', `${versions}/A/1`)).toMatchObject({ value: 'x' });
    const { status } = await expectProblem(
      owner.send('POST', `${versions}/A/rollback`, {
        targetVersion: 1,
      }),
      'secret_deleted',
    );
    expect(status).toBe(409);
    const body = { targetVersion: 1, undelete: true };
    const bad = owner.send('POST', `${versions}/A/rollback`, { ...body, undelete: 'yes' });
    await expectProblem(bad, 'invalid_input');
    const restored = await owner.send('POST', `${versions}/A/rollback`, body);
    expect(rollbackView.parse(restored.body)).toMatchObject({ version: 2, changeType: 'rolled_back' });
    expect(await owner.expectStatus(200, 'GET', `${secrets}/A`)).toMatchObject({ value: 'x', version: 2 });
  });
});

describe('service tokens', () => {
  test(`are shown once, listed, read, used and revoked ${sentence('2.4.id', '4.8')}`, async () => {
    const { organization } = world.slugs;
    const { secrets, id: environmentId } = await newEnvironment('tokens');
    const input = { name: 'ci', scope: 'environment', environmentId, permission: 'read', expiresInDays: 30 };
    const answer = await owner.send('POST', `/service-tokens/${organization}`, input);
    expect(answer.status).toBe(201);
    const { token, ...record } = createdServiceTokenView.parse(answer.body);
    expect(answer.headers.get('location')).toBe(`/api/v1/service-tokens/${organization}/${record.id}`);
    expect(token).toMatch(/^kf_svc_/);
    expect(record.organizationId).toBe(world.organization.id);
    const days = (Date.parse(record.expiresAt ?? '') - Date.parse(record.createdAt)) / 86_400_000;
    expect(Math.round(days)).toBe(30);

    const reader = api.client({ reveal: () => token });
    expect(await reader.expectStatus(200, 'GET', secrets)).toMatchObject({ secrets: [] });
    await expectProblem(reader.send('PUT', `${secrets}/A`, { value: 'x' }), 'forbidden');
    await expectProblem(reader.send('GET', `/service-tokens/${organization}`), 'forbidden');

    const one = await owner.send('GET', `/service-tokens/${organization}/${record.id}`);
    expect(serviceTokenView.parse(one.body)).toMatchObject({ id: record.id, name: 'ci', expiresAt: record.expiresAt });
    const list = await owner.send('GET', `/service-tokens/${organization}?limit=1`);
    expect(serviceTokenListView.parse(list.body).serviceTokens).toMatchObject([{ id: record.id }]);
    expect(one.text + list.text).not.toContain(token);

    for (const _ of ['first', 'again'])
      await owner.expectStatus(204, 'DELETE', `/service-tokens/${organization}/${record.id}`);
    const refused = await expectProblem(reader.send('GET', secrets), 'unauthenticated');
    expect(refused.detail).toBe('the token was revoked; use another');
    const revoked = serviceTokenView.parse(
      await owner.expectStatus(200, 'GET', `/service-tokens/${organization}/${record.id}`),
    );
    expect(revoked.revokedAt).toEqual(expect.any(String));
  });
});
