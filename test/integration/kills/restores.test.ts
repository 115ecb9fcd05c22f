import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Client } from 'pg';
import type { IdempotencyRequest } from '../../../src/services/change/once.ts';
import type { RestoreAnswer } from '../../../src/services/snapshots/restore/restores.ts';
import { durabilitySettings, MortalPostgres } from '../../support/database/mortal-postgres.ts';
import { PostgresProxy, runs } from '../../support/faults/postgres-proxy.ts';
import { type SecretCalls, secretCalls } from '../../support/api/secret-calls.ts';
import { createWorld, startServices, type TestServices, type World } from '../../support/api/services.ts';
import { type SnapshotCalls, snapshotCalls } from '../../support/api/snapshot-calls.ts';
import { readHistory } from '../../support/database/stored-history.ts';
import { isFull, seed } from '../../support/fixtures/test-size.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

const restores = isFull ? 100 : 16;
const secrets = 1_000;
/** Every so many restores PostgreSQL itself is killed; at the others, connections. */
const serverKillEvery = isFull ? 10 : 8;

let postgres: MortalPostgres;
let proxy: PostgresProxy;
let services: TestServices;
let world: World;
let calls: SecretCalls;
let snapshots: SnapshotCalls;

beforeAll(async () => {
  postgres = await MortalPostgres.start();
  proxy = await PostgresProxy.start(postgres.url);
  services = await startServices(proxy.url);
  world = await createWorld(services);
  calls = secretCalls(services, world, world.developer.caller);
  snapshots = snapshotCalls(services, world, world.developer.caller);
});

afterAll(async () => {
  await services.close();
  await proxy.close();
  await postgres.stop();
});

// The statements of a restore, from its lock to its commit.
const statements = [
  /FROM environment\s+WHERE[^]*FOR NO KEY UPDATE/,
  /AS "targetVersion"/,
  /^\s*WITH change AS MATERIALIZED/,
  /pg_notify/,
  /INSERT INTO audit_entry/,
  /^COMMIT/,
  /^COMMIT/,
];

const anyFault = fc.record({
  backup: fc.boolean(),
  kind: fc.constantFrom('cut' as const, 'reset' as const, 'terminate' as const),
  statement: fc.nat(statements.length - 1),
  when: fc.constantFrom('before' as const, 'after' as const),
  /** When the other faults come: in hundredths of the time that a restore takes. */
  moment: fc.integer({ min: 0, max: 150 }),
});
type DrawnFault = typeof anyFault extends fc.Arbitrary<infer F> ? F : never;
type Fault = Omit<DrawnFault, 'kind'> & { readonly kind: DrawnFault['kind'] | 'kill' };

/** Drawn by the seed, but that there is one of each outcome and that PostgreSQL itself is killed every so often. */
function drawFaults(): Fault[] {
  const drawn: Fault[] = fc.sample(anyFault, { seed, numRuns: restores });
  const commit = statements.length - 1;
  return drawn.map((fault, index) => {
    if (index % serverKillEvery === 0) return { ...fault, kind: 'kill' };
    if (index === 5) return { ...fault, kind: 'cut', statement: commit, when: 'after' };
    return index === 6 ? { ...fault, kind: 'reset', moment: 1_000 } : fault;
  });
}

/** What a restore adds to, and how many secrets have the value that the snapshot has. */
interface Counts {
  readonly revisions: number;
  readonly revision: number;
  readonly versions: number;
  readonly lowest: number;
  readonly highest: number;
  readonly changes: number;
  readonly entries: number;
  readonly snapshots: number;
  readonly snapshotEntries: number;
  readonly asInSnapshot: number;
}

const countText = `WITH own AS MATERIALIZED (SELECT * FROM secret WHERE environment_id = $1::uuid)
  SELECT (SELECT count(*)::int FROM environment_revision WHERE environment_id = $1::uuid) AS revisions,
    (SELECT revision_number FROM environment WHERE id = $1::uuid) AS revision,
    (SELECT count(*)::int FROM secret_version) AS versions,
    (SELECT min(version) FROM own) AS lowest,
    (SELECT max(version) FROM own) AS highest,
    (SELECT count(*)::int FROM secret_change) AS changes,
    (SELECT count(*)::int FROM audit_entry WHERE action = 'snapshot.restore' AND outcome = 'success'
      AND NOT target ? 'replayed') AS entries,
    (SELECT count(*)::int FROM snapshot) AS snapshots,
    (SELECT count(*)::int FROM snapshot_entry) AS "snapshotEntries",
    (SELECT count(*)::int FROM own JOIN secret_version present ON present.id = own.current_version_id
      JOIN snapshot_entry e ON e.snapshot_id = $2::uuid AND e.secret_id = own.id
      JOIN secret_version kept ON kept.id = e.version_id AND kept.value_mac = present.value_mac) AS "asInSnapshot"`;

/** Runs a statement on a connection of its own, past the proxy and whatever happened to the pool. */
async function ask<Row>(text: string, values: readonly unknown[] = []): Promise<Row> {
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  try {
    return (await client.query(text, [...values])).rows[0] as Row;
  } finally {
    await client.end();
  }
}

