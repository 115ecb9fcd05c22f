import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ApiEnvironment } from '../support/api/api-client.ts';
import { DisasterSite, everythingOf } from '../support/cluster/disaster-site.ts';
import { applyResources, exportResources } from './exported-resources.ts';
import { MovedClock } from '../support/faults/moved-clock.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { createTestDatabase } from '../support/database/postgres.ts';
import { forgetLeader, snapshotsTakenBy } from '../support/cluster/resource-rows.ts';
import { readyOf } from '../support/cluster/resource-site.ts';
import { applyUnplanned } from '../support/cluster/restore-site.ts';
import { hourMs } from '../support/cluster/schedule-site.ts';
import { type KnownDatabase, Stack } from '../support/cluster/stack.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

// A cluster is lost as a whole: nothing in it is deleted, and no finalizer runs. Another one gets the same YAML over the same
// database, first under the same name, then one more under a name of its own.

const resources = new AsyncDisposableStack();
const dayMs = 24 * hourMs;
// Half a day from now: no test runs over it.
const schedule = `0 ${(new Date().getUTCHours() + 12) % 24} * * *`;
const good = { A: 'one', B: 'two' };
const present = { A: 'one', B: 'two', C: 'three' };
let databaseUrl: string;
let known: KnownDatabase;
let namespaces: readonly string[];
let environment: ApiEnvironment;
let yaml: string;
let snapshotId: string;
/** Of the ServiceToken `ci` in the first cluster. */
let firstValue: string;
let firstOfSchedule: { readonly name: string; readonly snapshotId: string };

beforeAll(async () => {
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  databaseUrl = database.url;
  const doomed = new AsyncDisposableStack();
  try {
    await liveAndDie(doomed);
  } finally {
    await doomed.disposeAsync();
  }
});

afterAll(() => resources.disposeAsync());

/** The life of the first cluster, up to its end at once. */
async function liveAndDie(doomed: AsyncDisposableStack): Promise<void> {
  const { kubeconfig } = await startOwnCluster(doomed);
  const stack = await Stack.start(doomed, { namespaces: 1, adminKubeconfig: kubeconfig, databaseUrl });
  ({ namespaces } = stack);
  known = { rootKey: stack.rootKey, token: stack.adminToken };
  // A day ahead, so that the schedule has missed a time when it is made.
  const clock = new MovedClock(doomed, dayMs);
  const controller = await stack.startController({ clock, env: { CLUSTER_NAME: 'home' } });
  environment = await stack.admin.makeEnvironment();
  const site = new DisasterSite(stack.kube, namespaces[0] ?? '');
  await environment.change(good);
  ({ id: snapshotId } = await stack.admin.call<{ id: string }>('POST', snapshotsPath(), { name: 'by hand' }));
  await site.apply(environment.ref, { snapshotId });
  await site.snapshots.waitForReason('release', 'Adopted');
  await site.snapshots.waitForReason('nightly', 'Taken');
  await site.syncs.create({ environmentRef: environment.ref, snapshotRef: { name: 'nightly' } }, 'night');
  await environment.change({ A: 'bad', C: 'three' });
  await site.restore();
  await site.restores.create({ snapshotId, ...applyUnplanned(environment) }, 'unplanned');
  await site.restores.waitForReason('unplanned', 'Complete');
  const template = { spec: { source: { environmentRef: environment.ref } } };
  await site.schedules.create({ schedule, template, retention: { keepLast: 1 } }, 'daily');
  const { status } = await waitFor('the first snapshot of the schedule', async () => {
    const found = await site.schedules.get('daily');
    return found.status?.lastSnapshot?.snapshotId === undefined ? undefined : found;
  });
  firstOfSchedule = status?.lastSnapshot as typeof firstOfSchedule;
  await site.tokens.waitForReason('ci', 'Issued');
  await waitForValues(site, { web: present, survivor: present, pinned: good, first: good, night: good });
  firstValue = (await site.values('ci'))['token'] ?? '';
  yaml = await exportResources(stack.kube, namespaces[0] ?? '');
  await controller.kill();
  await forgetLeader(databaseUrl, 'home');
}

function snapshotsPath(): string {
  const { organization, project, name } = environment.ref;
  return `/snapshots/${organization}/${project}/${name}`;
}

async function waitForValues(site: DisasterSite, wanted: Readonly<Record<string, object>>): Promise<void> {
  for (const [name, values] of Object.entries(wanted)) {
    const look = async (): Promise<boolean> => {
      expect(await site.values(name)).toEqual(values);
      return true;
    };
    await waitFor(`Secret ${name} to hold what it should`, look);
    await site.syncs.waitForReason(name, 'Synced');
  }
}

interface Everything {
  readonly snapshots: readonly { readonly id: string; readonly createdByName: string }[];
}

