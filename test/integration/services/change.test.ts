import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../../../src/domain/principal.ts';
import { Access, type AnyAccess } from '../../../src/services/access/access.ts';
import { AuditLog, auditRecord } from '../../../src/services/audit/audit-log.ts';
import { changeEnvironmentOnce, makeChange } from '../../../src/services/change/change.ts';
import type { Changed } from '../../../src/services/kernel/changed.ts';
import { EnvironmentQueue } from '../../../src/services/kernel/environment-queue.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import type { Transaction } from '../../../src/store/transaction.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { callerOf, StoreFixtures, type TokenFixture } from '../../support/database/store-fixtures.ts';

let server: TestDatabase;
let database: Database;
let fixtures: StoreFixtures;

beforeAll(async () => {
  server = await createTestDatabase();
  database = openDatabase({ url: server.url, poolSize: 8 });
  fixtures = new StoreFixtures(database.pool);
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

let user: TokenFixture;
let service: TokenFixture;
let organizationId: string;
let environmentId: string;

beforeEach(async () => {
  ({ organizationId, environmentId } = await fixtures.environment());
  user = await fixtures.personalToken();
  await prismaOf(database).membership.create({ data: { organizationId, userId: user.principal.id, role: 'viewer' } });
  service = await fixtures.serviceToken({ organizationId });
});

/** Lets a caller into the organization. */
async function enter(caller: Caller): Promise<AnyAccess> {
  const access = new Access({ database, audit: new AuditLog({ database }) });
  const { slug } = await prismaOf(database).organization.findUniqueOrThrow({ where: { id: organizationId } });
  return access.organization(caller, 'organization.read', { organization: slug });
}

/** Renames the organization, and does something else in between. */
function rename(caller: Caller, meanwhile: () => Promise<unknown> = async () => undefined) {
  return async (tx: Transaction): Promise<Changed<string>> => {
    await tx.run`UPDATE organization SET display_name = 'renamed' WHERE id = ${organizationId}::uuid`;
    await meanwhile();
    return { result: 'done', audit: auditRecord(caller, { organizationId, action: 'test.rename', target: {} }) };
  };
}

async function state(): Promise<{ name: string; audited: number }> {
  const { rows } = await database.pool.query<{ name: string; audited: number }>(
    `SELECT display_name AS name, (SELECT count(*)::int FROM audit_entry WHERE organization_id = o.id) AS audited
     FROM organization o WHERE id = $1`,
    [organizationId],
  );
  return rows[0] as { name: string; audited: number };
}

describe('a change', () => {
  test('commits its work and its audit row together', async () => {
    const caller = callerOf(user.principal);
    expect(await makeChange({ database }, await enter(caller), rename(caller))).toBe('done');
    expect(await state()).toEqual({ name: 'renamed', audited: 1 });
  });

  test('leaves neither work nor audit row when the audit row is refused', async () => {
    const caller = { ...callerOf(user.principal), requestId: 'not a uuid' };
    await expect(makeChange({ database }, await enter(caller), rename(caller))).rejects.toBeDefined();
    expect(await state()).toMatchObject({ name: expect.not.stringContaining('renamed'), audited: 0 });
  });

  const endings: [string, () => TokenFixture, string][] = [
    ['personal token is revoked', () => user, 'UPDATE personal_token SET revoked_at = now() WHERE id = $1'],
    ['personal token expires', () => user, 'UPDATE personal_token SET expires_at = clock_timestamp() WHERE id = $1'],
    [
      'user is disabled',
      () => user,
      'UPDATE app_user SET disabled_at = now() WHERE id = (SELECT user_id FROM personal_token WHERE id = $1)',
    ],
    [
      'service token is revoked',
      () => service,
      'UPDATE service_token SET revoked_at = now() WHERE id = (SELECT service_token_id FROM service_token_credential WHERE id = $1)',
    ],
    [
      'credential expires',
      () => service,
      'UPDATE service_token_credential SET expires_at = clock_timestamp() WHERE id = $1',
    ],
    ['token is removed', () => service, 'DELETE FROM service_token_credential WHERE id = $1'],
  ];

  test.each(endings)('is rolled back as unauthenticated when meanwhile the %s', async (_name, token, end) => {
    const { principal, credentialId } = token();
    const caller = callerOf(principal);
    const work = rename(caller, () => database.pool.query(end, [credentialId]));
    await expect(makeChange({ database }, await enter(caller), work)).rejects.toMatchObject({
      code: 'unauthenticated',
    });
    expect(await state()).toMatchObject({ name: expect.not.stringContaining('renamed'), audited: 0 });
  });

  test('whose last look at the credential is done makes a revocation wait for its commit', async () => {
    const caller = callerOf(service.principal);
    const looked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    // The transaction's connection, so that the test stands between the look and the COMMIT.
    const client = await database.transactionPool.connect();
    const query = client.query.bind(client);
    client.query = (async (statement: string | { text: string }) => {
      if (typeof statement !== 'string' && statement.text === 'COMMIT') {
        looked.resolve();
        await goOn.promise;
        client.query = query;
      }
      return query(statement);
    }) as typeof client.query;
    const holding = { transactionPool: { connect: async () => client } } as unknown as Database;
    const change = makeChange({ database: holding }, await enter(caller), rename(caller));
    await looked.promise;
    let revoked = false;
    const revocation = database.pool
      .query('UPDATE service_token SET revoked_at = now() WHERE id = $1', [service.principal.id])
      .then(() => (revoked = true));
    await sleep(150);
    expect(revoked).toBe(false);
    goOn.resolve();
    await Promise.all([change, revocation]);
    expect(await state()).toEqual({ name: 'renamed', audited: 1 });
  });

  test('does not hold up another one by the same credential', async () => {
    const caller = callerOf(service.principal);
    const other = await fixtures.environment();
    const access = await enter(caller);
    const both = [organizationId, other.organizationId].map((id) =>
      makeChange({ database }, access, async (tx) => {
        await tx.run`UPDATE organization SET display_name = 'x' WHERE id = ${id}::uuid`;
        return {
          result: id,
          audit: auditRecord(caller, { organizationId: id, action: 'test', target: { id: randomUUID() } }),
        };
      }),
    );
    await expect(Promise.all(both)).resolves.toHaveLength(2);
  });
});

describe('a change of an environment', () => {
  /** The names of all statements of transactions, in their order. */
  let steps: string[];
  let deps: { database: Database; queue: EnvironmentQueue };

  beforeEach(() => {
    steps = [];
    const connect = async (): Promise<object> => {
      const client = await database.transactionPool.connect();
      return {
        query: (statement: string | { text: string }) => {
          steps.push(stepOf(typeof statement === 'string' ? statement : statement.text));
          return client.query(statement);
        },
        release: () => client.release(),
      };
    };
    deps = { database: { transactionPool: { connect } } as unknown as Database, queue: new EnvironmentQueue() };
  });

  test('takes its locks and writes its rows in the order of the frame', async () => {
    const caller = callerOf(service.principal);
    const { rows } = await database.pool.query<{ organization: string; project: string; environment: string }>(
      `SELECT o.slug AS organization, p.slug AS project, e.slug AS environment
       FROM environment e JOIN project p ON p.id = e.project_id JOIN organization o ON o.id = p.organization_id
       WHERE e.id = $1`,
      [environmentId],
    );
    const slugs = rows[0] ?? { organization: '', project: '', environment: '' };
    const door = new Access({ database, audit: new AuditLog({ database }) });
    const access = await door.environment(caller, 'secret.read', slugs);
    const once = {
      request: { key: randomUUID(), requestHash: new Uint8Array(32) },
      keep: (result: string) => ({ result }),
      target: () => ({}),
      recall: async () => 'recalled',
    };
    const change = async (): Promise<unknown> =>
      changeEnvironmentOnce(deps, access, once, async () => {
        steps.push('prepared');
        return {
          first: (tx) => tx.row`SELECT 'first'`,
          work: async (tx, { before: { revision } }) => {
            await tx.run`SELECT 'work'`;
            const audit = auditRecord(caller, { organizationId, action: 'test.change', target: {} });
            return { result: `at ${revision}`, audit };
          },
        };
      });
    expect(await change()).toEqual({ replayed: false, result: 'at 0' });
    const end = ['audit', 'credential', 'right', 'COMMIT'];
    const locked = ['lock', "SELECT 'first'", "SELECT 'work'"];
    expect(steps).toEqual(['prepared', 'BEGIN', 'claim', 'prune', ...locked, 'kept', ...end]);
    steps = [];
    expect(await change()).toEqual({ replayed: true, result: 'recalled' });
    expect(steps).toEqual(['prepared', 'BEGIN', 'claim', 'claimed', ...end]);
  });

  test('that changed nothing judges and records nothing', async () => {
    const access = await enter(callerOf(user.principal));
    expect(await makeChange(deps, access, async () => ({ result: 'unchanged', audit: null }))).toBe('unchanged');
    expect(steps).toEqual(['BEGIN', 'COMMIT']);
  });
});

/** A short name of a statement that the frame runs, or its text. */
function stepOf(text: string): string {
  const names: [RegExp, string][] = [
    [/^BEGIN/, 'BEGIN'],
    [/INSERT INTO idempotency_record/, 'claim'],
    [/SELECT request_hash/, 'claimed'],
    [/DELETE FROM idempotency_record/, 'prune'],
    [/UPDATE idempotency_record/, 'kept'],
    [/FROM environment\s.*FOR NO KEY UPDATE/s, 'lock'],
    [/INSERT INTO audit_entry/, 'audit'],
    [/FOR SHARE OF c, t/, 'credential'],
    [/FROM organization o.*FOR SHARE/s, 'right'],
  ];
  return names.find(([pattern]) => pattern.test(text))?.[1] ?? text;
}
