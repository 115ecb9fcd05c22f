import { expect } from '@jest/globals';
import { syncs } from '../controller-harness.ts';
import type { Ask, EnvironmentName, SyncName } from './model-steps.ts';
import { type ModelWorld, keyOf, pathOf } from './model-world.ts';

/** What a SecretSync must come to: the newest state that it is permitted, or why it may not read. */
type Expected =
  | { readonly revisions: ReadonlyMap<EnvironmentName, number>; readonly values: Readonly<Record<string, string>> }
  | { readonly reasons: readonly string[] };

/** Expects that a SecretSync has come to what it is permitted now, and that its status says so. */
export function expectSettled(world: ModelWorld, sync: SyncName): void {
  const ask = world.asked.get(sync);
  if (ask === undefined) return;
  const expected = expectedOf(world, sync, ask);
  const generation = world.cluster.get(`${syncs}/${sync}`)?.metadata.generation;
  if ('reasons' in expected) {
    expect({ sync, ready: world.ready(sync) }).toMatchObject({ ready: { observedGeneration: generation } });
    expect(expected.reasons).toContain(world.ready(sync)?.reason);
    expectKept(world, sync);
    return;
  }
  const { values, revisions } = expected;
  expect({ sync, reason: world.ready(sync)?.reason, values: world.values(sync) }).toEqual({
    sync,
    reason: 'Synced',
    values,
  });
  expectStatus(world, sync, revisions);
}

/** Has what the Secrets hold now be all that they may hold from now on, until something is committed. */
export function noteHeld(world: ModelWorld, names: readonly SyncName[]): void {
  const newest = (['prod', 'dev'] as const).flatMap((name) => {
    const values = world.services.environments.get(pathOf(name))?.values ?? {};
    return Object.entries(values);
  });
  const held = names.flatMap((sync) => Object.entries(world.values(sync) ?? {}));
  world.candidates.clear();
  for (const [key, value] of [...newest, ...held]) {
    world.candidates.set(key, (world.candidates.get(key) ?? new Set()).add(value));
  }
  world.notePinned();
}

function expectStatus(world: ModelWorld, sync: SyncName, revisions: ReadonlyMap<EnvironmentName, number>): void {
  const { uid, resourceVersion, generation } = {
    ...world.target(sync)?.metadata,
    generation: generationOf(world, sync),
  };
  const status = world.status(sync);
  expect(status).toMatchObject({ observedGeneration: generation, target: { uid, resourceVersion } });
  const reported = status.sources?.map(({ name, syncedRevision }) => [name, syncedRevision]) ?? [
    [[...revisions.keys()][0], status.syncedRevision],
  ];
  expect(reported).toEqual([...revisions]);
}

function generationOf(world: ModelWorld, sync: SyncName): number | undefined {
  return world.cluster.get(`${syncs}/${sync}`)?.metadata.generation;
}

/** Expects that a Secret whose SecretSync may not read holds nothing older than at the last rest. */
function expectKept(world: ModelWorld, sync: SyncName): void {
  for (const [key, value] of Object.entries(world.values(sync) ?? {})) {
    expect([...(world.candidates.get(key) ?? [])]).toContain(value);
  }
}

function expectedOf(world: ModelWorld, sync: SyncName, ask: Ask): Expected {
  if (ask === 'nothing, suspended') return { reasons: ['Suspended'] };
  const refusal = refusalOf(world, sync, ask);
  if (refusal !== undefined) return { reasons: refusal };
  const names = namesOf(ask);
  if (names.some((name) => world.environment(name) === undefined)) return { reasons: ['NotFound'] };
  const revisions = new Map(names.map((name) => [name, revisionOf(world, name, ask)] as const));
  if (revisions.get('prod') === 2 && (world.environment('prod')?.revision ?? 0) < 2)
    return { reasons: ['RevisionNotFound'] };
  if (isReplaced(world, sync, names)) return { reasons: ['SourceReplaced'] };
  const values = names.map((name) => [keyOf(name), `${world.environment(name)?.id}:${revisions.get(name)}`] as const);
  return { revisions, values: Object.fromEntries(values) };
}

function namesOf(ask: Ask): readonly EnvironmentName[] {
  if (ask === 'prod and dev') return ['prod', 'dev'];
  return ask === 'dev' ? ['dev'] : ['prod'];
}

function revisionOf(world: ModelWorld, name: EnvironmentName, ask: Ask): number {
  return ask === 'prod at 2' ? 2 : (world.environment(name)?.revision ?? 0);
}

function refusalOf(world: ModelWorld, sync: SyncName, ask: Ask): readonly string[] | undefined {
  if (ask === 'prod by a ServiceToken') return serviceTokenRefusal(world, sync);
  return ask === 'prod, keyless' ? keylessRefusal(world, sync) : staticTokenRefusal(world);
}

/** Why the namespace may not read acme/web/prod with its keyless token; undefined if it may. */
function keylessRefusal(world: ModelWorld, sync: SyncName): readonly string[] | undefined {
  if (!world.isGranted) return ['AccessDenied'];
  const environment = world.environment('prod');
  if (environment === undefined || !world.isRevoked(environment.id)) return undefined;
  // A SecretSync whose environment was replaced has not asked for the token of the new one.
  return isReplaced(world, sync, ['prod']) ? ['TokenRevoked', 'SourceReplaced'] : ['TokenRevoked'];
}

function staticTokenRefusal({ isTokenLive }: ModelWorld): readonly string[] | undefined {
  return isTokenLive ? undefined : ['AuthenticationFailed'];
}

/** Why the ServiceToken that a SecretSync names opens nothing; undefined if it opens its environment. */
function serviceTokenRefusal(world: ModelWorld, sync: SyncName): readonly string[] | undefined {
  const token = world.serviceTokens.find(world.serviceTokenUid(sync));
  if (token?.revokedAt !== null && token !== undefined) return ['TokenRevoked'];
  if (!world.isGranted) return ['AccessDenied'];
  const environment = world.environment('prod');
  if (environment !== undefined && (token === undefined || token.environmentId === environment.id)) return undefined;
  // Of a token that never was, and of one for another place, the ServiceToken says so itself.
  return ['NotFound', 'ServiceTokenNotReady'];
}

/** Whether a Secret says that its data is of another environment than has the path now. */
function isReplaced(world: ModelWorld, sync: SyncName, names: readonly EnvironmentName[]): boolean {
  const { annotations = {} } = world.target(sync)?.metadata ?? {};
  const record = `${annotations['keyframe.dev/source'] ?? ''} ${annotations['keyframe.dev/sources'] ?? ''}`;
  return names.some((name) => {
    const held = new RegExp(`${pathOf(name)}@([a-z]+-[0-9]+)`).exec(record)?.[1];
    return held !== undefined && held !== world.environment(name)?.id;
  });
}
