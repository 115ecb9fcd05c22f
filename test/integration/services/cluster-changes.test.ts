import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { QueryConfig } from 'pg';
import { connectLocally } from '../../../src/compose/local-backend.ts';
import type { ChangeEvent, PresentState, StateQuestion } from '../../../src/domain/changes.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { ClusterPorts } from '../../../src/services/cluster/cluster-port.ts';
import { notifyCluster, notifyUsers } from '../../../src/store/notify.ts';
import { inTransaction } from '../../../src/store/transaction.ts';
import { ClusterCalls, clusterRule } from '../../support/api/cluster-calls.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import type { SnapshotCalls } from '../../support/api/snapshot-calls.ts';
import { createWorldCalls, withWorlds } from '../../support/api/with-services.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

/** What a cluster can know of commits: nothing of an organization that allows it nothing. */

let services: TestServices;
let world: World;
let calls: SecretCalls;
let snapshots: SnapshotCalls;
let clusters: ClusterCalls;
let cluster: string;
let leave: (() => void) | undefined;

withWorlds((given) => ({ services, world, calls, snapshots } = given));

beforeEach(async () => {
  clusters = new ClusterCalls(services, world);
  cluster = await clusters.addRemote();
  services.feed.start();
  await waitFor('the feed to hear', () => services.feed.ready);
});

afterEach(() => leave?.());

/** What the cluster hears from now on. */
async function listen({
  name = () => cluster,
  ...parts
}: { name?: () => string } & Partial<Pick<TestServices, 'database' | 'logger'>> = {}): Promise<
  (ChangeEvent['kind'] | 'ready')[]
> {
  // The notifications of the world may still be under way.
  await settle();
  const heard: (ChangeEvent['kind'] | 'ready')[] = [];
  const clusterPorts = new ClusterPorts({ ...services, ...parts });
  leave = connectLocally({ clusterPorts })(name).changes.subscribe({
    onEvent: ({ kind }) => void heard.push(kind),
    onReady: () => void heard.push('ready'),
  });
  await waitFor('the first answer', () => heard.length > 0);
  return heard;
}

/** Waits until everything committed so far was heard, by a change of the state of another cluster that no cluster hears. */
async function settle(): Promise<void> {
  let isHeard = false;
  const other = await clusters.addRemote();
  const stop = services.feed.subscribe({
    onEvent: (event) => void (isHeard ||= event.kind === 'cluster' && event.cluster === other),
    onReady: () => undefined,
  });
  await clusters.disable(other);
  await waitFor('all that was committed', () => isHeard);
  stop();
}

/** Makes the cluster a home cluster, or one that is none, as a later release does. */
async function becomes({ isHome }: { isHome: boolean }): Promise<void> {
  await inTransaction(services.database, async (tx) => {
    await tx.run`UPDATE served_cluster SET is_home = ${isHome} WHERE name = ${cluster}`;
    await notifyCluster(tx, { name: cluster, isHome }, 'enabled');
  });
}

/** All ids of the world that a cluster can ask about. */
async function allIds(): Promise<StateQuestion> {
  const { revisionId } = await calls.put('KEY', '1');
  const token = await world.serviceToken();
  const { principal } = token.caller;
  return {
    environmentIds: [world.environment.id],
    credentialIds: 'credentialId' in principal ? [principal.credentialId] : [],
    serviceTokenIds: [token.id],
    keptIds: [revisionId, (await snapshots.create()).id],
    rulesOf: [world.organization.id],
  };
}

async function compared(asked: StateQuestion, name = cluster): Promise<PresentState> {
  return connectLocally(services)(() => name).changes.compare(asked);
}

/** How many of the ids exist, as compared. */
function countOf({ environments, liveCredentials, liveTokens, kept }: PresentState): number[] {
  return [environments.size, liveCredentials.size, liveTokens.size, kept.size];
}

const all = [1, 1, 1, 2];
const none = [0, 0, 0, 0];

describe('a comparison by a cluster', () => {
  test('is of organizations that allow the cluster something', async () => {
    const asked = await allIds();
    expect(countOf(await compared(asked))).toEqual(none);
    await clusters.set([clusterRule(world)], { cluster });
    expect(countOf(await compared(asked))).toEqual(all);
    await clusters.set([], { cluster });
    const present = await compared(asked);
    expect([countOf(present), present.clusterRules.get(world.organization.id)]).toEqual([none, 2]);
    await clusters.set(null, { cluster });
    expect(countOf(await compared(asked))).toEqual(none);
  });

  test('is of all organizations that set no rules for a home cluster', async () => {
    const asked = await allIds();
    expect(countOf(await compared(asked, `home-${randomUUID()}`))).toEqual(all);
  });

  test.each(['disable', 'forget'] as const)('has nothing after %s', async (end) => {
    const asked = await allIds();
    await clusters.set([clusterRule(world)], { cluster });
    await clusters[end](cluster);
    expect(countOf(await compared(asked))).toEqual(none);
    await clusters.enable(cluster);
    expect(countOf(await compared(asked))).toEqual(all);
  });

  test('has nothing of personal tokens', async () => {
    const { principal } = world.owner.caller;
    const credentialIds = 'credentialId' in principal ? [principal.credentialId] : [];
    const { liveCredentials } = await compared({ credentialIds }, `home-${randomUUID()}`);
    expect([credentialIds.length, liveCredentials.size]).toEqual([1, 0]);
  });
});

