import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isWrite } from '../support/faults/api-exchange.ts';
import { ApiProxy, failureAnswer, type ProxiedRequest } from '../support/faults/api-proxy.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { PostgresProxy } from '../support/faults/postgres-proxy.ts';
import { ResourceChanges } from './resource-changes.ts';
import { Stack } from '../support/cluster/stack.ts';
import { drawOf, isFull } from '../support/fixtures/test-size.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

// ServiceTokens, SecretSnapshots, SnapshotRestores, SecretEnvironments and AccessGrants are made, approved, withdrawn and
// deleted while the controller cannot reach its database, or the API server takes no write of it.

const databaseOutageMs = isFull ? 60_000 : 15_000;
const refusalMs = isFull ? 30_000 : 5_000;
// The pauses between two tries grow to a minute and more.
const patient = { timeoutMs: isFull ? 240_000 : 90_000, pollMs: 100 };
const limitMs = 400_000;

const resources = new AsyncDisposableStack();
let stack: Stack;
let api: ApiProxy;
let database: PostgresProxy;

beforeAll(async () => {
  // Of its own, because SecretEnvironments are the whole cluster's.
  const { kubeconfig } = await startOwnCluster(resources);
  stack = await Stack.start(resources, { namespaces: 16, adminKubeconfig: kubeconfig });
  api = await ApiProxy.start(stack.kubeconfigFile);
  resources.defer(() => api.close());
  database = await PostgresProxy.start(stack.databaseUrl);
  resources.defer(() => database.close());
  await stack.startController({ kubeconfigFile: api.kubeconfigFile, databaseUrl: database.url });
});

afterAll(() => resources.disposeAsync());

async function expectConverged(changes: ResourceChanges): Promise<void> {
  const holds = async (): Promise<true> => {
    await changes.expectConverged();
    return true;
  };
  await waitFor('everything to be as it was asked for', holds, patient);
}

describe('what is made, withdrawn and deleted', () => {
  test(
    'while the database is away is done when it is back, and nothing twice',
    async () => {
      const changes = await ResourceChanges.prepare(stack);
      database.refuse();
      database.kill();
      const backAtMs = performance.now() + databaseOutageMs;
      await changes.make();
      await waitFor(
        'the outage to be reported',
        async () => (await changes.reasonOfMade()) === 'StoreUnavailable',
        patient,
      );
      await expect(changes.expectConverged()).rejects.toThrow();
      await pause(backAtMs - performance.now());
      await database.accept();
      await expectConverged(changes);
    },
    limitMs,
  );

  const refusals = [
    { status: 500, reason: 'InternalError' },
    { status: 403, reason: 'Forbidden' },
    { status: 429, reason: 'TooManyRequests' },
  ];

  test.each(drawOf(refusals, 1))(
    'while the API server answers every write $status is done afterwards, and nothing twice',
    async ({ status, reason }) => {
      const changes = await ResourceChanges.prepare(stack);
      let refused = 0;
      let isRefusing = true;
      const isRefused = (request: ProxiedRequest): boolean => {
        if (!isRefusing || !isWrite(request)) return false;
        refused += 1;
        return true;
      };
      api.answer(isRefused, failureAnswer(status, reason), { times: Infinity });
      const endsAtMs = performance.now() + refusalMs;
      await changes.make();
      await waitFor('writes to be refused', () => refused >= 5, patient);
      await expect(changes.expectConverged()).rejects.toThrow();
      await pause(Math.max(endsAtMs - performance.now(), 0));
      isRefusing = false;
      await expectConverged(changes);
    },
    limitMs,
  );
});
