import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Asker } from '../../../src/domain/asker.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { startServices, type TestServices } from '../../support/api/services.ts';

/** What a cluster can write by the ends of resources that made nothing. */

let database: TestDatabase;
let services: TestServices;

beforeAll(async () => {
  database = await createTestDatabase();
  const growthLimits = { environmentBytesPerDay: 0, callerBytesPerDay: 4_096, snapshotsPerEnvironment: 0 };
  services = await startServices(database.url, { growthLimits });
});

afterAll(async () => {
  await services.close();
  await database.drop();
});

function invented(kind: 'ServiceToken' | 'SecretSnapshot'): Asker {
  const named = { kind, namespace: 'team-a', name: 'own', uid: randomUUID(), requestId: randomUUID() };
  return { ...named, grants: [], ownGrant: undefined };
}

async function claims(cluster: string): Promise<number> {
  const { rows } = await services.database.pool.query<{ uid: string }>(
    'SELECT DISTINCT uid FROM resource_claim WHERE cluster = $1',
    [cluster],
  );
  return rows.length;
}

test.each([
  [
    'revoked tokens',
    'thief-1',
    (asker: Asker) => services.clusterPorts.of('thief-1').tokens.revoke(asker),
    'ServiceToken',
  ],
  [
    'deleted snapshots',
    'thief-2',
    (asker: Asker) => services.clusterPorts.of('thief-2').snapshots.delete(asker),
    'SecretSnapshot',
  ],
] as const)('%s of invented resources are limited for each cluster', async (_, cluster, end, kind) => {
  const own = invented(kind);
  await end(own);
  const ends = await Promise.allSettled(Array.from({ length: 20 }, () => end(invented(kind))));
  const refused = ends.filter(({ status }) => status === 'rejected');
  for (const { reason } of refused as PromiseRejectedResult[]) expect(reason).toMatchObject({ code: 'limit_exceeded' });
  expect([await claims(cluster), refused.length]).toEqual([5, 16]);
  // What has ended already writes nothing.
  await expect(end(own)).resolves.toBeUndefined();
});
