import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readOnlyFault } from '../../src/store/session.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { ReplicatedPostgres } from '../support/database/replicated-postgres.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** The controller while a real standby takes the place of its primary, and a new standby that of this one. */

const resources = new AsyncDisposableStack();
let postgres: ReplicatedPostgres;
let stack: Stack;
let controller: ServerProcess;
let site: SyncSite;

beforeAll(async () => {
  postgres = await ReplicatedPostgres.start(resources);
  stack = await Stack.start(resources, { namespaces: 1, databaseUrl: postgres.url });
  controller = await stack.startController();
  site = await stack.makeSite({ values: { COUNT: '0' } });
  await site.waitUntilSynced({ COUNT: '0' });
});

afterAll(() => resources.disposeAsync());

async function reason(): Promise<string | undefined> {
  const response = await fetch(`${controller.metricsUrl}/readyz`);
  return ((await response.json()) as { reason?: string }).reason;
}

test.each(['1', '2'])(
  'a controller is ready and syncs again when the standby is promoted (failover %s)',
  async (count) => {
    // The target must not follow while PostgreSQL takes no writes.
    const before = await site.existingSecret();
    await postgres.failOver();
    await waitFor('the controller to report the standby', async () => (await reason()) === readOnlyFault);
    expect(await site.existingSecret()).toEqual(before);
    await postgres.promote();
    const promotedAt = performance.now();
    await waitFor('a change to be accepted', () => site.environment.change({ COUNT: count }).then(() => true));
    expect(performance.now() - promotedAt).toBeLessThan(5_000);
    await site.waitUntilSynced({ COUNT: count });
    await waitFor('the controller to be ready', async () => (await reason()) === undefined);
    await postgres.addStandby();
  },
);
