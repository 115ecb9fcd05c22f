import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { routeTable } from '../../../src/http/routes/table.ts';
import { type HttpAnswer, type TestApi, expectProblem, startTestApi } from '../../support/api/http.ts';
import { type World, createUser, createWorld } from '../../support/api/services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let api: TestApi;
let world: World;
let place: string;
let prisma: ReturnType<typeof prismaOf>;

beforeAll(async () => {
  api = await startTestApi();
  world = await createWorld(api.services);
  prisma = prismaOf(api.services.database);
  place = `${world.slugs.organization}/web/prod`;
});

afterAll(() => api.close());

interface Sent {
  readonly path: string;
  readonly body: unknown;
  readonly key?: string;
  readonly token?: { reveal(): string };
}

function post({ path, body, key, token = world.owner.token }: Sent): Promise<HttpAnswer> {
  return api.client(token).send('POST', path, body, key === undefined ? {} : { 'idempotency-key': key });
}

async function put(key: string, value: string): Promise<void> {
  const answer = await api.client(world.owner.token).send('PUT', `/secrets/${place}/${key}`, { value });
  expect([200, 201]).toContain(answer.status);
}

async function versionsOf(key: string): Promise<number> {
  const { body } = await api.client(world.owner.token).send('GET', `/versions/${place}/${key}`);
  return (body as { versions: unknown[] }).versions.length;
}

async function newSnapshot(): Promise<string> {
  const { body } = await post({ path: `/snapshots/${place}`, body: {} });
  return (body as { id: string }).id;
}

/** Each operation that takes a key: what is sent, and how often it was done. */
const operations: Readonly<
  Record<string, () => Promise<{ sent: Sent; readonly done: () => Promise<number>; status: number }>>
> = {
  async 'creating a service token'() {
    const name = `ci-${randomUUID()}`;
    const sent = {
      path: `/service-tokens/${world.slugs.organization}`,
      body: { name, scope: 'organization', permission: 'read' },
    };
    return { sent, done: () => prisma.serviceToken.count({ where: { name } }), status: 201 };
  },
  async 'creating a snapshot'() {
    const name = `before-${randomUUID()}`;
    const sent = { path: `/snapshots/${place}`, body: { name } };
    return { sent, done: () => prisma.snapshot.count({ where: { name } }), status: 201 };
  },
  async 'rolling back'() {
    const key = `K_${randomUUID()}`;
    await put(key, 'a');
    const sent = { path: `/versions/${place}/${key}/rollback`, body: { targetVersion: 1 } };
    return { sent, done: async () => (await versionsOf(key)) - 1, status: 201 };
  },
  async restoring() {
    const key = `K_${randomUUID()}`;
    await put(key, 'a');
    const snapshotId = await newSnapshot();
    const before = await versionsOf(key);
    const sent = { path: `/snapshots/${place}/restore`, body: { snapshotId } };
    return { sent, done: async () => (await versionsOf(key)) - before, status: 200 };
  },
};

