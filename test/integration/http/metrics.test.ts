import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { routeTable } from '../../../src/http/routes/table.ts';
import { growingTables } from '../../../src/store/database-size.ts';
import { type TestApi, startTestApi } from '../../support/api/http.ts';
import { type World, createWorld } from '../../support/api/services.ts';
import { nonEmpty } from '../../support/fixtures/non-empty.ts';

let api: TestApi;
let world: World;

beforeAll(async () => {
  api = await startTestApi({ rateLimits: { requests: 100_000, failedAuthentications: 2, trafficBytes: 0 } });
  world = await createWorld(api.services);
});

afterAll(() => api.close());

/** All values of a label in the exposition. */
function labelValues(text: string, label: string): Set<string> {
  return new Set([...text.matchAll(new RegExp(`[{,]${label}="([^"]*)"`, 'g'))].map(([, value = '']) => value));
}

test('after requests with names of every kind the metrics hold none of them', async () => {
  const mark = `canary-${randomUUID().slice(0, 8)}`;
  const client = api.client(world.owner.token);
  const { organization } = world.slugs;
  await client.send('POST', `/projects/${organization}`, { slug: mark, displayName: mark });
  await client.send('PUT', `/secrets/${organization}/web/prod/${mark}`, { value: mark, comment: mark });
  await client.send('GET', `/secrets/${organization}/web/prod/${mark}`);
  await client.send('POST', `/service-tokens/${organization}`, {
    name: mark,
    scope: 'organization',
    permission: 'read',
  });
  for (const path of [
    `/${mark}`,
    `/me?${mark}=${mark}`,
    `/projects/${mark}`,
    `/versions/${organization}/${mark}/x/y`,
  ]) {
    await client.send('GET', path, undefined, { 'user-agent': mark, 'x-forwarded-for': mark });
  }
  await client.request('PROPFIND', `/${mark}`);
  await client.request('M-SEARCH', `/healthz`);
  for (let count = 0; count < 4; count += 1) await api.client({ reveal: () => mark }).send('GET', '/me');
  const text = await api.metrics.render();
  // The requests above are counted.
  const counted = [...labelValues(text, 'route')];
  expect(counted).toEqual(expect.arrayContaining(['/api/v1/projects/{org}', '/api/v1/me', 'unmatched']));
  expect(text).not.toContain(mark);
  for (const name of [organization, world.owner.email, world.owner.id, world.organization.id]) {
    expect(text).not.toContain(name);
  }
});

test('each label has a value of a list that is known beforehand', async () => {
  const text = await api.metrics.render();
  const routes = routeTable.map(({ path }) => `/api/v1${path}`);
  for (const route of nonEmpty(labelValues(text, 'route')))
    expect([...routes, '/healthz', '/readyz', 'unmatched']).toContain(route);
  for (const method of labelValues(text, 'method')) {
    expect(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'other']).toContain(method);
  }
  expect([...labelValues(text, 'method')]).toContain('other');
  for (const status of nonEmpty(labelValues(text, 'status'))) expect(status).toMatch(/^[1-5][0-9]{2}$/);
  expect(labelValues(text, 'pool')).toEqual(new Set(['reads', 'transactions']));
  expect(labelValues(text, 'fault')).toEqual(new Set(['malformed']));
  expect(labelValues(text, 'limit')).toEqual(new Set(['address']));
  expect(labelValues(text, 'table')).toEqual(new Set(growingTables));
  const ofRequests = ['route', 'method', 'status', 'fault', 'limit'];
  const known = [...ofRequests, 'pool', 'state', 'table', 'le', 'kind', 'result', 'operation'];
  const own = text.split('\n').filter((line) => line.startsWith('keyframe_'));
  const labels = own.flatMap((line) => [...line.matchAll(/[{,]([a-z_]+)="/g)].map(([, label]) => label));
  for (const label of nonEmpty(new Set(labels))) expect(known).toContain(label);
});

test('the size of the database and of the tables that grow is read from it', async () => {
  const text = await api.metrics.render();
  const size = Number(/^keyframe_database_size_bytes (\d+)$/m.exec(text)?.[1]);
  expect(size).toBeGreaterThan(1_000_000);
  for (const table of nonEmpty(growingTables)) {
    const line = new RegExp(`^keyframe_database_table_size_bytes\\{table="${table}"\\} (\\d+)$`, 'm').exec(text);
    expect([table, Number(line?.[1]) > 0]).toEqual([table, true]);
    expect(text).toMatch(new RegExp(`^keyframe_database_table_rows\\{table="${table}"\\} \\d+$`, 'm'));
  }
});

test('requests, both pools, the audit queue and streams are there', async () => {
  const text = await api.metrics.render();
  for (const line of [
    /^keyframe_http_request_duration_seconds_count\{method="PUT",route="\/api\/v1\/secrets\/\{org\}\/\{project\}\/\{env\}\/\{key\}",status="201"\} 1$/m,
    /^keyframe_database_pool_connections\{pool="transactions",state="waited_for"\} 0$/m,
    /^keyframe_audit_queue_length 0$/m,
    /^keyframe_change_streams 0$/m,
  ]) {
    expect(text).toMatch(line);
  }
});
