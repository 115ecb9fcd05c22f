import { describe, expect, test } from '@jest/globals';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;
let calls: SecretCalls;

withWorlds((given) => ({ database, services, world, calls } = given), { poolSize: 20 });

/** What a committed write did: the version it gave each key, null for a deletion. */
interface Committed {
  readonly revision: number;
  readonly revisionId: string;
  readonly changes: ReadonlyMap<string, number | null>;
}

const expectedRefusals = new Set(['not_found', 'secret_deleted']);

/** A write chosen by a number; undefined where it was rightly refused, because the key is not there. */
async function writeByNumber(choice: number): Promise<Committed | undefined> {
  const key = `KEY_${choice % 5}`;
  const other = `KEY_${(choice + 1) % 5}`;
  try {
    switch (choice % 7) {
      case 0: {
        const answer = await calls.remove(key);
        return { ...answer, changes: new Map([[key, null]]) };
      }
      case 1: {
        const answer = await calls.rollback(key, { targetVersion: 1 });
        return { ...answer, changes: new Map([[key, answer.version]]) };
      }
      case 2: {
        const answer = await calls.patch({ [key]: String(choice) }, [other]);
        return {
          ...answer,
          changes: new Map([...answer.set.map((set) => [set.key, set.version] as const), [other, null]]),
        };
      }
      case 3: {
        const answer = await calls.patch({ [key]: String(choice), [other]: 'same' });
        return { ...answer, changes: new Map(answer.set.map((set) => [set.key, set.version] as const)) };
      }
      default: {
        const answer = await calls.put(key, String(choice));
        return { ...answer, changes: new Map([[key, answer.version]]) };
      }
    }
  } catch (error) {
    if (expectedRefusals.has(String((error as { code?: unknown }).code))) return undefined;
    throw error;
  }
}

/** What a write comes to once its environment has room for it: on a slow machine so many in a line wait too long. */
async function taken<T>(write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      // Reported before anything is written.
      if (!(error instanceof DomainError) || error.code !== 'overloaded') throw error;
    }
  }
}

/** Runs writers at once, each with its writes in turn, and returns the commits by revision. */
async function runWriters(writers: number, writesEach: number): Promise<Committed[]> {
  const commits = await Promise.all(
    Array.from({ length: writers }, async (_writer, writer) => {
      const own: (Committed | undefined)[] = [];
      for (let write = 0; write < writesEach; write += 1) {
        own.push(await taken(() => writeByNumber(writer * 31 + write * 13)));
      }
      return own;
    }),
  );
  return commits
    .flat()
    .filter((commit) => commit !== undefined)
    .sort((a, b) => a.revision - b.revision);
}

/** The state of the environment at a revision, from its changes alone: each key's newest change up to it. */
async function stateAt(revision: number): Promise<Record<string, number>> {
  const rows = await prismaOf(services.database).$queryRaw<{ key: string; version: number | null }[]>`
    SELECT DISTINCT ON (s.id) s.key, v.version
    FROM secret s
    JOIN secret_change c ON c.secret_id = s.id AND c.revision_number <= ${revision}
    LEFT JOIN secret_version v ON v.id = c.version_id
    WHERE s.environment_id = ${world.environment.id}::uuid
    ORDER BY s.id, c.revision_number DESC`;
  return Object.fromEntries(rows.flatMap(({ key, version }) => (version === null ? [] : [[key, version]])));
}

