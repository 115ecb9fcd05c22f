import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { type TestApi, expectProblem, startTestApi } from '../../support/api/http.ts';
import { type World, createWorld } from '../../support/api/services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

const mebibyte = 1024 * 1024;
const kibibyte = 1024;
const envBytes = 600 * kibibyte;
const detail =
  /^this user or service token has sent and read too many bytes within a minute; try again in [1-9][0-9]? seconds$/;
let api: TestApi;
let world: World;
let path: string;

beforeAll(async () => {
  api = await startTestApi({ rateLimits: { requests: 0, failedAuthentications: 0, trafficBytes: mebibyte } });
  world = await createWorld(api.services);
  path = `/secrets/${world.slugs.organization}/web/prod`;
  // Past the API, so that the owner has all of their traffic.
  const write = await world.onEnvironment(world.owner.caller, 'secret.write');
  const value = new Plaintext('x'.repeat(envBytes / 3));
  await api.services.secrets.patch(write, { set: new Map(['A', 'B', 'C'].map((key) => [key, value])) });
});

afterAll(() => api.close());

async function refusedForTraffic(): Promise<number> {
  const name = 'keyframe_rate_limited_requests_total{limit="traffic"}';
  const line = (await api.metrics.render()).split('\n').find((text) => text.startsWith(name));
  return Number(line?.split(' ').at(-1) ?? 0);
}

/** Lists of secrets begin when so many are authorised, so that none of them was refused at its start. */
function letInTogether(count: number): () => void {
  const { secrets } = api.services;
  const list = secrets.list.bind(secrets);
  const allIn = Promise.withResolvers<void>();
  let waiting = 0;
  secrets.list = async (...args) => {
    waiting += 1;
    if (waiting === count) allIn.resolve();
    await allIn.promise;
    return list(...args);
  };
  return () => void (secrets.list = list);
}

test('answers use up the traffic of their caller: then 429 for every request, and others go on', async () => {
  const before = await refusedForTraffic();
  const viewer = api.client(world.viewer.token);
  for (let count = 0; count < 2; count += 1) expect((await viewer.send('GET', path)).status).toBe(200);
  const answer = await viewer.send('GET', path);
  const refused = await expectProblem(Promise.resolve(answer), 'limit_exceeded');
  expect([refused.status, refused.detail]).toEqual([429, expect.stringMatching(detail)]);
  const seconds = Number(answer.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(60);
  await expectProblem(viewer.send('GET', '/me'), 'limit_exceeded');
  expect(await refusedForTraffic()).toBe(before + 2);
  expect((await api.client(world.owner.token).send('GET', '/me')).status).toBe(200);
  // What the controller calls has no such limit.
  const list = await world.onEnvironment(world.viewer.caller, 'secret.list');
  expect((await api.services.secrets.list(list, {})).secrets).toHaveLength(3);
});

test('so do bodies, and all tokens of a person count together', async () => {
  const { token } = world.developer;
  const developer = api.client(token);
  const made = await developer.expectStatus<{ token: string }>(201, 'POST', '/personal-tokens', {
    name: 'another',
  });
  const other = api.client({ reveal: () => made.token });
  // Its value is not of JSON's type, so nothing is written, and its bytes count all the same.
  const body = { value: 17, padding: 'x'.repeat(600 * kibibyte) };
  for (const each of [developer, other]) await expectProblem(each.send('PUT', `${path}/D`, body), 'invalid_input');
  for (const each of [developer, other]) {
    const refused = await expectProblem(each.send('PUT', `${path}/D`, { value: 'small' }), 'limit_exceeded');
    expect(refused.detail).toMatch(detail);
  }
});

test('large reads that wait for their turn are refused before their values are decrypted', async () => {
  const { token, id } = await world.serviceToken();
  const client = api.client(token);
  const reads = 12;
  const withdraw = letInTogether(reads);
  const statuses = await Promise.all(
    Array.from({ length: reads }, async () => (await client.send('GET', path)).status),
  ).finally(withdraw);
  const served = statuses.filter((status) => status === 200).length;
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  // Two are read at once: both may begin below the limit, and together they exceed it.
  expect(served).toBe(2);
  const where = { actorId: id, action: 'secret.list', outcome: 'success' } as const;
  expect(await prismaOf(api.services.database).auditEntry.count({ where })).toBe(served);
});

test('the request that exceeds the limit is done and answered', async () => {
  const { token } = await world.serviceToken();
  const client = api.client(token);
  const set = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`E${index}`, 'y'.repeat(200 * kibibyte)]));
  expect((await client.send('PATCH', path, { set })).status).toBe(200);
  await expectProblem(client.send('GET', '/me'), 'limit_exceeded');
});
