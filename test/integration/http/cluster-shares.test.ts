import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ClusterCalls, clusterRule } from '../../support/api/cluster-calls.ts';
import { HttpClient, startTestApi, type TestApi } from '../../support/api/http.ts';
import { createWorld, type World } from '../../support/api/services.ts';
import { ruleFor } from '../../support/api/token-resource.ts';
import { registerCluster, type RemoteCluster } from '../../support/database/cluster-credentials.ts';
import { LockSession } from '../../support/database/locks.ts';

/** How much of what all share one cluster uses (docs/internals/limits.md). */

let api: TestApi;
let world: World;
let busy: RemoteCluster;
let other: RemoteCluster;

// Ten connections for reads, of which a cluster has three.
const poolSize = 20;
const itemsOfRequest = 250;

beforeAll(async () => {
  api = await startTestApi({}, { poolSize });
  const { pool } = api.services.database;
  world = await createWorld(api.services);
  busy = await registerCluster(pool, 'busy');
  other = await registerCluster(pool, 'other');
  const calls = new ClusterCalls(api.services, world);
  for (const { name } of [busy, other]) await calls.set([clusterRule(world)], { cluster: name });
});

afterAll(() => api.close());

async function post(cluster: RemoteCluster, path: string, body: unknown): Promise<unknown> {
  const headers = { 'keyframe-cluster': cluster.name, 'keyframe-process': randomUUID() };
  const client = new HttpClient(`http://127.0.0.1:${api.port}`, cluster.token());
  return (await client.send('POST', `/cluster/${path}`, body, headers)).body;
}

/** Reads of SecretSyncs that all find the newest state of the world's environment. */
function reads(): unknown {
  const grants = [ruleFor(world, { permission: 'read', kinds: ['SecretSync'] })];
  const sources = [{ slugs: world.slugs, credential: 'keyless', state: 'newest' }];
  const items = Array.from({ length: itemsOfRequest }, (_, index) => ({
    asker: { namespace: 'team-a', name: `sync-${index}`, uid: randomUUID(), requestId: randomUUID() },
    sources,
    maxKeys: 10,
  }));
  return { namespaces: [{ namespace: 'team-a', grants }], items };
}

test('a cluster with a thousand reads that wait for the database leaves connections to others', async () => {
  const session = await LockSession.begin(api.database.url);
  // What each read waits for once it was admitted.
  await session.run('LOCK TABLE secret IN ACCESS EXCLUSIVE MODE', []);
  const waiting = Array.from({ length: 4 }, () => post(busy, 'reads', reads()));
  await session.waitForBlocked(3);
  const { status } = await api.client(world.viewer.token).send('GET', '/me');
  const reported = await post(other, 'sync-states/reported', { after: null });
  const blocked = await session.rows<{ blocked: number }>(
    `SELECT count(*)::int AS blocked FROM pg_locks WHERE NOT granted AND relation = 'secret'::regclass`,
  );
  await session.commit();
  expect({ status, reported, blocked }).toMatchObject({
    status: 200,
    reported: { result: {} },
    blocked: [{ blocked: 3 }],
  });
  const outcomes = (await Promise.all(waiting)) as { result: { items: { outcome: string }[] } }[];
  expect(outcomes.flatMap(({ result }) => result.items).map(({ outcome }) => outcome)).toContain('read');
});
