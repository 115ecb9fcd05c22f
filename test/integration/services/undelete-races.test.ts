import { beforeEach, expect, test } from '@jest/globals';
import type { Plaintext } from '../../../src/domain/plaintext.ts';
import { type SecretCalls, secretCalls } from '../../support/api/secret-calls.ts';
import { createUser, type TestServices, type World } from '../../support/api/services.ts';
import { type Level, levels, TenantCalls } from '../../support/api/tenant-calls.ts';
import { TokenResource } from '../../support/api/token-resource.ts';
import { deadlocksOf } from '../../support/database/deadlocks.ts';
import { outcomeOf } from '../../support/api/outcome.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;
let tenants: TenantCalls;

withWorlds((given) => ({ services, world, calls } = given), { poolSize: 20 });

beforeEach(() => {
  tenants = new TenantCalls(services, world);
});

const rounds = process.env['KEYFRAME_TEST_SCALE'] === 'full' ? 200 : 15;

const deadlocks = (): Promise<number> => deadlocksOf(services.database);

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Starts calls at nearly the same time, each after a random few milliseconds of its own, or after those given. */
async function atOnce<const Works extends readonly (() => Promise<unknown>)[]>(
  works: Works,
  delaysMs: readonly number[] = works.map(() => Math.random() * 6),
): Promise<{ [Index in keyof Works]: string }> {
  const started = works.map(async (work, index) => {
    await sleep(delaysMs[index] ?? 0);
    return outcomeOf(work());
  });
  return (await Promise.all(started)) as { [Index in keyof Works]: string };
}

async function opens(token: Plaintext): Promise<string> {
  return services.authentication.authenticate(token.reveal()).then(
    () => 'opens',
    ({ fault }: { fault: string }) => fault,
  );
}

async function isDeleted(level: Level): Promise<boolean> {
  const { rows } = await services.database.pool.query<{ deleted: boolean }>(
    `SELECT deleted_at IS NOT NULL AS deleted FROM ${level} WHERE id = $1`,
    [world[level].id],
  );
  return rows[0]?.deleted ?? false;
}

function levelOf(round: number): Level {
  return levels[round % levels.length] ?? 'environment';
}

test('an undeletion and writes with every kind of token: each is done or refused whole, versions have no gaps', async () => {
  const before = await deadlocks();
  let versions = 0;
  for (let round = 0; round < rounds; round += 1) {
    const level = levelOf(round);
    const token = await world.serviceToken();
    const wide = await world.serviceToken({ scope: 'organization' });
    const writers = [calls, secretCalls(services, world, token.caller), secretCalls(services, world, wide.caller)];
    // With access from before the deletion, which the end of each change judges again.
    const access = await world.onEnvironment(token.caller, 'snapshot.create');
    await tenants.remove(level);
    const [undeleted, snapshot, ...writes] = await atOnce([
      () => tenants.undelete(level),
      () => services.snapshots.create(access, {}),
      ...writers.map((writer) => () => writer.put('KEY', String(round))),
    ]);
    expect(undeleted).toBe('done');
    expect(['done', 'unauthenticated', 'not_found']).toContain(snapshot);
    for (const write of writes) {
      expect(['done', 'unauthenticated', 'not_found']).toContain(write);
      if (write === 'done') versions += 1;
    }
    expect(await opens(token.token)).toBe('revoked');
    // Whatever came first, writes of people succeed from now on.
    await calls.put('KEY', `after ${round}`);
    versions += 1;
  }
  const { rows } = await services.database.pool.query<{ versions: number; newest: number }>(
    `SELECT count(*)::int AS versions, max(v.version) AS newest FROM secret_version v JOIN secret s ON s.id = v.secret_id
     WHERE s.environment_id = $1`,
    [world.environment.id],
  );
  expect(rows).toEqual([{ versions, newest: versions }]);
  expect(await deadlocks()).toBe(before);
});