describe.each(Object.keys(operations))('%s under an Idempotency-Key', (name) => {
  const prepare = async (): ReturnType<(typeof operations)[string]> => {
    const operation = operations[name];
    if (operation === undefined) throw new Error(name);
    return operation();
  };

  test('is done once, and a repetition returns what exists with 200 and Idempotent-Replayed', async () => {
    const { sent, done, status } = await prepare();
    const key = randomUUID();
    const first = await post({ ...sent, key });
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([status, null]);
    const again = await post({ ...sent, key });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    const { token, ...made } = first.body as Record<string, unknown>;
    expect(again.body).toEqual(made);
    expect(typeof token).toBe(name === 'creating a service token' ? 'string' : 'undefined');
    expect(await done()).toBe(1);
  });

  test('without a key, or under another, is done again', async () => {
    const { sent, done } = await prepare();
    for (const key of [undefined, undefined, 'one', 'two'])
      await post({ ...sent, ...(key === undefined ? {} : { key }) });
    expect(await done()).toBe(4);
  });

  test('is done once of many at once, and all get the same', async () => {
    const { sent, done } = await prepare();
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 6 }, () => post({ ...sent, key })));
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1);
    const bodies = answers.map(({ body }) => JSON.stringify({ ...(body as object), token: undefined }));
    expect(new Set(bodies).size).toBe(1);
    expect(await done()).toBe(1);
  });

  test('with another body is refused', async () => {
    const { sent, done } = await prepare();
    const key = randomUUID();
    await post({ ...sent, key });
    const others: Record<string, unknown> = { name: 'other', comment: 'other', prune: true };
    const field = ['creating a service token', 'creating a snapshot'].includes(name) ? 'name' : 'comment';
    const body = { ...(sent.body as object), [field]: others[field] };
    await expectProblem(post({ ...sent, body, key }), 'idempotency_key_reused');
    expect(await done()).toBe(1);
  });

  test('is authorised and audited again, and the key of one caller is not that of another', async () => {
    const { sent, done } = await prepare();
    const key = randomUUID();
    await post({ ...sent, key });
    const other = await createUser(api.services);
    const membership = { organizationId: world.organization.id, userId: other.id };
    await prisma.membership.create({ data: { ...membership, role: 'admin' } });
    expect((await post({ ...sent, key, token: other.token })).headers.has('idempotent-replayed')).toBe(false);
    expect((await post({ ...sent, key, token: other.token })).headers.get('idempotent-replayed')).toBe('true');
    const entry = await prisma.auditEntry.findFirstOrThrow({ where: { actorId: other.id }, orderBy: { id: 'desc' } });
    const id = { 'creating a service token': 'serviceTokenId', 'rolling back': 'version' }[name] ?? 'snapshotId';
    expect(entry).toMatchObject({ outcome: 'success', target: { replayed: true, [id]: expect.anything() } });
    await prisma.membership.update({ where: { organizationId_userId: membership }, data: { role: 'viewer' } });
    await expectProblem(post({ ...sent, key, token: other.token }), 'forbidden');
    await prisma.membership.delete({ where: { organizationId_userId: membership } });
    await expectProblem(post({ ...sent, key, token: other.token }), 'not_found');
    expect(await done()).toBe(2);
  });

  test('that fails leaves the key free', async () => {
    const { sent, done, status } = await prepare();
    const key = randomUUID();
    const absent = randomUUID();
    const wrong = {
      'creating a service token': { ...(sent.body as object), scope: 'project', projectId: absent },
      'creating a snapshot': { name: '' },
      'rolling back': { targetVersion: 999 },
      restoring: { snapshotId: absent },
    }[name];
    expect((await post({ ...sent, body: wrong, key })).status).toBeGreaterThanOrEqual(400);
    expect((await post({ ...sent, key })).status).toBe(status);
    expect(await done()).toBe(1);
  });

  test('a day later is done again', async () => {
    const { sent, done, status } = await prepare();
    const key = randomUUID();
    await post({ ...sent, key });
    await prisma.$executeRaw`UPDATE idempotency_record SET created_at = created_at - interval '23 hours 50 minutes' WHERE key = ${key}`;
    expect((await post({ ...sent, key })).headers.get('idempotent-replayed')).toBe('true');
    await prisma.$executeRaw`UPDATE idempotency_record SET created_at = created_at - interval '11 minutes' WHERE key = ${key}`;
    expect([(await post({ ...sent, key })).status, await done()]).toEqual([status, 2]);
  });
});

test('the record of a key holds no token and no value', async () => {
  const [key, value] = [randomUUID(), `canary-${randomUUID()}`];
  await put('CANARY', value);
  const body = { name: 'x', scope: 'organization', permission: 'read' };
  const made = await post({ path: `/service-tokens/${world.slugs.organization}`, body, key });
  await post({ path: `/versions/${place}/CANARY/rollback`, body: { targetVersion: 1 }, key });
  const snapshotId = await newSnapshot();
  await post({ path: `/snapshots/${place}/restore`, body: { snapshotId }, key });
  const records = await prisma.idempotencyRecord.findMany({ where: { key } });
  expect(records).toHaveLength(3);
  const text = JSON.stringify(records);
  expect(text).not.toContain((made.body as { token: string }).token);
  expect(text).not.toContain(value);
  expect(text).not.toContain(Buffer.from(value).toString('base64'));
});

test('one key serves different operations and different targets', async () => {
  const key = randomUUID();
  const creation = await world.onProject(world.owner.caller, 'environment.create');
  await api.services.environments.create(creation, { slug: 'second' });
  for (const path of [`/snapshots/${place}`, `/snapshots/${world.slugs.organization}/web/second`]) {
    expect((await post({ path, body: {}, key })).status).toBe(201);
  }
});

