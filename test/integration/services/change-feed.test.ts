import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../../../src/observability/logger.ts';
import type { ChangeEvent } from '../../../src/domain/changes.ts';
import { ChangeFeed } from '../../../src/services/changes/change-feed.ts';
import { ClusterChanges } from '../../../src/services/cluster/changes.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { Listener } from '../../../src/store/listener.ts';
import { notifyEnvironment } from '../../../src/store/notify.ts';
import { inTransaction } from '../../../src/store/transaction.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { PostgresProxy, runs } from '../../support/faults/postgres-proxy.ts';
import { StoreFixtures } from '../../support/database/store-fixtures.ts';

const logger = createLogger('silent');
let server: TestDatabase;
let proxy: PostgresProxy;
let database: Database;
let changes: ChangeFeed;
let asked: ClusterChanges;
let fixtures: StoreFixtures;

beforeEach(async () => {
  server = await createTestDatabase();
  proxy = await PostgresProxy.start(server.url);
  database = openDatabase({ url: proxy.url, poolSize: 4 });
  fixtures = new StoreFixtures(database.pool);
  const listener = new Listener({ url: proxy.url, logger });
  changes = new ChangeFeed({ listener, logger });
  asked = new ClusterChanges({ database, feed: changes, logger, cluster: () => 'test' });
});

afterEach(async () => {
  await changes.close();
  await proxy.close();
  await database.close();
  await server.drop();
});

/** A subscriber that remembers. */
function subscriber(): { heard: (ChangeEvent | 'ready')[]; onEvent(event: ChangeEvent): void; onReady(): void } {
  const heard: (ChangeEvent | 'ready')[] = [];
  return { heard, onEvent: (event) => void heard.push(event), onReady: () => void heard.push('ready') };
}

async function until(condition: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 60_000; !condition(); await sleep(5)) {
    if (Date.now() > deadline) throw new Error('it did not happen in time');
  }
}

async function commit(): Promise<ChangeEvent> {
  const [ids, revisionId] = [{ organizationId: randomUUID(), environmentId: randomUUID() }, randomUUID()];
  await inTransaction(database, (tx) => notifyEnvironment(tx, ids, revisionId));
  return { kind: 'environment', ...ids, revisionId };
}

describe('subscribers of the change feed', () => {
  test('get when it is ready, then each commit; one that comes later gets at once that it is ready', async () => {
    const [first, late] = [subscriber(), subscriber()];
    changes.subscribe(first);
    changes.start();
    await until(() => first.heard.length === 1);
    expect(first.heard).toEqual(['ready']);
    expect(changes.ready).toBe(true);
    changes.subscribe(late);
    expect(late.heard).toEqual([]);
    const event = await commit();
    await until(() => first.heard.length === 2 && late.heard.length === 2);
    expect(first.heard).toEqual(['ready', event]);
    expect(late.heard).toEqual(['ready', event]);
  });

  test('are reported that it is ready again after each loss, and in between it says it is not', async () => {
    const listening = subscriber();
    changes.subscribe(listening);
    changes.start();
    await until(() => listening.heard.length === 1);
    const held = proxy.hold(runs(/LISTEN/));
    proxy.kill(proxy.listeners('keyframe'));
    await held.arrived();
    expect(changes.ready).toBe(false);
    held.release();
    await until(() => listening.heard.length === 2);
    expect(listening.heard).toEqual(['ready', 'ready']);
    expect(changes.ready).toBe(true);
  });

  test('one that throws keeps no other from hearing, and one that left hears nothing more', async () => {
    const [listening, gone] = [subscriber(), subscriber()];
    changes.subscribe({
      onEvent: () => {
        throw new Error('event');
      },
      onReady: () => {
        throw new Error('ready');
      },
    });
    changes.subscribe(listening);
    const leave = changes.subscribe(gone);
    changes.start();
    await until(() => listening.heard.length === 1);
    leave();
    const event = await commit();
    await until(() => listening.heard.length === 2);
    expect(listening.heard).toEqual(['ready', event]);
    expect(gone.heard).toEqual(['ready']);
  });
});

describe('comparing', () => {
  test('gives the revision of each environment that exists and each live credential of a service token, by one statement', async () => {
    const places = [await fixtures.environment(), await fixtures.environment(), await fixtures.environment()] as const;
    const [kept, deleted, orphaned] = places;
    const live = await fixtures.serviceToken({ organizationId: kept.organizationId });
    const revoked = await fixtures.serviceToken({ organizationId: kept.organizationId });
    const expired = await fixtures.serviceToken({ organizationId: kept.organizationId, expiresInSeconds: -1 });
    const underDeleted = await fixtures.serviceToken({ organizationId: orphaned.organizationId });
    const person = await fixtures.personalToken();
    const disabled = await fixtures.personalToken();
    await database.pool.query('UPDATE environment SET deleted_at = now() WHERE id = $1', [deleted.environmentId]);
    await database.pool.query('UPDATE organization SET deleted_at = now() WHERE id = $1', [orphaned.organizationId]);
    await database.pool.query('UPDATE service_token SET revoked_at = now() WHERE id = $1', [revoked.principal.id]);
    await database.pool.query('UPDATE app_user SET disabled_at = now() WHERE id = $1', [disabled.principal.id]);
    const before = proxy.count(({ type }) => type === 'Execute' || type === 'Query');
    const tokens = [live, revoked, expired, underDeleted, person, disabled];
    const state = await asked.compare({
      environmentIds: [...places.map(({ environmentId }) => environmentId), randomUUID()],
      credentialIds: [...tokens.map(({ credentialId }) => credentialId), randomUUID()],
    });
    expect(state.environments).toEqual(new Map([[kept.environmentId, kept.revisionId]]));
    expect(state.liveCredentials).toEqual(new Set([live.credentialId]));
    expect(proxy.count(({ type }) => type === 'Execute' || type === 'Query')).toBe(before + 1);
  });

  test('a deleted project takes its environments and its tokens along', async () => {
    const { organizationId, projectId, environmentId } = await fixtures.environment();
    const token = await fixtures.serviceToken({ organizationId, projectId });
    await database.pool.query('UPDATE project SET deleted_at = now() WHERE id = $1', [projectId]);
    const state = await asked.compare({ environmentIds: [environmentId], credentialIds: [token.credentialId] });
    expect(state).toMatchObject({
      environments: new Map(),
      liveCredentials: new Set(),
      liveTokens: new Set(),
      kept: new Set(),
    });
  });

  test('nothing gives nothing, and without the database it is store_unavailable and no empty answer', async () => {
    const nothing = { environments: new Map(), liveCredentials: new Set(), liveTokens: new Set(), kept: new Set() };
    expect(await asked.compare({})).toEqual({ ...nothing, clusterState: 'enabled', clusterRules: new Map() });
    proxy.refuse();
    proxy.kill();
    await expect(asked.compare({ environmentIds: [randomUUID()] })).rejects.toMatchObject({
      code: 'store_unavailable',
    });
  });
});