test('an undeletion and a purge: one of them wins, and nothing is half gone', async () => {
  const before = await deadlocks();
  const wins = { undelete: 0, purge: 0 };
  const { caller } = world.owner;
  let raceMs = 0;
  for (let round = 0; round < rounds; round += 1) {
    const slug = `raced-${round}`;
    const slugs = { ...world.slugs, environment: slug };
    const { id } = await services.environments.create(await world.onProject(caller, 'environment.create'), { slug });
    const writes = await services.access.environment(caller, 'secret.write', slugs);
    await services.secrets.patch(writes, { generate: new Map(['A', 'B', 'C'].map((key) => [key, {}])) });
    await services.environments.delete(await services.access.environment(caller, 'environment.delete', slugs));
    // From a purge that begins long before the undeletion to one that begins long after it, however slow the machine is.
    const leadMs = raceMs * ((2 * round) / (rounds - 1) - 1);
    const beganMs = performance.now();
    const [undeleted, purged] = await atOnce(
      [() => tenants.undelete('environment', caller, slugs), () => tenants.purge('environment', caller, slugs)],
      [Math.max(0, -leadMs), Math.max(0, leadMs)],
    );
    raceMs = Math.max(raceMs, performance.now() - beganMs - Math.abs(leadMs));
    const { rows } = await services.database.pool.query<{ secrets: number }>(
      `SELECT (SELECT count(*)::int FROM secret s WHERE s.environment_id = e.id) AS secrets FROM environment e
       WHERE e.id = $1 AND e.deleted_at IS NULL`,
      [id],
    );
    const isBack = undeleted === 'done';
    wins[isBack ? 'undelete' : 'purge'] += 1;
    expect([undeleted, purged, rows]).toEqual(
      isBack ? ['done', 'conflict', [{ secrets: 3 }]] : ['not_found', 'done', []],
    );
  }
  expect(Math.min(wins.undelete, wins.purge)).toBeGreaterThan(0);
  expect(await deadlocks()).toBe(before);
});

test('undeletions and deletions of every level at once come one after the other', async () => {
  const before = await deadlocks();
  const admin = await createUser(services, { instanceAdmin: true });
  await prismaOf(services.database).membership.create({
    data: { organizationId: world.organization.id, userId: admin.id, role: 'owner' },
  });
  for (let round = 0; round < rounds; round += 1) {
    await tenants.remove(levelOf(round));
    const outcomes = await atOnce([
      ...levels.map((level) => () => tenants.undelete(level)),
      ...levels.map((level) => () => tenants.remove(level, admin.caller)),
    ]);
    for (const outcome of outcomes) expect(['done', 'not_found', 'conflict']).toContain(outcome);
    for (const level of levels) {
      await tenants.undelete(level);
      expect(await isDeleted(level)).toBe(false);
    }
  }
  await calls.put('KEY', 'value');
  expect(await deadlocks()).toBe(before);
});

test('an undeletion and the creation, rotation and minting of tokens: no string from before opens anything', async () => {
  const before = await deadlocks();
  const { caller } = world.owner;
  for (let round = 0; round < rounds; round += 1) {
    const level = levelOf(round);
    const old = await world.serviceToken();
    const own = new TokenResource(services, world);
    const [minted, pending] = [await own.minted(), await own.mint({ serial: 2 })];
    const creation = await world.onOrganization(caller, 'service_token.create');
    const rotation = await world.onOrganization(caller, 'service_token.rotate');
    const minting = await services.resourceAccess.mayMint(own.caller, own.asked());
    const environmentId = world.environment.id;
    const input = { name: 'ci', permission: 'read', scope: 'environment', environmentId } as const;
    const made: Plaintext[] = [];
    await tenants.remove(level);
    const [undeleted, created, rotated, activated, next] = await atOnce([
      () => tenants.undelete(level),
      async () => made.push((await services.serviceTokens.create(creation, input)).token),
      () => services.serviceTokens.rotate(rotation, old.id),
      () => own.activate(pending),
      () => services.resourceTokens.mint(minting, { name: 'team-a/ci', serial: 3, expiresAt: null }),
    ]);
    expect(undeleted).toBe('done');
    expect(['done', 'invalid_input', 'not_found']).toContain(created);
    expect(['done', 'conflict', 'not_found']).toContain(rotated);
    expect(['done', 'conflict']).toContain(activated);
    expect(['done', 'not_found']).toContain(next);
    expect(await Promise.all([old.token, minted.token, pending.token].map(opens))).toEqual([
      'revoked',
      'revoked',
      'revoked',
    ]);
    for (const token of made) expect(['opens', 'revoked']).toContain(await opens(token));
  }
  expect(await deadlocks()).toBe(before);
});