describe('the changes of a cluster', () => {
  test('are of organizations that allow it something', async () => {
    const other = await createWorldCalls(services);
    await clusters.set([clusterRule(world)], { cluster });
    const heard = await listen();
    await other.calls.put('KEY', '1');
    await calls.put('KEY', '1');
    await clusters.set([], { cluster });
    await calls.put('KEY', '2');
    await settle();
    expect(heard).toEqual(['ready', 'environment', 'cluster_rules']);
  });

  test('begin with a gap when an organization allows it something again', async () => {
    const heard = await listen();
    await calls.put('KEY', '1');
    await clusters.set([clusterRule(world)], { cluster });
    await calls.put('KEY', '2');
    await clusters.set([clusterRule(world, { environments: ['*'] })], { cluster });
    await settle();
    expect(heard).toEqual(['ready', 'cluster_rules', 'ready', 'environment', 'cluster_rules']);
  });

  test('stop while it is disabled, and begin with a gap', async () => {
    await clusters.set([clusterRule(world)], { cluster });
    const heard = await listen();
    await clusters.disable(cluster);
    await calls.put('KEY', '1');
    await clusters.enable(cluster);
    await calls.put('KEY', '2');
    await settle();
    expect(heard).toEqual(['ready', 'cluster', 'cluster', 'ready', 'environment']);
  });

  test('are all, for a home cluster without rules', async () => {
    cluster = `home-${randomUUID()}`;
    const heard = await listen();
    await calls.put('KEY', '1');
    await settle();
    expect(heard).toEqual(['ready', 'environment']);
  });

  test('of users are heard by none', async () => {
    const heard = await listen({ name: () => `home-${randomUUID()}` });
    await inTransaction(services.database, (tx) => notifyUsers(tx, [world.owner.id]));
    await settle();
    expect(heard).toEqual(['ready']);
  });

  test('are of other organizations once it becomes a home cluster, or no longer is one', async () => {
    const heard = await listen();
    await calls.put('KEY', '1');
    await becomes({ isHome: true });
    await waitFor('the new answer', () => heard.length === 3);
    await calls.put('KEY', '2');
    await settle();
    await becomes({ isHome: false });
    await waitFor('the new answer', () => heard.length === 6);
    await calls.put('KEY', '3');
    await settle();
    expect(heard).toEqual(['ready', 'cluster', 'ready', 'environment', 'cluster', 'ready']);
  });

  test('are of other organizations if it becomes a home cluster while they are read', async () => {
    const { pool } = services.database;
    const [asked, isOver] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const query = async (statement: QueryConfig): Promise<unknown> => {
      const answer = await pool.query(statement);
      asked.resolve();
      await isOver.promise;
      return answer;
    };
    const database = { ...services.database, pool: { query } as unknown as typeof pool };
    const listening = listen({ database });
    await asked.promise;
    await becomes({ isHome: true });
    await settle();
    isOver.resolve();
    const heard = await listening;
    await calls.put('KEY', '1');
    await settle();
    // A stream of the cluster ends with its event.
    expect(heard).toEqual(['cluster', 'ready', 'environment']);
  });

  test('begin once the name of the cluster is known', async () => {
    let isKnown = false;
    cluster = `home-${randomUUID()}`;
    const name = (): string => {
      if (isKnown) return cluster;
      throw new DomainError('cluster_unavailable', 'the name is unknown');
    };
    const listening = listen({ name });
    await calls.put('KEY', '1');
    await settle();
    isKnown = true;
    const heard = await listening;
    await calls.put('KEY', '2');
    await settle();
    expect(heard).toEqual(['ready', 'environment']);
  });

  const unknown = new DomainError('cluster_unavailable', 'the name is unknown');
  const away = new DomainError('store_unavailable', 'the database is away');
  const fault = new TypeError('a fault');

  test.each([
    ['nothing while the name of the cluster is unknown', [unknown, unknown], []],
    ['nothing while the database is away', [away, away], []],
    ['a fault once', [away, fault, fault], ['TypeError']],
  ])('begin late and log %s', async (_, errors: Error[], logged) => {
    const lines: string[] = [];
    const logger = createLogger('debug', { write: (line) => void lines.push(line) });
    const name = (): string => {
      const error = errors.shift();
      if (error !== undefined) throw error;
      return cluster;
    };
    expect(await listen({ name, logger })).toEqual(['ready']);
    expect(lines.map((line) => (JSON.parse(line) as { error: string }).error)).toEqual(logged);
  });
});
