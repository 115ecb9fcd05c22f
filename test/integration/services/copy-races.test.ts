import { beforeEach, expect, test } from '@jest/globals';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import type { CopyAnswer, CopyInput, CopyPlan } from '../../../src/services/secrets/copy/copies.ts';
import type { CopyEnds } from '../../../src/services/secrets/copy/copy-facts.ts';
import { deadlocksOf } from '../../support/database/deadlocks.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import type { MessageMatch, PostgresProxy } from '../../support/faults/postgres-proxy.ts';
import { secretCalls, type SecretCalls } from '../../support/api/secret-calls.ts';
import { createEnvironment, type TestServices, type World } from '../../support/api/services.ts';
import { withProxiedWorlds } from '../../support/api/with-services.ts';

let database: TestDatabase;
let proxy: PostgresProxy;
let services: TestServices;
let world: World;
/** Another environment, and the developer's calls on it and on the world's own. */
let other: World;
let calls: { readonly own: SecretCalls; readonly other: SecretCalls };

withProxiedWorlds((given) => {
  ({ database, proxy, services, world } = given);
  calls = { own: given.calls, other: given.calls };
});

beforeEach(async () => {
  other = await createEnvironment(services, world, 'staging');
  calls = { ...calls, other: secretCalls(services, other, world.developer.caller) };
});

async function ends(from: World, to: World): Promise<CopyEnds> {
  const { caller } = world.developer;
  return {
    destination: await to.onEnvironment(caller, 'environment.copy'),
    source: await from.onEnvironment(caller, 'secret.list'),
  };
}

async function copy(from: World, to: World, rest: Partial<CopyInput> = {}): Promise<CopyAnswer> {
  return services.copies.copy(await ends(from, to), { mode: 'changed', ...rest });
}

async function plan(from: World, to: World): Promise<CopyPlan> {
  return services.copies.plan(await ends(from, to), { mode: 'changed' });
}

async function values(of: SecretCalls): Promise<Record<string, string>> {
  return Object.fromEntries(Object.entries((await of.read()).secrets).map(([key, [value]]) => [key, value]));
}

// The statement that reads the destination, after the one that reads the source. PostgreSQL reads at the time of its Bind, so
// it is held before.
const readsDestination: MessageMatch = ({ type, sql = '' }) =>
  type === 'Parse' && /current_version_id AS "versionId", s\.deleted_at/.test(sql);

test('copies in opposite directions make no deadlock, and come one after the other', async () => {
  const rounds = process.env['KEYFRAME_TEST_SCALE'] === 'full' ? 200 : 12;
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all([calls.other.put('A', `a${round}`), calls.own.put('B', `b${round}`)]);
    await Promise.all([copy(other, world), copy(world, other), copy(other, world), copy(world, other)]);
    // The first one makes both equal, and no later one finds a difference.
    expect(await values(calls.own)).toEqual(await values(calls.other));
  }
  expect(Object.keys(await values(calls.own))).toEqual(['A', 'B']);
  expect(await deadlocksOf(services.database)).toBe(0);
});

test('no write to the source commits between the first read of a copy and its commit', async () => {
  await calls.other.put('KEY', 'first');
  await using locks = new AsyncDisposableStack();
  const watch = await LockSession.begin(database.url);
  locks.defer(() => watch.commit());
  const reading = proxy.hold(readsDestination);
  const copying = copy(other, world);
  await reading.arrived();
  let isWritten = false;
  const writing = calls.other.put('KEY', 'second').finally(() => (isWritten = true));
  await watch.waitForBlocked(1);
  expect(isWritten).toBe(false);
  reading.release();
  expect(await copying).toMatchObject({ created: ['KEY'], from: { revision: 1 } });
  expect(await writing).toMatchObject({ revision: 2 });
});

test('a plan reads both environments at one moment, although it locks neither', async () => {
  await calls.other.put('KEY', 'first');
  const reading = proxy.hold(readsDestination);
  const planning = plan(other, world);
  await reading.arrived();
  await calls.other.put('KEY', 'second');
  await calls.own.put('KEY', 'second');
  reading.release();
  expect(await planning).toMatchObject({ created: ['KEY'], revision: 0, from: { revision: 1 } });
});

/** Writes again while the environment is locked for longer than a write waits, as its error asks. */
async function untilTaken(write: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      return void (await write());
    } catch (error) {
      if (!(error instanceof DomainError && error.code === 'overloaded')) throw error;
    }
  }
}

test('a copy of 1,000 keys beside writers of both environments is one revision, and loses no write', async () => {
  const keys = Array.from({ length: 1_000 }, (_, index) => `K${String(index).padStart(4, '0')}`);
  await calls.other.patch(Object.fromEntries(keys.map((key) => [key, 'v1'])));
  const end = new AbortController();
  let written = 0;
  const writers = [
    (async () => {
      for (let n = 0; !end.signal.aborted; n += 1) await untilTaken(() => calls.other.put('K0000', `s${n}`));
    })(),
    (async () => {
      while (!end.signal.aborted) {
        written += 1;
        await untilTaken(() => calls.own.put('OWN', String(written)));
      }
    })(),
  ];
  const answers: CopyAnswer[] = [];
  for (let n = 0; n < 5; n += 1) answers.push(await copy(other, world));
  end.abort();
  await Promise.all(writers);
  expect(answers[0]?.created).toHaveLength(1_000);
  const { secrets } = await calls.own.read();
  expect(Object.keys(secrets)).toHaveLength(1_001);
  expect(secrets['OWN']).toEqual([String(written), written]);
  const of = answers[0]?.revisionId ?? '';
  expect(await prismaOf(services.database).secretChange.count({ where: { revisionId: of } })).toBe(1_000);
  // Each copy has the value that the source had at the revision that the copy names.
  const kept = await services.copies.plan(await ends(other, world), {
    mode: 'changed',
    revision: answers.at(-1)?.from.revisionId,
  });
  expect(kept.unchanged).toHaveLength(1_000);
}, 60_000);
