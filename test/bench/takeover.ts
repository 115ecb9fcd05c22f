import type { KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';
import type { Fleet } from './fleet.ts';
import type { Contenders, FleetSite } from './fleet-site.ts';
import { isLeading, reconcilesOf, untilIdle } from './reconciles.ts';
import { measureChanges } from './secret-contender.ts';
import { startReconciling } from './site-processes.ts';

/** What became of a change of the leader. */
export interface Takeover {
  /** The new leader. */
  readonly successor: ServerProcess;
  /** From the moment in which it leads until it has verified every SecretSync. */
  readonly durationMs: number;
  /** SecretSyncs that it verified, and the Secrets that a bare loop reads. */
  readonly perSecond: number;
  readonly floorPerSecond: number;
  /** How many objects of the fleet were written meanwhile. */
  readonly written: number;
  /** How long changes took that came meanwhile. */
  readonly changesMs: readonly number[];
}

export interface TakeoverOptions {
  readonly leader: ServerProcess;
  /** How long a controller that is idle has reconciled nothing. */
  readonly settleMs: number;
  /** For the successor's node. */
  readonly nodeArgs?: readonly string[];
  /** Called when the successor stands by, before the leader ends. */
  readonly whileStandingBy?: (successor: ServerProcess) => Promise<void>;
}

/** The leader ends in order; another controller, which stood by, verifies everything and goes on. */
export async function takeOver(
  resources: AsyncDisposableStack,
  { place, fleet, floorObjects, contenders, env }: FleetSite & Contenders,
  { leader, settleMs, nodeArgs = [], whileStandingBy }: TakeoverOptions,
): Promise<Takeover> {
  const successor = await startReconciling(resources, place, { role: 'controller', env, nodeArgs });
  await whileStandingBy?.(successor);
  const versions = versionsOf(fleet);
  const stopped = leader.stop();
  await waitFor('the next leader', () => isLeading(successor), { pollMs: 50 });
  const leadsAt = performance.now();
  const takeover = { doneAt: 0 };
  const verified = waitFor(
    'every SecretSync to be verified',
    async () => (await reconcilesOf(successor, 'SecretSync')) > fleet.size,
    { pollMs: 200, timeoutMs: 600_000 },
  ).then(() => (takeover.doneAt = performance.now()));
  const changesMs: number[] = [];
  while (takeover.doneAt === 0) changesMs.push(...(await measureChanges(contenders.keyframe, 1, () => 25)));
  await Promise.all([verified, stopped]);
  await untilIdle(successor, settleMs);
  const durationMs = takeover.doneAt - leadsAt;
  const floorPerSecond = await floorObjects.get(fleet.size);
  const after = versionsOf(fleet);
  const written = [...after].filter(([id, version]) => versions.get(id) !== version).length;
  return { successor, durationMs, perSecond: (fleet.size * 1000) / durationMs, floorPerSecond, written, changesMs };
}

/** Of the fleet's own objects; the contender's change all the time. */
function versionsOf(fleet: Fleet): ReadonlyMap<string, string> {
  const version = (objects: ReadonlyMap<string, KubeObject>, key: string): string =>
    objects.get(key)?.metadata.resourceVersion ?? '';
  return new Map(
    fleet.keys().flatMap((key) => [
      [`SecretSync ${key}`, version(fleet.syncs.objects, key)],
      [`Secret ${key}`, version(fleet.secrets.objects, key)],
    ]),
  );
}
