import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  placedSnapshotView,
  restoreView,
  snapshotDiffView,
  snapshotListView,
  snapshotView,
} from '../../../src/wire/snapshots.ts';
import { type HttpClient, type TestApi, expectProblem, startTestApi } from '../../support/api/http.ts';
import { type World, createWorld } from '../../support/api/services.ts';
import { sentence } from '../../support/fixtures/interface-sentences.ts';

let api: TestApi;
let world: World;
let developer: HttpClient;
let slugs: World['slugs'];
let all: string;
let secrets: string;

beforeAll(async () => {
  api = await startTestApi();
  world = await createWorld(api.services);
  developer = api.client(world.developer.token);
});

afterAll(() => api.close());

/** Each test has an environment. */
beforeEach(async () => {
  const { organization, project } = world.slugs;
  const environment = `e-${randomUUID()}`;
  const admin = api.client(world.admin.token);
  await admin.expectStatus(201, 'POST', `/environments/${organization}/${project}`, { slug: environment });
  slugs = { organization, project, environment };
  all = `/snapshots/${organization}/${project}/${environment}`;
  secrets = `/secrets/${organization}/${project}/${environment}`;
});

async function set(values: Record<string, string>, deleted: readonly string[] = []): Promise<void> {
  await developer.expectStatus(200, 'PATCH', secrets, { set: values, delete: deleted });
}

async function create(body: unknown = {}): Promise<string> {
  return (await developer.expectStatus<{ id: string }>(201, 'POST', all, body)).id;
}

async function valueOf(key: string): Promise<string> {
  return (await developer.expectStatus<{ value: string }>(200, 'GET', `${secrets}/${key}`)).value;
}

describe('a snapshot over HTTP', () => {
  test(`is created with its place, read there, found by its id alone and listed ${sentence('4.1.1')}`, async () => {
    await set({ A: '1', B: '2' });
    const created = await developer.send('POST', all, { name: 'release 1', description: 'before the fair' });
    expect(created.status).toBe(201);
    const snapshot = snapshotView.parse(created.body);
    expect(snapshot).toMatchObject({
      name: 'release 1',
      description: 'before the fair',
      createdBy: world.developer.id,
      createdByType: 'user',
      createdByName: world.developer.email,
      createdByCluster: null,
      secretCount: 2,
      revision: 1,
    });
    expect(created.headers.get('location')).toBe(`/api/v1${all}/${snapshot.id}`);
    expect(snapshotView.parse(await developer.expectStatus(200, 'GET', `${all}/${snapshot.id}`))).toEqual(snapshot);
    expect(snapshotListView.parse(await developer.expectStatus(200, 'GET', all))).toEqual({
      snapshots: [snapshot],
      nextCursor: null,
    });
    const found = placedSnapshotView.parse(await developer.expectStatus(200, 'GET', `/snapshots/${snapshot.id}`));
    expect(found).toEqual({ ...snapshot, ...slugs });
  });

  test.each<[string, unknown, Record<string, string>]>([
    ['no body', undefined, {}],
    ['an empty body', '', { 'content-type': 'application/json' }],
    ['an empty object', {}, {}],
  ])('is made without a name by %s', async (_case, body, headers) => {
    const created = await developer.send('POST', all, body, headers);
    expect(created.status).toBe(201);
    expect(snapshotView.parse(created.body)).toMatchObject({
      name: null,
      description: null,
      secretCount: 0,
      revision: 0,
      revisionId: null,
    });
  });

  test('is made by a body in chunks that holds nothing', async () => {
    const socket = connect(api.port, '127.0.0.1');
    const lines = [
      `POST /api/v1${all} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${world.developer.token.reveal()}`,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
      'Connection: close',
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n0\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 201 /);
  });

  test(`is refused for a body that is not JSON ${sentence('4.1.2')}`, async () => {
    await expectProblem(developer.send('POST', all, '{'), 'malformed_request');
    await expectProblem(developer.send('POST', all, '{}', { 'content-type': 'text/plain' }), 'unsupported_media_type');
  });

  test('is deleted by an admin and then not found', async () => {
    const id = await create();
    const admin = api.client(world.admin.token);
    await expectProblem(developer.send('DELETE', `${all}/${id}`), 'forbidden');
    expect((await admin.send('DELETE', `${all}/${id}`)).status).toBe(204);
    await expectProblem(admin.send('DELETE', `${all}/${id}`), 'not_found');
    await expectProblem(admin.send('GET', `${all}/${id}`), 'not_found');
    await expectProblem(admin.send('GET', `/snapshots/${id}`), 'not_found');
  });

  test('takes its id in capitals too, and nothing else that is no id', async () => {
    const id = await create();
    for (const path of [`${all}/${id.toUpperCase()}`, `/snapshots/${id.toUpperCase()}`]) {
      expect(await developer.expectStatus(200, 'GET', path)).toMatchObject({ id });
    }
    for (const path of [`${all}/latest`, '/snapshots/latest', `${all}/latest/diff`]) {
      const { errors } = await expectProblem(developer.send('GET', path), 'invalid_input');
      expect(errors?.map(({ field }) => field)).toEqual(['id']);
    }
  });

  test('is paged', async () => {
    const ids = [await create(), await create(), await create()];
    const first = snapshotListView.parse(await developer.expectStatus(200, 'GET', `${all}?limit=2`));
    const rest = snapshotListView.parse(
      await developer.expectStatus(200, 'GET', `${all}?limit=2&cursor=${first.nextCursor}`),
    );
    expect([...first.snapshots, ...rest.snapshots].map(({ id }) => id)).toEqual(ids.toReversed());
    expect(rest.nextCursor).toBeNull();
    await expectProblem(developer.send('GET', `${all}?limit=0`), 'invalid_input');
  });
});

