import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CreatedServiceTokenView, ServiceTokenView } from '../../../src/wire/service-tokens.ts';
import { type HttpClient, expectProblem } from '../../support/api/http.ts';
import { databaseBytes, databaseRows } from '../../support/fixtures/leak-places.ts';
import { ContractSite, type Named, type Place, expectBetween, instant, tokenPattern, uuid } from './contract-site.ts';
import { sentence } from './sentence.ts';

const path = '/service-tokens/acme';
const valid = { name: 'ci', scope: 'organization', permission: 'read' };
const day = 24 * 60 * 60 * 1000;

let site: ContractSite;
let owner: HttpClient;
/** An environment of the project `shop`, another of it, and one of another project. */
let place: Place;
let sibling: Place;
let otherProject: Named;
let distant: Place;

beforeAll(async () => {
  site = await ContractSite.start();
  owner = site.owner.client;
  otherProject = await site.newProject();
  [place, sibling, distant] = [
    await site.newEnvironment(),
    await site.newEnvironment(),
    await site.newEnvironment(otherProject),
  ];
  for (const at of [place, sibling, distant]) await at.set({ KEY: 'value' });
});

afterAll(() => site.close());

/** Asks for a token that is refused, and answers the fields that are said to be at fault. */
async function faultsOf(body: Readonly<Record<string, unknown>>): Promise<readonly string[] | undefined> {
  const reported = await expectProblem(owner.send('POST', path, body), 'invalid_input');
  expect(reported.status).toBe(422);
  return reported.errors?.map(({ field }) => field);
}

function create(body: Readonly<Record<string, unknown>>): Promise<CreatedServiceTokenView> {
  return owner.expectStatus<CreatedServiceTokenView>(201, 'POST', path, body);
}

/** The statuses with which a client's read of each place's secrets, and then a write there, are answered. */
async function reach(client: HttpClient, places: readonly Place[]): Promise<readonly (readonly [number, number])[]> {
  const statuses: [number, number][] = [];
  for (const at of places) {
    const read = await client.send('GET', `/secrets/${at.path}`);
    const write = await client.send('PUT', `/secrets/${at.path}/KEY`, { value: 'value' });
    statuses.push([read.status, write.status]);
  }
  return statuses;
}

