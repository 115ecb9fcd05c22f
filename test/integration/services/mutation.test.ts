import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../../../src/domain/principal.ts';
import { Access, type AnyAccess } from '../../../src/services/access/access.ts';
import { AuditLog, auditRecord } from '../../../src/services/audit/audit-log.ts';
import { type Mutated, mutate } from '../../../src/services/kernel/mutation.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import type { Transaction } from '../../../src/store/transaction.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
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

beforeEach(async () => {
  ({ organizationId } = await fixtures.environment());
  user = await fixtures.personalToken();
  await database.prisma.membership.create({ data: { organizationId, userId: user.principal.id, role: 'viewer' } });
  service = await fixtures.serviceToken({ organizationId });
});

/** Lets a caller into the organization. */
async function enter(caller: Caller): Promise<AnyAccess> {
  const access = new Access({ database, audit: new AuditLog({ database }) });
  const { slug } = await database.prisma.organization.findUniqueOrThrow({ where: { id: organizationId } });
  return access.organization(caller, 'organization.read', { organization: slug });
}

/** Renames the organization, and does something else in between. */
function rename(caller: Caller, meanwhile: () => Promise<unknown> = async () => undefined) {
  return async (tx: Transaction): Promise<Mutated<string>> => {
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

describe('a mutation', () => {
  test('commits its work and its audit row together', async () => {
    const caller = callerOf(user.principal);
    expect(await mutate({ database }, await enter(caller), rename(caller))).toBe('done');
    expect(await state()).toEqual({ name: 'renamed', audited: 1 });
  });

  test('leaves neither work nor audit row when the audit row is refused', async () => {
    const caller = { ...callerOf(user.principal), requestId: 'not a uuid' };
    await expect(mutate({ database }, await enter(caller), rename(caller))).rejects.toBeDefined();
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
    await expect(mutate({ database }, await enter(caller), work)).rejects.toMatchObject({ code: 'unauthenticated' });
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
    const mutation = mutate({ database: holding }, await enter(caller), rename(caller));
    await looked.promise;
    let revoked = false;
    const revocation = database.pool
      .query('UPDATE service_token SET revoked_at = now() WHERE id = $1', [service.principal.id])
      .then(() => (revoked = true));
    await sleep(150);
    expect(revoked).toBe(false);
    goOn.resolve();
    await Promise.all([mutation, revocation]);
    expect(await state()).toEqual({ name: 'renamed', audited: 1 });
  });

  test('does not hold up another one by the same credential', async () => {
    const caller = callerOf(service.principal);
    const other = await fixtures.environment();
    const access = await enter(caller);
    const both = [organizationId, other.organizationId].map((id) =>
      mutate({ database }, access, async (tx) => {
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