describe('a comparison over HTTP', () => {
  test('is with the present unless another snapshot is named, and shows no value', async () => {
    await set({ A: 'first-value', GONE: 'x' });
    const one = await create();
    await developer.expectStatus(200, 'PATCH', secrets, { set: { A: 'other-value', NEW: 'x' }, delete: ['GONE'] });
    const two = await create();
    const answer = await developer.send('GET', `${all}/${one}/diff`);
    const diff = snapshotDiffView.parse(answer.body);
    expect(diff).toMatchObject({
      snapshotId: one,
      against: 'current',
      revision: 2,
      added: [{ key: 'NEW', version: 1 }],
      removed: [{ key: 'GONE', version: 1 }],
      changed: [{ key: 'A', from: 1, to: 2, valueChanged: true }],
      unchanged: 0,
    });
    expect(answer.text).not.toContain('-value');
    expect(await developer.expectStatus(200, 'GET', `${all}/${one}/diff?against=current`)).toEqual(diff);
    expect(await developer.expectStatus(200, 'GET', `${all}/${one}/diff?against=${two}`)).toEqual({
      ...diff,
      against: two,
    });
  });

  test('refuses what is neither', async () => {
    const id = await create();
    const { errors } = await expectProblem(developer.send('GET', `${all}/${id}/diff?against=latest`), 'invalid_input');
    expect(errors).toEqual([{ field: 'against', message: 'must be "current" or the UUID of a snapshot' }]);
    await expectProblem(developer.send('GET', `${all}/${id}/diff?against=${randomUUID()}`), 'not_found');
    await expectProblem(developer.send('GET', `${all}/${id}/diff?other=1`), 'invalid_input');
  });
});