describe('service tokens over HTTP', () => {
  test(sentence('2.4.name', 'http'), async () => {
    expect((await create({ ...valid, name: 'Deploys of the shop' })).name).toBe('Deploys of the shop');
    const { name: _name, ...nameless } = valid;
    for (const body of [nameless, { ...valid, name: '' }, { ...valid, name: 7 }, { ...valid, name: null }]) {
      expect(await faultsOf(body)).toEqual(['name']);
    }
  });

  test(sentence('2.4.scope', 'http'), async () => {
    const bodies = [
      valid,
      { ...valid, scope: 'project', projectId: site.project.id },
      { ...valid, scope: 'environment', environmentId: place.id },
    ];
    const made: string[] = [];
    for (const body of bodies) made.push((await create(body)).scope);
    expect(made).toEqual(['organization', 'project', 'environment']);
    const { scope: _scope, ...without } = valid;
    for (const body of [without, { ...valid, scope: 'instance' }, { ...valid, scope: 'Project' }]) {
      expect(await faultsOf(body)).toEqual(['scope']);
    }
  });

  test(sentence('2.4.projectId', 'http'), async () => {
    const { id } = site.project;
    const made = await create({ ...valid, scope: 'project', projectId: id });
    expect([made.projectId, made.environmentId]).toEqual([id, null]);
    expect(await owner.expectStatus(200, 'GET', `${path}/${made.id}`)).toMatchObject({ projectId: id });
    expect((await create(valid)).projectId).toBeNull();
    for (const projectId of [undefined, site.project.slug]) {
      expect(await faultsOf({ ...valid, scope: 'project', projectId })).toEqual(['projectId']);
    }
    expect(await faultsOf({ ...valid, projectId: id })).toEqual(['projectId']);
    await owner.expectStatus(201, 'POST', '/organizations', { slug: 'foreign' });
    const foreign = await owner.expectStatus<Named>(201, 'POST', '/projects/foreign', { slug: 'shop' });
    expect(await faultsOf({ ...valid, scope: 'project', projectId: foreign.id })).toEqual(['projectId']);
  });

  test(sentence('2.4.permission', 'http'), async () => {
    for (const permission of ['read', 'read_write']) {
      expect((await create({ ...valid, permission })).permission).toBe(permission);
    }
    const { permission: _permission, ...without } = valid;
    for (const body of [without, { ...valid, permission: 'write' }, { ...valid, permission: 'admin' }]) {
      expect(await faultsOf(body)).toEqual(['permission']);
    }
  });

  test(sentence('2.4.expiration', 'http'), async () => {
    expect((await create(valid)).expiresAt).toBeNull();
    const from = Date.now();
    const counted = await create({ ...valid, expiresInDays: 30 });
    expectBetween(counted.expiresAt ?? '', [from + 30 * day, Date.now() + 30 * day]);
    const expiresAt = new Date(Date.now() + day).toISOString();
    const dated = await create({ ...valid, expiresAt });
    expect(dated.expiresAt).toBe(expiresAt);
    expect(await owner.expectStatus(200, 'GET', `${path}/${dated.id}`)).toMatchObject({ expiresAt });
    expect(await faultsOf({ ...valid, expiresInDays: 0 })).toEqual(['expiresInDays']);
    expect(await faultsOf({ ...valid, expiresAt: new Date(from).toISOString() })).toEqual(['expiresAt']);
    // Given at creation alone: there is no request that changes it.
    const later = await owner.send('PATCH', `${path}/${dated.id}`, { expiresInDays: 60 });
    expect(later.status).toBe(405);
  });

  test(sentence('2.4.token', 'http'), async () => {
    const { id, token } = await create(valid);
    expect(token).toMatch(tokenPattern);
    expect(token.startsWith('kf_svc_')).toBe(true);
    const answers = [
      await owner.send('GET', path),
      await owner.send('GET', `${path}/${id}`),
      await owner.send('GET', '/audit/acme'),
      await site.client(token).send('GET', '/me'),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain(token.slice('kf_svc_'.length, -6));
    }
    expect((await create(valid)).token).not.toBe(token);
  });

  test(sentence('2.4.id', 'http'), async () => {
    const [first, second] = [await site.newMachine(), await site.newMachine()];
    expect(first.record.id).toMatch(uuid);
    expect(first.record.id).not.toBe(second.record.id);
    const unknown = '01234567-89ab-4def-8123-456789abcdef';
    await expectProblem(owner.send('DELETE', `${path}/${unknown}`), 'not_found');
    for (const id of [first.token, first.record.name]) {
      await expectProblem(owner.send('DELETE', `${path}/${id}`), 'invalid_input');
    }
    expect((await owner.send('DELETE', `${path}/${first.record.id}`)).status).toBe(204);
    expect(await reach(first.client, [place])).toEqual([[401, 401]]);
    expect(await reach(second.client, [place])).toEqual([[200, 200]]);
  });

  test(sentence('2.4.read', 'http'), async () => {
    const { client } = await site.newMachine({ permission: 'read' });
    const versions = await place.history('KEY');
    expect(await reach(client, [place])).toEqual([[200, 403]]);
    await expectProblem(client.send('PATCH', `/secrets/${place.path}`, { set: { NEW: 'new' } }), 'forbidden');
    await expectProblem(client.send('DELETE', `/secrets/${place.path}/KEY`), 'forbidden');
    expect(await client.expectStatus(200, 'GET', `/secrets/${place.path}/KEY`)).toMatchObject({ value: 'value' });
    expect(await place.values()).toEqual({ KEY: 'value' });
    expect(await place.history('KEY')).toEqual(versions);
  });

  test(sentence('2.4.read_write', 'http'), async () => {
    const { client, record } = await site.newMachine({ permission: 'read_write' });
    const at = await site.newEnvironment();
    await client.expectStatus(201, 'PUT', `/secrets/${at.path}/KEY`, { value: 'one' });
    await client.expectStatus(200, 'PATCH', `/secrets/${at.path}`, { set: { KEY: 'two', GONE: 'gone' } });
    await client.expectStatus(204, 'DELETE', `/secrets/${at.path}/GONE`);
    expect(await client.expectStatus(200, 'GET', `/secrets/${at.path}`)).toMatchObject({
      secrets: [{ key: 'KEY', value: 'two', version: 2 }],
    });
    expect((await at.history('KEY')).map(({ changedBy, changedByType }) => [changedBy, changedByType])).toEqual([
      [record.id, 'service_token'],
      [record.id, 'service_token'],
    ]);
  });

  test(sentence('2.4.organization', 'http'), async () => {
    const { client } = await site.newMachine({ scope: 'organization' });
    const later = await site.newEnvironment(await site.newProject());
    expect(await reach(client, [place, sibling, distant])).toEqual([
      [200, 200],
      [200, 200],
      [200, 200],
    ]);
    expect(await reach(client, [later])).toEqual([[200, 201]]);
    await owner.expectStatus(201, 'POST', '/organizations', { slug: 'stranger' });
    await owner.expectStatus(201, 'POST', '/projects/stranger', { slug: 'shop' });
    await owner.expectStatus(201, 'POST', '/environments/stranger/shop', { slug: 'prod' });
    await owner.expectStatus(200, 'GET', '/secrets/stranger/shop/prod');
    await expectProblem(client.send('GET', '/secrets/stranger/shop/prod'), 'not_found');
  });

  test(sentence('2.4.project', 'http'), async () => {
    const { client } = await site.newMachine({ scope: 'project', projectId: site.project.id });
    const later = await site.newEnvironment();
    expect(await reach(client, [place, sibling, later, distant])).toEqual([
      [200, 200],
      [200, 200],
      [200, 201],
      [404, 404],
    ]);
  });

  test(sentence('2.4.environment', 'http'), async () => {
    const { client } = await site.newMachine({ scope: 'environment', environmentId: place.id });
    expect(await reach(client, [place, sibling, distant])).toEqual([
      [200, 200],
      [404, 404],
      [404, 404],
    ]);
  });

  test(sentence('4.4.1', 'http'), async () => {
    const expiresAt = new Date(Date.now() + 7 * day).toISOString();
    const body = { name: 'deploy', scope: 'project', projectId: site.project.id, permission: 'read_write', expiresAt };
    const answer = await owner.send('POST', path, body);
    const { token, ...record } = answer.body as CreatedServiceTokenView;
    expect([answer.status, record]).toEqual([
      201,
      {
        ...body,
        id: expect.stringMatching(uuid),
        organizationId: site.organization.id,
        environmentId: null,
        createdBy: site.owner.id,
        createdByType: 'user',
        createdByName: site.owner.email,
        cluster: null,
        holder: null,
        createdAt: expect.stringMatching(instant),
        revokedAt: null,
        suspendedAt: null,
        lastUsedAt: null,
      },
    ]);
    expect(token).toMatch(tokenPattern);
    expect(answer.headers.get('location')).toBe(`/api/v1${path}/${record.id}`);
    expect(await owner.expectStatus(200, 'GET', `${path}/${record.id}`)).toEqual(record);
  });

  test(sentence('4.4.2', 'http'), async () => {
    const { id, token, ...record } = await create(valid);
    const one = await owner.expectStatus<ServiceTokenView>(200, 'GET', `${path}/${id}`);
    expect(one).toEqual({ id, ...record });
    const { serviceTokens } = await owner.expectStatus<{ serviceTokens: ServiceTokenView[] }>(200, 'GET', path);
    expect(serviceTokens.find((found) => found.id === id)).toEqual({ id, ...record });
    // It is nowhere to be retrieved from: not even the database has it, nor the random part alone.
    const secret = Buffer.from(token.slice('kf_svc_'.length + 22, -6));
    for (const stored of [databaseRows(site.database.url), databaseBytes(site.database.url)]) {
      for await (const { bytes } of stored.contents()) expect(Buffer.from(bytes).includes(secret)).toBe(false);
    }
  });

  test(sentence('4.8', 'http'), async () => {
    const [first, second] = [await site.newMachine({ name: 'first' }), await site.newMachine({ name: 'second' })];
    const newest = async (): Promise<readonly ServiceTokenView[]> => {
      const body = await owner.expectStatus<{ serviceTokens: ServiceTokenView[]; nextCursor: null }>(200, 'GET', path);
      expect(body.nextCursor).toBeNull();
      return body.serviceTokens.slice(0, 2);
    };
    expect(await newest()).toEqual([second.record, first.record]);
    const from = Date.now();
    const answer = await owner.send('DELETE', `${path}/${first.record.id}`);
    expect([answer.status, answer.text]).toEqual([204, '']);
    const [, revoked] = await newest();
    expectBetween(revoked?.revokedAt ?? '', [from, Date.now()]);
    expect(revoked).toEqual({ ...first.record, revokedAt: revoked?.revokedAt });
  });
});
