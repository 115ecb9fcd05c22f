import { adminClient } from '../support/cluster/cluster.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';
import { isLeading } from './reconciles.ts';

/**
 * Takes the Lease from the controller that leads, while it hangs, and lets it go on once the other one leads. Both live on, so
 * that what they hold can be followed over the change.
 */
export async function changeLeader(controllers: readonly ServerProcess[], leasePath: string): Promise<void> {
  const leader = await waitFor('a controller to lead', async () => {
    const leading = await Promise.all(controllers.map(isLeading));
    return controllers.find((_, index) => leading[index]);
  });
  const others = controllers.filter((controller) => controller !== leader);
  leader.suspend();
  try {
    await adminClient().find({ method: 'DELETE', path: leasePath });
    await waitFor('another controller to lead', async () => (await Promise.all(others.map(isLeading))).includes(true));
  } finally {
    leader.resume();
  }
  await waitFor('the former leader to stand by', async () => !(await isLeading(leader)));
}
