import { describe, expect, test } from '@jest/globals';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { type PostgresProxy, runs } from '../../support/faults/postgres-proxy.ts';
import { type SecretCalls, secretCalls } from '../../support/api/secret-calls.ts';
import { createWorld, type TestServices, type World } from '../../support/api/services.ts';
import type { SnapshotCalls } from '../../support/api/snapshot-calls.ts';
import { createWorldCalls, withProxiedWorlds } from '../../support/api/with-services.ts';

let database: TestDatabase;
let proxy: PostgresProxy;
let services: TestServices;
let world: World;
let calls: SecretCalls;
let snapshots: SnapshotCalls;

withProxiedWorlds((given) => ({ database, proxy, services, world, calls, snapshots } = given));

async function newWorld(): Promise<void> {
  ({ world, calls, snapshots } = await createWorldCalls(services));
}

interface ChangeRow {
  readonly revision: number;
  readonly key: string;
  /** Null for a deletion. */
  readonly version: number | null;
  /** Whether the version has the value that the snapshot names; null where it names none. */
  readonly isOfSnapshot: boolean | null;
}

/** Every change of the environment, in the order of the revisions. */
async function changesOf(snapshotId: string): Promise<ChangeRow[]> {
  return prismaOf(services.database).$queryRaw<ChangeRow[]>`
    SELECT r.number AS revision, s.key, v.version, v.value_mac = kept.value_mac AS "isOfSnapshot"
    FROM environment_revision r
    JOIN secret_change c ON c.revision_id = r.id AND c.revision_number = r.number
    JOIN secret s ON s.id = c.secret_id
    LEFT JOIN secret_version v ON v.id = c.version_id
    LEFT JOIN snapshot_entry e ON e.snapshot_id = ${snapshotId}::uuid AND e.secret_id = s.id
    LEFT JOIN secret_version kept ON kept.id = e.version_id
    WHERE r.environment_id = ${world.environment.id}::uuid
    ORDER BY r.number, s.key`;
}

/** All that a restore can write in the environment. */
async function written(): Promise<unknown> {
  const where = { environmentId: world.environment.id };
  const prisma = prismaOf(services.database);
  return Promise.all([
    prisma.environment.findUnique({ where: { id: world.environment.id } }),
    prisma.secret.findMany({ where, orderBy: { key: 'asc' } }),
    prisma.secretVersion.count({ where: { secret: where } }),
    prisma.secretChange.count({ where: { secret: where } }),
    prisma.environmentRevision.count({ where }),
    prisma.snapshot.count({ where }),
    prisma.snapshotEntry.count({ where: { snapshot: where } }),
    prisma.auditEntry.count({ where: { outcome: 'success', organizationId: world.organization.id } }),
  ]);
}

describe('restores at once', () => {
  test('of one environment come one after the other, each whole', async () => {
    await calls.patch({ A: '1', B: '1' });
    const { id } = await snapshots.create();
    await calls.patch({ A: '2', B: '2' });
    const answers = await Promise.all(Array.from({ length: 6 }, () => snapshots.restore(id)));
    expect(answers.map(({ revision }) => revision).sort((a, b) => a - b)).toEqual([3, 4, 5, 6, 7, 8]);
    expect((await calls.read()).secrets).toEqual({ A: ['1', 8], B: ['1', 8] });
    const versions = Array.from({ length: 8 }, (_, index) => 8 - index);
    expect((await calls.history('A')).map(({ version }) => version)).toEqual(versions);
  });

  test('of one plan are done once, the other must plan again', async () => {
    await calls.put('KEY', '1');
    const { id } = await snapshots.create();
    const { planHash } = await snapshots.plan(id);
    const results = await Promise.allSettled([
      snapshots.restore(id, { planHash }),
      snapshots.restore(id, { planHash }),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'plan_outdated' } });
    expect(await calls.read()).toMatchObject({ revision: 2 });
  });

  test('with 8 writers give one order: versions 1 to n, and at each restore the state of the snapshot', async () => {
    const keys = ['A', 'B', 'C', 'D'];
    await calls.patch(Object.fromEntries(keys.map((key) => [key, `first ${key}`])));
    const { id } = await snapshots.create();
    const writer = async (number: number): Promise<void> => {
      for (let write = 0; write < 8; write += 1) {
        const key = keys[(number + write) % keys.length] ?? '';
        if (write % 4 === 3) await calls.remove(key).catch(() => undefined);
        else await calls.put(key, `${number} ${write}`);
      }
    };
    const restorer = async (): Promise<{ revision: number; restored: readonly string[] }[]> => {
      const done = [];
      for (let count = 0; count < 6; count += 1) done.push(await snapshots.restore(id, { backup: count % 2 === 0 }));
      return done;
    };
    const [restores] = await Promise.all([restorer(), ...keys.concat(keys).map((_key, number) => writer(number))]);
    const changes = await changesOf(id);
    const revisions = [...new Set(changes.map(({ revision }) => revision))];
    expect(revisions).toEqual(Array.from({ length: revisions.length }, (_, index) => index + 1));
    for (const key of keys) {
      const own = changes.filter((change) => change.key === key && change.version !== null);
      expect(own.map(({ version }) => version)).toEqual(own.map((_, index) => index + 1));
    }
    // One that found every key deleted made no revision.
    for (const { revision, restored } of restores.filter((restore) => restore.restored.length > 0)) {
      const own = changes.filter((change) => change.revision === revision);
      expect(own.map(({ key }) => key)).toEqual(restored);
      expect(own.every(({ isOfSnapshot }) => isOfSnapshot === true)).toBe(true);
    }
    expect(await calls.read()).toMatchObject({ revision: revisions.length });
  });

  test('share the turns of the writers, so that one locked environment leaves connections for others', async () => {
    await calls.put('KEY', '1');
    const { id } = await snapshots.create();
    const other = await createWorld(services);
    const session = await LockSession.begin(database.url);
    await session.run('SELECT FROM environment WHERE id = $1 FOR UPDATE', [world.environment.id]);
    const waiting = Promise.allSettled([
      ...Array.from({ length: 12 }, () => snapshots.restore(id)),
      ...Array.from({ length: 12 }, () => snapshots.create()),
      ...Array.from({ length: 6 }, () => calls.put('KEY', '2')),
    ]);
    await session.waitForBlocked(2);
    expect(await secretCalls(services, other, other.developer.caller).put('KEY', '1')).toMatchObject({ revision: 1 });
    await session.commit();
    expect((await waiting).map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 'fulfilled'));
  });
});

