import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Reply } from '../../support/api/keep-alive-client.ts';
import { createEnvironment, createWorld, type TestToken, type World } from '../../support/api/services.ts';
import { durabilitySettings } from '../../support/database/mortal-postgres.ts';
import { readHistory } from '../../support/database/stored-history.ts';
import { isFull, seed } from '../../support/fixtures/test-size.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { type Kill, KillSite, statements } from './kill-site.ts';
import { KilledOperations, kinds, type Operation, type Values } from './killed-operations.ts';

const kills = isFull ? 50 : 10;

let site: KillSite;
let world: World;
let source: World;
let operations: KilledOperations;

beforeAll(async () => {
  site = await KillSite.start();
  world = await createWorld(site.services);
  source = await createEnvironment(site.services, world, 'staging');
  operations = new KilledOperations(site.services, { world, source });
});

afterAll(() => site.stop());

const anyMoment: fc.Arbitrary<Kill['moment']> = fc.oneof(
  fc.record({
    statement: fc.constantFrom(...(Object.keys(statements) as (keyof typeof statements)[])),
    when: fc.constantFrom('before' as const, 'after' as const),
  }),
  // An operation takes some tens of milliseconds.
  fc.record({ afterMs: fc.nat(60) }),
);

/** Drawn by the seed, but that each kind of operation is killed behind its commit, and before it, at first. */
function drawKills(): Kill[] {
  return fc.sample(anyMoment, { seed, numRuns: kills }).map((drawn, index) => {
    const victim = index % 2 === 0 ? 'server' : 'postgres';
    if (index >= 2 * kinds.length) return { victim, moment: drawn };
    return { victim, moment: { statement: 'commit', when: index < kinds.length ? 'after' : 'before' } };
  });
}

/** What an operation adds to, and what the environment holds. */
interface State {
  readonly revision: number;
  readonly snapshots: number;
  /** Entries of the audit of the operation that say that something was changed. */
  readonly entries: number;
  /** Results that are kept for repetitions. */
  readonly records: number;
  /** Undefined while the environment, or something above it, is deleted. */
  readonly values: Values | undefined;
}

async function stateFor({ action }: Operation): Promise<State> {
  const { rows } = await site.services.database.pool.query<Omit<State, 'values'> & { isDeleted: boolean }>(
    `SELECT e.revision_number AS revision, e.deleted_at IS NOT NULL OR p.deleted_at IS NOT NULL
        OR o.deleted_at IS NOT NULL AS "isDeleted",
      (SELECT count(*)::int FROM snapshot WHERE environment_id = e.id) AS snapshots,
      (SELECT count(*)::int FROM audit_entry WHERE action = $2 AND outcome = 'success' AND NOT target ? 'replayed'
        AND NOT target ? 'changed') AS entries,
      (SELECT count(*)::int FROM idempotency_record) AS records
    FROM environment e JOIN project p ON p.id = e.project_id JOIN organization o ON o.id = p.organization_id
    WHERE e.id = $1`,
    [world.environment.id, action],
  );
  const [{ isDeleted, ...state }] = rows as [(typeof rows)[number]];
  return { ...state, values: isDeleted ? undefined : await operations.values() };
}

function stateAfter(before: State, { request, after, entries, revisions, snapshots }: Operation): State {
  return {
    revision: before.revision + revisions,
    snapshots: before.snapshots + snapshots,
    entries: before.entries + entries,
    records: before.records + Number(request.idempotencyKey !== undefined),
    values: after,
  };
}

async function faultOf(token: TestToken): Promise<string> {
  return site.services.authentication.authenticate(token.token.reveal()).then(
    () => 'none',
    ({ fault }: { fault: string }) => fault,
  );
}

async function expectSound(): Promise<void> {
  for (const environment of [world, source]) {
    expect((await readHistory(site.services, environment)).faults).toEqual([]);
  }
}

type Outcome = 'answered' | 'silent' | 'lost';

/** Kills while an operation is under way, and repeats the operation until it is answered. */
async function outcomeUnder(kill: Kill, operation: Operation): Promise<Outcome> {
  const { request, token } = operation;
  const bearer = world.owner.token.reveal();
  const before = await stateFor(operation);
  const after = stateAfter(before, operation);
  const reply = await site.sendUnder(kill, request, bearer);
  const found = await stateFor(operation);
  const isDone = reply !== undefined || found.entries !== before.entries;
  expect(found).toEqual(isDone ? after : before);
  await (isDone ? expectSound() : undefined);
  const repeat = (): Promise<Reply> => waitFor('an answer', () => site.send(request, bearer));
  const repeated = await repeat();
  expect(await stateFor(operation)).toEqual(after);
  const again = await repeat();
  expect(await stateFor(operation)).toEqual(after);
  const answers = [repeated, again, ...(reply === undefined ? [] : [reply])].map(
    ({ text }) => JSON.parse(text) as unknown,
  );
  expect(answers).toEqual(answers.map(() => answers[0]));
  const replays = [repeated, again].map(({ headers }) => headers['idempotent-replayed'] === 'true');
  expect(replays).toEqual(request.idempotencyKey === undefined ? [false, false] : [isDone, true]);
  expect(token && (await faultOf(token))).toBe(token && 'revoked');
  await expectSound();
  if (!isDone) return 'lost';
  return reply === undefined ? 'silent' : 'answered';
}

test(`${kills} operations are each done whole or not at all, and once, when PostgreSQL or the server is killed`, async () => {
  const settings = await site.settings();
  expect(settings).toEqual(Object.fromEntries(durabilitySettings.map((name) => [name, 'on'])));
  const outcomes: Record<Outcome, number> = { answered: 0, silent: 0, lost: 0 };
  for (const [index, kill] of drawKills().entries()) {
    const kind = kinds[index % kinds.length] ?? 'restore';
    try {
      outcomes[await outcomeUnder(kill, await operations.prepare(kind, `trial-${index}`))] += 1;
    } catch (cause) {
      const reported = `${kind} under ${JSON.stringify(kill)}`;
      throw new Error(`trial ${index}, ${reported}; KEYFRAME_TEST_SEED=${seed} draws it again`, { cause });
    }
  }
  // Else the kills came at no interesting moment.
  expect(outcomes.silent).toBeGreaterThanOrEqual(kinds.length);
  expect(outcomes.lost).toBeGreaterThanOrEqual(kinds.length);
}, 1_200_000);