test('one key for two secrets of an environment is refused', async () => {
  const key = randomUUID();
  for (const name of ['ONE', 'OTHER']) await put(name, 'x');
  const body = { targetVersion: 1 };
  expect((await post({ path: `/versions/${place}/ONE/rollback`, body, key })).status).toBe(201);
  await expectProblem(post({ path: `/versions/${place}/OTHER/rollback`, body, key }), 'idempotency_key_reused');
});

test('a repetition whose snapshot was deleted says so, and another key makes another', async () => {
  const key = randomUUID();
  const { body } = await post({ path: `/snapshots/${place}`, body: {}, key });
  const { id } = body as { id: string };
  await api.client(world.owner.token).expectStatus(204, 'DELETE', `/snapshots/${place}/${id}`);
  const problem = await expectProblem(post({ path: `/snapshots/${place}`, body: {}, key }), 'conflict');
  expect(problem.detail).toBe(
    'the snapshot that was made under this Idempotency-Key no longer exists; to make another, use a new key',
  );
  expect((await post({ path: `/snapshots/${place}`, body: {}, key: randomUUID() })).status).toBe(201);
});

test('a repetition of a token that was revoked answers its record as it is now', async () => {
  const key = randomUUID();
  const sent = {
    path: `/service-tokens/${world.slugs.organization}`,
    body: { name: 'x', scope: 'organization', permission: 'read' },
    key,
  };
  const { id } = (await post(sent)).body as { id: string };
  await api.client(world.owner.token).expectStatus(204, 'DELETE', `/service-tokens/${world.slugs.organization}/${id}`);
  expect((await post(sent)).body).toMatchObject({ id, revokedAt: expect.any(String) });
});

test('a malformed key is refused', async () => {
  for (const key of ['', 'a b', 'x'.repeat(256)]) {
    await expectProblem(post({ path: `/snapshots/${place}`, body: {}, key }), 'malformed_request');
  }
});

test('where it does nothing the header is refused, after the caller is known and allowed', async () => {
  const headers = { 'idempotency-key': 'x' };
  const client = api.client(world.owner.token);
  for (const [method, path] of [
    ['GET', '/me'],
    ['GET', `/snapshots/${place}`],
    ['PUT', `/secrets/${place}/X`],
    ['PATCH', `/secrets/${place}`],
    ['DELETE', `/secrets/${place}/X`],
    ['POST', `/projects/${world.slugs.organization}`],
  ] as const) {
    const problem = await expectProblem(client.send(method, path, undefined, headers), 'malformed_request');
    expect(problem.detail).toContain('Idempotency-Key is supported only to create snapshots and service tokens');
  }
  const stranger = api.client(world.stranger.token);
  await expectProblem(stranger.send('PUT', `/secrets/${place}/X`, undefined, headers), 'not_found');
});

test('the routes that take it are the seven that say so', () => {
  const taking = routeTable.filter(({ input }) => input.idempotencyKey === true).map(({ action }) => action);
  expect(taking.toSorted()).toEqual([
    'change.revert',
    'environment.copy',
    // In an organization, and in a project.
    'service_token.create',
    'service_token.create',
    'snapshot.create',
    'snapshot.restore',
    'version.rollback',
  ]);
});

test('records older than a day go in passing, some at a time', async () => {
  const template = { organizationId: world.organization.id, targetId: randomUUID(), action: 'old' };
  const createdAt = new Date(Date.now() - 25 * 3_600_000);
  await prisma.idempotencyRecord.createMany({
    data: Array.from({ length: 50 }, (_, index) => ({
      ...template,
      actorId: world.owner.id,
      key: String(index),
      requestHash: Buffer.alloc(32),
      result: {},
      createdAt,
    })),
  });
  const left = (): Promise<number> => prisma.idempotencyRecord.count({ where: { action: 'old' } });
  for (const expected of [30, 10, 0, 0]) {
    await post({ path: `/snapshots/${place}`, body: {}, key: randomUUID() });
    expect(await left()).toBe(expected);
  }
  expect(await prisma.idempotencyRecord.count()).toBeGreaterThan(0);
});
