import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type TestApi, startTestApi } from '../../support/api/http.ts';
import { createWorld } from '../../support/api/services.ts';

let api: TestApi;

beforeAll(async () => {
  const growthLimits = { environmentBytesPerDay: 0, callerBytesPerDay: 2000, snapshotsPerEnvironment: 1 };
  api = await startTestApi({}, { growthLimits });
});

afterAll(() => api.close());

test('a caller who wrote a day’s bytes is answered 429 with Retry-After, and a snapshot too many 409', async () => {
  const world = await createWorld(api.services);
  const place = `${world.slugs.organization}/web/prod`;
  const developer = api.client(world.developer.token);
  await developer.expectStatus(201, 'PUT', `/secrets/${place}/KEY`, { value: 'x'.repeat(2000) });
  const refused = await developer.send('PUT', `/secrets/${place}/OTHER`, { value: 'x' });
  expect(refused.status).toBe(429);
  expect(refused.body).toMatchObject({ code: 'limit_exceeded', detail: expect.stringContaining('this caller') });
  const seconds = Number(refused.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(20_000);
  expect(seconds).toBeLessThan(30_000);
  await developer.expectStatus(200, 'GET', `/secrets/${place}/KEY`);
  const admin = api.client(world.admin.token);
  await admin.expectStatus(201, 'POST', `/snapshots/${place}`, {});
  const tooMany = await admin.send('POST', `/snapshots/${place}`, {});
  expect([tooMany.status, tooMany.body]).toMatchObject([409, { code: 'quota_exceeded' }]);
});