describe('a restore that fails half-way writes nothing', () => {
  async function failsWhole(restore: () => Promise<unknown>, code: string): Promise<void> {
    const before = await written();
    await expect(restore()).rejects.toMatchObject({ code });
    expect(await written()).toEqual(before);
  }

  async function changedSince(): Promise<string> {
    await calls.patch({ A: '1', B: '1' });
    const { id } = await snapshots.create();
    await calls.patch({ A: '2', LATER: '1' });
    return id;
  }

  test.each([
    ['its lock', /FROM environment\s+WHERE[^]*FOR NO KEY UPDATE/, 'after'],
    ['its plan', /AS "targetVersion"/, 'after'],
    ['its backup', /INSERT INTO snapshot /, 'after'],
    ['its writing', /^\s*WITH change AS MATERIALIZED/, 'before'],
    ['its writing', /^\s*WITH change AS MATERIALIZED/, 'after'],
    ['its notification', /pg_notify/, 'after'],
    ['its audit row', /INSERT INTO audit_entry/, 'after'],
    ['its commit', /^COMMIT/, 'before'],
  ] as const)('where the connection is lost with %s (%#)', async (_step, statement, when) => {
    const id = await changedSince();
    const struck = proxy.cut(runs(statement), when);
    await failsWhole(() => snapshots.restore(id, { prune: true, backup: true }), 'store_unavailable');
    await struck.arrived();
    expect(await snapshots.restore(id, { prune: true })).toMatchObject({ restored: ['A', 'B'], pruned: ['LATER'] });
  });

  test('where a row breaks a constraint', async () => {
    const id = await changedSince();
    const before = await calls.read();
    await prismaOf(services.database).$executeRaw`
      INSERT INTO secret_version (id, secret_id, version, change_type, changed_by_id, changed_by_type, changed_by_name,
        ciphertext, data_key_id, value_mac, value_bytes)
      SELECT gen_random_uuid(), secret_id, v.version + 1, 'updated', changed_by_id, changed_by_type, changed_by_name,
        ciphertext, data_key_id, value_mac, value_bytes
      FROM secret_version v JOIN secret s ON s.current_version_id = v.id
      WHERE s.environment_id = ${world.environment.id}::uuid AND s.key = 'B'`;
    await failsWhole(() => snapshots.restore(id, { prune: true, backup: true }), 'conflict');
    expect(await calls.read()).toEqual(before);
  });
});

test('a snapshot, its comparison, plan and restore take as many statements for thousands of secrets as for 2', async () => {
  const many = process.env['KEYFRAME_TEST_SCALE'] === 'full' ? 10_000 : 2_000;
  // All but the settings of new connections and the notes of when a token was used, which come in their own time.
  const statements = runs(/^(?!SET )(?![^]*SKIP LOCKED)/);
  const counted = async (work: () => Promise<unknown>): Promise<number> => {
    const before = proxy.count(statements);
    await work();
    return proxy.count(statements) - before;
  };
  const countAll = async (secrets: number): Promise<number[]> => {
    const set = Object.fromEntries(Array.from({ length: secrets }, (_, index) => [`KEY_${index}`, String(index)]));
    await calls.patch(set);
    let id = '';
    const options = { backup: true, prune: true };
    return [
      await counted(async () => void ({ id } = await snapshots.create())),
      await counted(() => snapshots.diff(id)),
      await counted(() => snapshots.plan(id, options)),
      await counted(async () => {
        const { restored } = await snapshots.restore(id, options);
        expect(restored).toHaveLength(secrets);
      }),
    ];
  };
  // The first time, whatever connections and statements need once.
  await countAll(2);
  await newWorld();
  const few = await countAll(2);
  await newWorld();
  expect(await countAll(many)).toEqual(few);
  expect(await calls.readOne(`KEY_${many - 1}`)).toBe(String(many - 1));
});