describe('a restore over HTTP', () => {
  test(`brings the values of the snapshot back and shows what it did by key ${sentence('4.3.1')}`, async () => {
    await set({ A: '1', B: '1' });
    const id = await create();
    await set({ A: '2' });
    const answer = restoreView.parse(await developer.expectStatus(200, 'POST', `${all}/restore`, { snapshotId: id }));
    expect(answer).toEqual({
      restored: ['A', 'B'],
      recreated: [],
      unchanged: [],
      skipped: [],
      destroyed: [],
      pruned: [],
      backupSnapshotId: null,
      revision: 3,
      revisionId: expect.any(String),
    });
    expect(await valueOf('A')).toBe('1');
  });

  test('can be planned, and is done as planned or not at all', async () => {
    await set({ A: '1' });
    const snapshotId = await create();
    await set({ A: '2', LATER: '1' });
    const options = { snapshotId, prune: true, skipUnchanged: true, backup: true };
    const send = (rest: object): ReturnType<HttpClient['send']> =>
      developer.send('POST', `${all}/restore`, { ...options, ...rest });
    const { planHash, ...plan } = restoreView.parse((await send({ dryRun: true })).body);
    expect(plan).toMatchObject({ restored: ['A'], pruned: ['LATER'], backupSnapshotId: null, revision: 2 });
    expect(await valueOf('A')).toBe('2');
    await expectProblem(send({ planHash, prune: false }), 'plan_outdated');
    const done = restoreView.parse((await send({ planHash, comment: 'as planned' })).body);
    expect(done).toMatchObject({ restored: ['A'], pruned: ['LATER'], revision: 3 });
    expect(done.backupSnapshotId).toEqual(expect.any(String));
    await expectProblem(send({ planHash }), 'plan_outdated');
    await expectProblem(send({ expectedRevision: plan.revisionId }), 'version_mismatch');
  });

  test('restores some keys, and those that were deleted, if the request says so', async () => {
    await set({ DB_HOST: '1', DB_TEST: '1', WEB: '1' });
    const snapshotId = await create();
    await set({ DB_LATER: '1', WEB: '2', WEB_LATER: '1' }, ['DB_HOST', 'DB_TEST']);
    const options = {
      snapshotId,
      prune: true,
      includeDeleted: true,
      keys: { include: ['DB_*'], exclude: ['DB_TEST'] },
    };
    const send = (rest: object): ReturnType<HttpClient['send']> =>
      developer.send('POST', `${all}/restore`, { ...options, ...rest });
    const { planHash, ...plan } = restoreView.parse((await send({ dryRun: true })).body);
    expect(plan).toMatchObject({ restored: [], recreated: ['DB_HOST'], skipped: [], pruned: ['DB_LATER'] });
    await expectProblem(send({ planHash, includeDeleted: false }), 'plan_outdated');
    await expectProblem(send({ planHash, keys: { include: ['DB_*'] } }), 'plan_outdated');
    const { revision, revisionId, ...lists } = restoreView.parse((await send({ planHash })).body);
    const { revision: from, revisionId: _before, ...planned } = plan;
    expect({ revision, lists }).toEqual({ revision: from + 1, lists: planned });
    expect(revisionId).not.toBe(_before);
    expect([await valueOf('DB_HOST'), await valueOf('WEB'), await valueOf('WEB_LATER')]).toEqual(['1', '2', '1']);
  });
});

describe('with an Idempotency-Key', () => {
  test('a snapshot is made once, and its deletion is reported to a caller who asks again', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const made = await developer.send('POST', all, { name: 'once' }, headers);
    const again = await developer.send('POST', all, { name: 'once' }, headers);
    expect([made.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual(made.body);
    await expectProblem(developer.send('POST', all, { name: 'other' }, headers), 'idempotency_key_reused');
    const { snapshots } = snapshotListView.parse(await developer.expectStatus(200, 'GET', all));
    expect(snapshots).toHaveLength(1);
    await api.client(world.admin.token).expectStatus(204, 'DELETE', `${all}/${snapshots[0]?.id}`);
    await expectProblem(developer.send('POST', all, { name: 'once' }, headers), 'conflict');
  });

  test('a restore is done once, and answers again what it did', async () => {
    await set({ A: '1' });
    const snapshotId = await create();
    const headers = { 'idempotency-key': randomUUID() };
    const send = (body: object): ReturnType<HttpClient['send']> =>
      developer.send('POST', `${all}/restore`, { snapshotId, ...body }, headers);
    expect((await send({ dryRun: true })).status).toBe(200);
    const done = await send({});
    await set({ A: '2' });
    const again = await send({});
    expect(again.body).toEqual(done.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await valueOf('A')).toBe('2');
  });
});
