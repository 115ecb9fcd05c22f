import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type HttpClient, type TestApi, expectProblem, startTestApi } from '../../support/api/http.ts';
import { type World, createWorld } from '../../support/api/services.ts';

let api: TestApi;
let world: World;
let owner: HttpClient;
let secrets: string;

beforeAll(async () => {
  api = await startTestApi();
  world = await createWorld(api.services);
  owner = api.client(world.owner.token);
  secrets = `/secrets/${world.slugs.organization}/web/prod`;
  await owner.expectStatus(201, 'PUT', `${secrets}/A`, { value: 'kept' });
});

afterAll(() => api.close());

const stale = '"00000000-0000-0000-0000-000000000000"';

// A caller who sends one counts on it: done without it, the change would overwrite what the caller has never seen.
test.each([
  { method: 'PUT', path: '/A', body: { value: 'lost' }, condition: { 'if-match': stale } },
  { method: 'PUT', path: '/A', body: { value: 'lost' }, condition: { 'if-none-match': '*' } },
  { method: 'PATCH', path: '', body: { set: { A: 'lost' } }, condition: { 'if-match': stale } },
  {
    method: 'PATCH',
    path: '',
    body: { set: { A: 'lost' } },
    condition: { 'if-unmodified-since': 'Sat, 21 Nov 2026 10:00:00 GMT' },
  },
  { method: 'DELETE', path: '/A', body: undefined, condition: { 'if-match': stale } },
])('$method with $condition is refused and changes nothing', async ({ method, path, body, condition }) => {
  const { detail } = await expectProblem(owner.send(method, secrets + path, body, condition), 'malformed_request');
  expect(detail).toMatch(/^changes do not support If-Match, If-None-Match or If-Unmodified-Since/);
  expect(await owner.expectStatus(200, 'GET', `${secrets}/A`)).toMatchObject({ value: 'kept', version: 1 });
});

test('a caller who may not make a change is refused for that, whatever the condition', async () => {
  const viewer = api.client(world.viewer.token);
  await expectProblem(viewer.send('DELETE', `${secrets}/A`, undefined, { 'if-match': stale }), 'forbidden');
});
