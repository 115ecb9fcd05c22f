import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ClusterCalls, clusterRule } from '../../support/api/cluster-calls.ts';
import { EventReader } from '../../support/api/event-reader.ts';
import { startTestApi, type TestApi } from '../../support/api/http.ts';
import { createWorldCalls, type WorldCalls } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { newHomeToken, registerCluster } from '../../support/database/cluster-credentials.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

/** The stream of changes that controllers read over HTTP. */

let api: TestApi;
let homeToken: string;
let world: WorldCalls['world'];
let calls: WorldCalls['calls'];
let clusters: ClusterCalls;
/** What a test has opened. */
let open: AsyncDisposableStack;
/** A home cluster that no other test uses. */
let home: string;

beforeAll(async () => {
  api = await startTestApi();
  api.services.feed.start();
  homeToken = await newHomeToken(api.services.database.pool);
});

afterAll(() => api.close());

beforeEach(async () => {
  open = new AsyncDisposableStack();
  home = `home-${randomUUID()}`;
  ({ world, calls } = await createWorldCalls(api.services));
  clusters = new ClusterCalls(api.services, world);
  await waitFor('the feed to hear', () => api.services.feed.ready);
});

afterEach(() => open.disposeAsync());

interface Sender {
  readonly cluster?: string;
  readonly token?: string;
  readonly process?: string;
  readonly url?: string;
}

function headersOf({ cluster = home, token = homeToken, process = randomUUID() }: Sender): Record<string, string> {
  return { authorization: `Bearer ${token}`, 'keyframe-cluster': cluster, 'keyframe-process': process };
}

function urlOf({ url = `http://127.0.0.1:${api.port}` }: Sender): string {
  return `${url}/api/v1/cluster/events`;
}

async function openReader(sender: Sender = {}): Promise<EventReader> {
  const reader = await EventReader.open(urlOf(sender), undefined, headersOf(sender));
  open.defer(() => reader.close());
  expect(await reader.nextAtOnce()).toEqual({ event: 'ready', id: undefined, data: {} });
  return reader;
}

async function statusOf(sender: Sender): Promise<readonly [number, string]> {
  const answer = await fetch(urlOf(sender), { headers: headersOf(sender) });
  const { detail } = (await answer.json()) as { readonly detail: string };
  return [answer.status, detail];
}

describe('a stream', () => {
  test('has what was committed, in the order of the commits, by ids only', async () => {
    const reader = await openReader();
    const ids: string[] = [];
    for (let number = 0; number < 20; number += 1) ids.push((await calls.put('KEY', `canary-${number}`)).revisionId);
    const events = await reader.take(20);
    expect(events.map(({ data }) => data)).toEqual(
      ids.map((revisionId) => ({
        kind: 'environment',
        organizationId: world.organization.id,
        environmentId: world.environment.id,
        revisionId,
      })),
    );
  });

  test('has nothing of organizations that allow the cluster nothing, and is ready again when one allows it', async () => {
    const remote = await registerCluster(api.services.database.pool, `remote-${randomUUID()}`);
    const reader = await openReader({ cluster: remote.name, token: remote.token() });
    await calls.put('KEY', '1');
    await clusters.set([clusterRule(world)], { cluster: remote.name });
    const [rules, ready] = await reader.take(2);
    expect(rules?.data).toMatchObject({ kind: 'cluster_rules', cluster: remote.name, version: 1 });
    expect(ready?.event).toBe('ready');
    const { revisionId } = await calls.put('KEY', '2');
    expect((await reader.nextAtOnce())?.data).toMatchObject({ kind: 'environment', revisionId });
  });

  test('is refused without the token of a cluster, a process or an accepted name', async () => {
    expect(await statusOf({ token: world.owner.token.reveal() })).toEqual([401, expect.stringContaining('a cluster')]);
    expect(await statusOf({ process: 'one' })).toEqual([400, expect.stringContaining('Keyframe-Process')]);
    const { name } = await registerCluster(api.services.database.pool, `remote-${randomUUID()}`);
    expect((await statusOf({ cluster: name }))[0]).toBe(401);
  });

  test('ends with the token that opened it, and the controller is asked for another one before', async () => {
    const remote = await registerCluster(api.services.database.pool, `remote-${randomUUID()}`);
    const now = Math.floor(Date.now() / 1000);
    // With the leeway of a minute, it is accepted for some seconds.
    const token = remote.token({ iat: now - 120, nbf: now - 120, exp: now - 56 });
    const reader = await openReader({ cluster: remote.name, token });
    expect((await reader.nextAtOnce())?.event).toBe('renew');
    expect(await reader.nextAtOnce()).toBeUndefined();
    expect((await statusOf({ cluster: remote.name, token }))[0]).toBe(401);
  });

  test('of a cluster that is disabled ends; the next one has only what is about the cluster', async () => {
    await prismaOf(api.services.database).servedCluster.create({ data: { name: home, isHome: true } });
    const reader = await openReader();
    await clusters.set([clusterRule(world)], { cluster: home });
    expect((await reader.nextAtOnce())?.data).toMatchObject({ kind: 'cluster_rules' });
    await clusters.disable(home);
    expect((await reader.nextAtOnce())?.data).toMatchObject({ kind: 'cluster', cluster: home, state: 'disabled' });
    expect(await reader.nextAtOnce()).toBeUndefined();
    const next = await openReader();
    await calls.put('KEY', '1');
    await clusters.enable(home);
    const [enabled, ready] = await next.take(2);
    expect(enabled?.data).toMatchObject({ kind: 'cluster', state: 'enabled' });
    expect(ready?.event).toBe('ready');
  });

  test('has a comment every 10 seconds', async () => {
    const reader = await openReader();
    const startedMs = performance.now();
    const waiting = reader.next();
    await waitFor('a comment', () => reader.comments > 0, { timeoutMs: 30_000 });
    expect(performance.now() - startedMs).toBeGreaterThan(8_000);
    await calls.put('KEY', '1');
    expect((await waiting)?.event).toBe('change');
  });

  test('counts in none of the limits of requests, and a process has two', async () => {
    const process = randomUUID();
    const readers = [await openReader({ process }), await openReader({ process }), await openReader({ process })];
    expect(await readers[0]?.nextAtOnce()).toBeUndefined();
    await calls.put('KEY', '1');
    expect((await readers[1]?.nextAtOnce())?.event).toBe('change');
    expect((await readers[2]?.nextAtOnce())?.event).toBe('change');
  });
});

test('a server that stops asks for another stream, and then ends them', async () => {
  const other = await startTestApi();
  other.services.feed.start();
  await waitFor('the feed to hear', () => other.services.feed.ready);
  const token = await newHomeToken(other.services.database.pool);
  const reader = await openReader({ url: `http://127.0.0.1:${other.port}`, token });
  other.services.clusterStreams.drain();
  expect((await reader.nextAtOnce())?.event).toBe('renew');
  expect(await statusOf({ url: `http://127.0.0.1:${other.port}`, token })).toEqual([
    503,
    expect.stringContaining('shutting down'),
  ]);
  const closed = other.close();
  expect(await reader.nextAtOnce()).toBeUndefined();
  await closed;
});