describe.each([
  ['under the same name', { CLUSTER_NAME: 'home' }],
  ['under another name', {}],
])('the same YAML in a fresh cluster over the same database, %s', (_, env) => {
  let stack: Stack;
  let site: DisasterSite;
  let clock: MovedClock;
  let before: Everything;

  const everything = async (): Promise<Everything> => (await everythingOf(stack.admin, environment.ref)) as Everything;

  beforeAll(async () => {
    const cluster = await startOwnCluster(resources);
    stack = await Stack.start(resources, { namespaces, adminKubeconfig: cluster.kubeconfig, databaseUrl, known });
    before = await everything();
    clock = new MovedClock(resources, 0);
    await applyResources(cluster, yaml);
    site = new DisasterSite(stack.kube, namespaces[0] ?? '');
    await stack.startController({ clock, env });
  });

  test('has the native Secrets created again, from the environment and from what they are pinned to', async () => {
    // SecretSnapshot nightly names its environment, and so it is another snapshot here, of the present.
    await waitForValues(site, { web: present, survivor: present, pinned: good, first: good, night: present });
  });

  test('finds its environment, and the snapshot that is named by its id', async () => {
    const { status } = await site.environments.waitForReason('production', 'Available');
    expect(status?.environmentId).toBe(environment.id);
    const { status: release } = await site.snapshots.waitForReason('release', 'Adopted');
    expect(release?.snapshotId).toBe(snapshotId);
  });

  test('carries no restore out again, with a plan or without', async () => {
    const planned = await site.restores.waitForReason('back', 'PlanOutdated');
    expect(planned.status?.result).toBeUndefined();
    expect(planned.status?.planHash).not.toBe((planned.spec as { planHash?: string }).planHash);
    const { status } = await site.restores.waitForReason('unplanned', 'AlreadyRestored');
    expect(status?.result).toBeUndefined();
  });

  test('has the schedule take nothing for times of before', async () => {
    const { status } = await site.schedules.waitForReason('daily', 'Scheduled');
    expect(status?.lastSnapshot).toBeUndefined();
    expect(status?.nextToPrune ?? []).toEqual([]);
    expect(Date.parse(status?.nextTime ?? '')).toBeGreaterThan(clock.now());
  });

  test('changes no value, version or revision, and takes just the snapshots that SecretSnapshots ask for', async () => {
    const names = ['nightly', firstOfSchedule.name];
    for (const name of names) await site.snapshots.waitForReason(name, 'Taken');
    const now = await everything();
    const isNew = ({ id }: { id: string }): boolean => !before.snapshots.some((snapshot) => snapshot.id === id);
    expect(now.snapshots.filter((snapshot) => !isNew(snapshot))).toEqual(before.snapshots);
    const taken = now.snapshots.filter(isNew).map(({ createdByName }) => createdByName);
    expect(taken.toSorted()).toEqual(names.map((name) => `SecretSnapshot ${namespaces[0]}/${name}`).toSorted());
    const { snapshots: _now, differences: _nowDifferences, ...rest } = now as Everything & { differences: unknown };
    const {
      snapshots: _then,
      differences: _thenDifferences,
      ...restThen
    } = before as typeof now & { differences: unknown };
    expect(rest).toEqual(restThen);
  });

  test('makes ServiceTokens with values of their own; earlier ones work until they are revoked', async () => {
    await site.tokens.waitForReason('ci', 'Issued');
    const { token = '' } = await site.values('ci');
    expect(token).not.toBe(firstValue);
    for (const value of [token, firstValue]) {
      expect((await stack.admin.as(value).send('GET', environment.path)).status).toBe(200);
    }
  });

  test('has the schedule go on from its next time, and prune its own alone', async () => {
    const old = await snapshotIds();
    await passDay();
    // What was exported has the name, and is not this schedule's.
    await site.schedules.waitForReason('daily', 'TargetNotOwned');
    await passDay();
    const second = await lastTaken();
    await passDay();
    const third = await waitFor('the third snapshot', async () => {
      const last = await lastTaken();
      return last === second ? undefined : last;
    });
    await waitFor('the second one to be pruned', async () => !(await snapshotIds()).includes(second));
    expect((await snapshotIds()).toSorted()).toEqual([...old, third].toSorted());
    const uid = (await site.snapshots.get(firstOfSchedule.name)).metadata.uid;
    expect(await snapshotsTakenBy(databaseUrl, uid)).toHaveLength(1);
  });

  test('follows the environment from then on', async () => {
    await environment.at(stack.admin).change({ D: 'four' });
    await waitForValues(site, { web: { ...present, D: 'four' }, pinned: good });
    await environment.at(stack.admin).change({}, ['D']);
    await waitForValues(site, { web: present });
  });

  async function snapshotIds(): Promise<string[]> {
    return (await everything()).snapshots.map(({ id }) => id);
  }

  async function passDay(): Promise<void> {
    await clock.pass(dayMs);
    const annotations = { 'keyframe.dev/reconcile-at': String(clock.now()) };
    await site.schedules.patch('daily', { metadata: { annotations } });
  }

  /** The id of the newest snapshot of the schedule, once it is taken. */
  async function lastTaken(): Promise<string> {
    return waitFor('a snapshot of the schedule', async () => {
      const found = await site.schedules.get('daily');
      return readyOf(found)?.reason === 'Scheduled' ? found.status?.lastSnapshot?.snapshotId : undefined;
    });
  }
});