describe('32 writers at once', () => {
  test('give one key the versions 1 to n, each once, in the order of the revisions', async () => {
    const values = Array.from({ length: 32 * 8 }, (_, index) => `value ${index}`);
    const writers = Array.from({ length: 32 }, (_, writer) => values.slice(writer * 8, writer * 8 + 8));
    const answers = await Promise.all(
      writers.map(async (own) => {
        const given: { version: number; revision: number; value: string }[] = [];
        for (const value of own) {
          given.push({ ...(await taken(() => calls.put('KEY', value))), value });
        }
        return given;
      }),
    );
    const inOrder = answers.flat().sort((a, b) => a.version - b.version);
    const numbers = values.map((_, index) => index + 1);
    expect(inOrder.map(({ version }) => version)).toEqual(numbers);
    expect(inOrder.map(({ revision }) => revision)).toEqual(numbers);
    const history = await calls.history('KEY');
    expect(history.map(({ version }) => version)).toEqual(numbers.toReversed());
    const times = history.map(({ createdAt }) => createdAt.getTime());
    expect(times).toEqual([...times].sort((a, b) => b - a));
    expect((await calls.read()).secrets).toEqual({ KEY: [inOrder.at(-1)?.value, values.length] });
  });

  test('leave a history from which the state at every revision can be read', async () => {
    const commits = await runWriters(32, 6);
    expect(commits.map(({ revision }) => revision)).toEqual(commits.map((_, index) => index + 1));
    expect(new Set(commits.map(({ revisionId }) => revisionId)).size).toBe(commits.length);
    expect(commits.length).toBeGreaterThan(60);
    const state = new Map<string, number>();
    for (const { revision, changes } of commits) {
      for (const [key, version] of changes) {
        if (version === null) state.delete(key);
        else state.set(key, version);
      }
      expect(await stateAt(revision)).toEqual(Object.fromEntries(state));
    }
    const { secrets, revision, revisionId } = await calls.read();
    expect({ revision, revisionId }).toEqual({ revision: commits.length, revisionId: commits.at(-1)?.revisionId });
    const versions = Object.entries(secrets).map(([key, [, version]]) => [key, version]);
    expect(Object.fromEntries(versions)).toEqual(Object.fromEntries(state));
  });

  test('are never seen between two keys of one batch', async () => {
    await calls.patch({ A: '0', B: '0' });
    const last = 60;
    const writer = (async () => {
      for (let count = 1; count < last; count += 1) await calls.patch({ A: String(count), B: String(count) });
    })();
    const seen = new Set<number>();
    while (!seen.has(last)) {
      const { secrets, revision } = await calls.read();
      seen.add(revision);
      const value = String(revision - 1);
      expect(secrets).toEqual({ A: [value, revision], B: [value, revision] });
    }
    await writer;
    expect(seen.size).toBeGreaterThan(2);
  });
});

describe('a write that a deadlock threw back', () => {
  const lockUser = 'SELECT FROM app_user WHERE id = $1 FOR UPDATE';
  const lockEnvironment = 'SELECT FROM environment WHERE id = $1 FOR UPDATE';

  /**
   * Makes a write of KEY wait for our lock while we wait for its own, so that PostgreSQL throws it back, once. A session looks
   * for a deadlock one time, a second after it began to wait. So the write begins last, and we never look.
   */
  async function throwBack(session: LockSession): Promise<{ readonly write: Promise<PromiseSettledResult<unknown>> }> {
    await session.run("SET LOCAL deadlock_timeout = '1h'");
    await session.run(lockUser, [world.developer.id]);
    const gate = await LockSession.begin(database.url);
    await gate.run(lockEnvironment, [world.environment.id]);
    const settled = Promise.allSettled([calls.put('KEY', 'one')]).then(([result]) => result);
    await gate.waitForBlocked(1);
    const locked = session.run(lockEnvironment, [world.environment.id]);
    await gate.waitForBlocked(2);
    await gate.commit();
    await locked;
    return { write: settled };
  }

  test('is done when it is tried again, under the encryption reserved for it', async () => {
    const session = await LockSession.begin(database.url);
    const { write } = await throwBack(session);
    await session.commit();
    expect(await write).toMatchObject({ status: 'fulfilled', value: { version: 1, revision: 1 } });
    expect((await calls.read()).secrets).toEqual({ KEY: ['one', 1] });
  });

  test('is a conflict where its new key was created by another in between', async () => {
    await calls.put('OTHER', 'x');
    const session = await LockSession.begin(database.url);
    const { write } = await throwBack(session);
    await session.run(
      `WITH other AS (SELECT v.* FROM secret s JOIN secret_version v ON v.id = s.current_version_id WHERE s.environment_id = $1),
        secret AS (INSERT INTO secret (id, environment_id, key, version, current_version_id, updated_at)
          SELECT gen_random_uuid(), $1, 'KEY', 1, gen_random_uuid(), now() RETURNING id, current_version_id)
       INSERT INTO secret_version (id, secret_id, version, change_type, changed_by_id, changed_by_type, changed_by_name,
         ciphertext, data_key_id, value_mac, value_bytes)
       SELECT secret.current_version_id, secret.id, 1, 'created', changed_by_id, changed_by_type, changed_by_name,
         ciphertext, data_key_id, value_mac, value_bytes FROM secret, other`,
      [world.environment.id],
    );
    await session.commit();
    expect(await write).toMatchObject({ status: 'rejected', reason: { code: 'conflict' } });
  });
});