function count(snapshotId: string): Promise<Counts> {
  return ask<Counts>(countText, [world.environment.id, snapshotId]);
}

/** The counts when one restore more has been done. */
function countsAfter(before: Counts, backup: boolean): Counts {
  return {
    revisions: before.revisions + 1,
    revision: before.revision + 1,
    versions: before.versions + secrets,
    lowest: before.lowest + 1,
    highest: before.highest + 1,
    changes: before.changes + secrets,
    entries: before.entries + 1,
    snapshots: before.snapshots + Number(backup),
    snapshotEntries: before.snapshotEntries + (backup ? secrets : 0),
    asInSnapshot: secrets,
  };
}

/** Lets the fault come while the restore is under way, or just after it. */
async function strike({ kind, moment, statement, when }: Fault, usualMs: number): Promise<void> {
  if (kind === 'cut') return void proxy.cut(runs(statements[statement] ?? /^COMMIT/), when);
  await pause((moment / 100) * usualMs);
  if (kind === 'reset') return proxy.kill();
  if (kind === 'kill') return postgres.kill();
  await ask(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`);
}

interface Order {
  readonly snapshotId: string;
  readonly backup: boolean;
  readonly idempotency: IdempotencyRequest;
}

/** The answer to a restore, or undefined where it came to nothing because of the database. */
async function tryRestore({ snapshotId, ...options }: Order): Promise<RestoreAnswer | undefined> {
  try {
    return await snapshots.restore(snapshotId, options);
  } catch (error) {
    expect(error).toMatchObject({ code: 'store_unavailable' });
    return undefined;
  }
}

interface Outcome {
  readonly became: 'acknowledged' | 'silent' | 'lost';
  /** What there is afterwards. */
  readonly counts: Counts;
}

/** One restore with a fault in it; `before` is what was counted, or has to be, before it. */
async function restoreUnder(fault: Fault, order: Order, { usualMs, before, isSentAgain }: Setting): Promise<Outcome> {
  expect(await count(order.snapshotId)).toEqual(before);
  const after = countsAfter(before, order.backup);
  const [answer] = await Promise.all([tryRestore(order), strike(fault, usualMs)]);
  if (fault.kind === 'kill') await postgres.restart();
  const found = await count(order.snapshotId);
  const isDone = answer !== undefined || found.revision !== before.revision;
  expect(found).toEqual(isDone ? after : before);
  if (!isDone && !isSentAgain) return { became: 'lost', counts: before };
  // Sent again until it is answered, it is done once, whether or not it was before.
  const repeated = await waitFor('an answer', () => tryRestore(order));
  expect(repeated).toMatchObject({ revision: after.revision, ...(isDone ? { replayed: true } : {}) });
  if (answer === undefined) return { became: isDone ? 'silent' : 'lost', counts: after };
  expect(repeated).toEqual({ ...answer, replayed: true });
  return { became: 'acknowledged', counts: after };
}

interface Setting {
  readonly usualMs: number;
  readonly before: Counts;
  /** Whether a restore that came to nothing is sent again. */
  readonly isSentAgain: boolean;
}

/** Two snapshots of the same keys, no value of which is in both; the environment is as in the second. */
async function makeSnapshots(): Promise<readonly [string, string]> {
  const values = (name: string): Record<string, string> =>
    Object.fromEntries(Array.from({ length: secrets }, (_, index) => [`KEY_${index}`, `${name} ${index}`]));
  await calls.patch(values('a'));
  const first = await snapshots.create();
  await calls.patch(values('b'));
  const second = await snapshots.create();
  return [first.id, second.id];
}

test(`${restores} restores of ${secrets} secrets are each done whole or not at all, wherever they are struck`, async () => {
  const settings = await postgres.settings();
  expect(settings).toEqual(Object.fromEntries(durabilitySettings.map((name) => [name, 'on'])));
  const ids = await makeSnapshots();
  const begun = performance.now();
  await snapshots.restore(ids[1]);
  const usualMs = performance.now() - begun;
  const outcomes = { acknowledged: 0, silent: 0, lost: 0 };
  let before = await count(ids[0]);
  let next = 0;
  for (const [index, fault] of drawFaults().entries()) {
    const idempotency = { key: String(index), requestHash: Buffer.alloc(32, index) };
    const order = { snapshotId: ids[next] ?? '', backup: fault.backup, idempotency };
    try {
      const setting = { usualMs, before, isSentAgain: index % 4 === 0 };
      const { became, counts } = await restoreUnder(fault, order, setting);
      outcomes[became] += 1;
      // What is done is undone by the next one.
      if (counts.revision > before.revision) next = 1 - next;
      before = { ...counts, asInSnapshot: 0 };
    } catch (cause) {
      const reported = JSON.stringify(fault);
      throw new Error(`restore ${index} under ${reported}; KEYFRAME_TEST_SEED=${seed} draws it again`, { cause });
    }
  }
  // Else the faults came at no interesting moment.
  expect(outcomes.lost).toBeGreaterThan(restores / 10);
  expect(outcomes.silent).toBeGreaterThan(0);
  expect(outcomes.acknowledged).toBeGreaterThan(0);
  const history = await readHistory(services, world);
  expect(history.faults).toEqual([]);
  expect(history.revision).toBe(before.revision);
});
