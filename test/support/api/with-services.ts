import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../database/postgres.ts';
import { PostgresProxy } from '../faults/postgres-proxy.ts';
import { type SecretCalls, secretCalls } from './secret-calls.ts';
import { createWorld, type StartOptions, startServices, type TestServices, type World } from './services.ts';
import { type SnapshotCalls, snapshotCalls } from './snapshot-calls.ts';

/** The services on a separate database. */
export interface OwnServices {
  readonly database: TestDatabase;
  readonly services: TestServices;
}

/** Services that reach their database through a proxy, which can cut and hold their statements. */
export interface ProxiedServices extends OwnServices {
  readonly proxy: PostgresProxy;
}

/** A world, and its developer's calls on it. */
export interface WorldCalls {
  readonly world: World;
  readonly calls: SecretCalls;
  readonly snapshots: SnapshotCalls;
}

/**
 * Starts services before the tests of the file that calls this, and ends them after the last one. `take` gets them once, ahead
 * of every hook that the file declares behind it.
 */
export function withServices(take: (given: OwnServices) => void, options?: StartOptions): void {
  withStarted((resources) => startOwn(resources, options), take);
}

/** `withServices` behind a proxy. */
export function withProxiedServices(take: (given: ProxiedServices) => void): void {
  withStarted(startProxied, take);
}

/** `withServices`, and a new world for each test: `take` gets both before each. */
export function withWorlds(take: (given: OwnServices & WorldCalls) => void, options?: StartOptions): void {
  withStartedWorlds((resources) => startOwn(resources, options), take);
}

/** `withWorlds` behind a proxy. */
export function withProxiedWorlds(take: (given: ProxiedServices & WorldCalls) => void): void {
  withStartedWorlds(startProxied, take);
}

/** A new world with calls, for a test that needs more than the one it was given. */
export async function createWorldCalls(services: TestServices): Promise<WorldCalls> {
  const world = await createWorld(services);
  const { caller } = world.developer;
  return { world, calls: secretCalls(services, world, caller), snapshots: snapshotCalls(services, world, caller) };
}

type Start<Started> = (resources: AsyncDisposableStack) => Promise<Started>;

function withStarted<Started>(start: Start<Started>, take: (given: Started) => void): void {
  const resources = new AsyncDisposableStack();
  beforeAll(async () => take(await start(resources)));
  afterAll(() => resources.disposeAsync());
}

function withStartedWorlds<Started extends OwnServices>(
  start: Start<Started>,
  take: (given: Started & WorldCalls) => void,
): void {
  let started: Started;
  withStarted(start, (given) => {
    started = given;
  });
  beforeEach(async () => take({ ...started, ...(await createWorldCalls(started.services)) }));
}

async function startOwn(resources: AsyncDisposableStack, options?: StartOptions): Promise<OwnServices> {
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const services = await startServices(database.url, options);
  resources.defer(() => services.close());
  return { database, services };
}

async function startProxied(resources: AsyncDisposableStack): Promise<ProxiedServices> {
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const proxy = await PostgresProxy.start(database.url);
  resources.defer(() => proxy.close());
  // Enough connections for what the tests do at once.
  const services = await startServices(proxy.url, { poolSize: 20 });
  resources.defer(() => services.close());
  return { database, proxy, services };
}
