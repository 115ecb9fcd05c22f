import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { MovedClock } from '../support/faults/moved-clock.ts';
import { conditionsOf, readyOf } from '../support/cluster/resource-site.ts';
import { ScheduleSite, clockAhead, hourMs, hourOf, nameAt } from '../support/cluster/schedule-site.ts';
import { Stack } from '../support/cluster/stack.ts';
import { suggestedPatch } from '../support/cluster/suggested-patch.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

// The controller's clock is ahead of the API server's, and is put forward if time is to pass.

const resources = new AsyncDisposableStack();
let stack: Stack;
let clock: MovedClock;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 16 });
  clock = clockAhead(resources);
  await stack.startController({ clock });
});

afterAll(() => resources.disposeAsync());

describe('a SnapshotSchedule', () => {
  test('leaves its SecretSnapshots and their snapshots where they are when it is deleted', async () => {
    const site = await ScheduleSite.makeGranted(stack);
    await site.schedules.create(site.spec({ retention: { keepLast: 1 } }), 'hourly');
    const due = hourOf(clock.now());
    await site.waitUntilTaken('hourly', due);
    await site.schedules.delete('hourly');
    await site.schedules.waitUntilGone('hourly');
    // Another one of that name does not take them for its own, and has no snapshot for a time that is taken.
    await site.schedules.create(site.spec({ retention: { keepLast: 1 } }), 'hourly');
    const refused = await site.schedules.waitForReason('hourly', 'TargetNotOwned');
    expect(readyOf(refused)?.message).toContain(nameAt('hourly', due));
    expect(refused.status?.nextTime).toBe(new Date(due + hourMs).toISOString().replace('.000Z', 'Z'));
    const next = await site.passHours(clock, 'hourly');
    await site.waitUntilTaken('hourly', next);
    await site.look('hourly');
    await site.waitForChildren([due, next].map((ms) => nameAt('hourly', ms)));
    expect(await site.listed()).toHaveLength(2);
  });

  test('takes and prunes nothing while it is suspended, and the latest one when it goes on', async () => {
    const site = await ScheduleSite.makeGranted(stack);
    await site.schedules.create(site.spec({ suspend: true }), 'hourly');
    const suspended = await site.schedules.waitForReason('hourly', 'Suspended');
    expect(suspended.status?.nextTime).toBeUndefined();
    const due = await site.passHours(clock, 'hourly', 3);
    await site.expectOnlyChildren('hourly', [], { reason: 'Scheduled', dueMs: due });
    await site.schedules.patch('hourly', { spec: { suspend: false } });
    await site.waitUntilTaken('hourly', due);
    expect(await site.childNames()).toHaveLength(1);
  });

  test('with skipUnchanged takes one only if something changed, so that no equal ones displace it', async () => {
    const site = await ScheduleSite.makeGranted(stack);
    await site.schedules.create(site.spec({ skipUnchanged: true, retention: { keepLast: 2 } }), 'hourly');
    const taken = [hourOf(clock.now())];
    await site.waitUntilTaken('hourly', taken[0] ?? 0);
    const standsFor = async (dueMs: number): Promise<void> => {
      await waitFor('the unchanged snapshot to stand for the time', async () => {
        const { status } = await site.schedules.get('hourly');
        const [name, time] = [nameAt('hourly', taken.at(-1) ?? 0), new Date(dueMs).toISOString().replace('.000Z', 'Z')];
        expect(status?.lastSnapshot).toMatchObject({ name, time });
        return true;
      });
    };
    for (const _ of [1, 2, 3]) await standsFor(await site.passHours(clock, 'hourly'));
    expect(readyOf(await site.schedules.get('hourly'))?.message).toContain('the environment has not changed');
    await site.environment.change({ A: 'other' });
    taken.push(await site.passHours(clock, 'hourly'));
    await site.waitUntilTaken('hourly', taken[1] ?? 0);
    await standsFor(await site.passHours(clock, 'hourly'));
    const names = taken.map((ms) => nameAt('hourly', ms));
    await site.expectOnlyChildren('hourly', names, { reason: 'Scheduled', dueMs: hourOf(clock.now()) });
    // What stands for a time and is gone is taken again at the next one.
    await site.snapshots.delete(names[1] ?? '');
    await site.snapshots.waitUntilGone(names[1] ?? '');
    const next = await site.passHours(clock, 'hourly');
    await site.waitUntilTaken('hourly', next);
  });

  test('takes nothing that it is too late for, and says so', async () => {
    const site = await ScheduleSite.makeGranted(stack);
    const late = { schedule: '0 0 1 * *', startingDeadlineSeconds: 10 };
    await site.schedules.create(site.spec({ ...late, schedule: '@hourly' }), 'strict');
    const missed = await site.schedules.waitForReason('strict', 'Missed');
    expect(readyOf(missed)).toMatchObject({ status: 'False', message: expect.stringContaining('within 10 s') });
    await site.expectOnlyChildren('strict', [], { reason: 'Scheduled', dueMs: hourOf(clock.now()) });
    await site.schedules.patch('strict', { spec: { startingDeadlineSeconds: 7200 } });
    await site.waitUntilTaken('strict', hourOf(clock.now()));
  });
});

describe('what a schedule cannot be about', () => {
  test.each([
    ['an hour that there is not', { schedule: '0 24 * * *' }, 'Change spec.schedule: "0 24 * * *" is not a schedule'],
    ['a day that never comes', { schedule: '0 0 31 2 *' }, 'never runs'],
    ['signs of other schedulers', { schedule: '0 0 15W * *' }, 'is not a schedule'],
    [
      'a time zone that there is not',
      { timeZone: 'Mars/Olympus' },
      'Change spec.timeZone: "Mars/Olympus" is not an IANA',
    ],
  ])('%s stalls it until its spec changes', async (_, wrong, message) => {
    const site = await ScheduleSite.makeGranted(stack);
    await site.schedules.create(site.spec(wrong), 'hourly');
    const stalled = await site.schedules.waitForReason('hourly', 'InvalidSpec');
    expect(conditionsOf(stalled)).toEqual(['Ready False', 'Reconciling False', 'Stalled True']);
    expect(readyOf(stalled)?.message).toContain(message);
    await site.schedules.patch('hourly', { spec: { schedule: '0 * * * *', timeZone: 'Europe/Berlin' } });
    await site.waitUntilTaken('hourly', hourOf(clock.now()));
  });

  test('labels that no SecretSnapshot can have stall it', async () => {
    const site = await ScheduleSite.makeGranted(stack);
    const { template } = site.spec() as { template: object };
    const labels = { team: 'not a label' };
    await site.schedules.create(site.spec({ template: { ...template, metadata: { labels } } }), 'hourly');
    const stalled = await site.schedules.waitForReason('hourly', 'InvalidSpec');
    expect(readyOf(stalled)?.message).toContain('labels and annotations');
    await site.schedules.patch('hourly', { spec: { template: { metadata: null } } });
    await site.waitUntilTaken('hourly', hourOf(clock.now()));
  });

  test('what it is not granted it says, with the rule that its grant lacks, which can be added as it is', async () => {
    const site = await ScheduleSite.make(stack);
    // Enough for the schedule, and too little for what it makes.
    const half = await site.grant(['SnapshotSchedule']);
    await site.schedules.create(site.spec(), 'hourly');
    const refused = await site.schedules.waitForReason('hourly', 'AccessDenied');
    const message = readyOf(refused)?.message ?? '';
    expect(refused.status?.nextTime).toBeUndefined();
    await site.expectOnlyChildren('hourly', [], { reason: 'AccessDenied' });
    const shown = suggestedPatch(message);
    expect(shown).toMatchObject({ grant: half, rule: { kinds: ['SnapshotSchedule', 'SecretSnapshot'] } });
    await shown.apply();
    await site.waitUntilTaken('hourly', hourOf(clock.now()));
  });

  test('a grant that is withdrawn, and an environment that is deleted, are reported, and nothing is taken or pruned', async () => {
    const site = await ScheduleSite.make(stack);
    const granted = await site.grant();
    await site.schedules.create(site.spec({ retention: { keepLast: 5 } }), 'hourly');
    const kept = [hourOf(clock.now())];
    await site.waitUntilTaken('hourly', kept[0] ?? 0);
    for (const _ of [1, 2]) {
      kept.push(await site.passHours(clock, 'hourly'));
      await site.waitUntilTaken('hourly', kept.at(-1) ?? 0);
    }
    await site.withdraw(granted);
    await site.schedules.waitForReason('hourly', 'AccessDenied');
    await site.schedules.patch('hourly', { spec: { retention: { keepLast: 1 } } });
    await site.passHours(clock, 'hourly');
    const names = kept.map((ms) => nameAt('hourly', ms));
    await site.expectOnlyChildren('hourly', names, { reason: 'AccessDenied' });
    const { organization, project, name } = site.environment.ref;
    await stack.admin.call('DELETE', `/environments/${organization}/${project}/${name}`);
    await site.grant();
    await site.schedules.waitForReason('hourly', 'NotFound');
    clock.move(60_000);
    await waitFor('it to stall', async () => {
      expect(conditionsOf(await site.schedules.get('hourly'))).toEqual([
        'Ready False',
        'Reconciling False',
        'Stalled True',
      ]);
      return true;
    });
    await site.expectOnlyChildren('hourly', names, { reason: 'NotFound' });
  });
});

describe('the retention', () => {
  test('prunes what it does not keep, with the snapshots, but nothing that is pinned or not its own', async () => {
    const site = await ScheduleSite.makeGranted(stack);
    const first = hourOf(clock.now());
    const labels = { 'keyframe.dev/schedule': 'hourly' };
    const source = { environmentRef: site.environment.ref };
    // By name and label as if the schedule had made them; and one with the label alone.
    const foreign = [nameAt('hourly', first - 9 * hourMs), 'before-deploy'];
    for (const name of foreign) {
      await site.snapshots.create({ source, deletionPolicy: 'Delete' }, name);
      await site.snapshots.patch(name, { metadata: { labels } });
      await site.snapshots.waitForReason(name, 'Taken');
    }
    await site.schedules.create(site.spec({ retention: { keepLast: 2 } }), 'hourly');
    await site.waitUntilTaken('hourly', first);
    const sync = { environmentRef: site.environment.ref, snapshotRef: { name: nameAt('hourly', first) } };
    const path = `/apis/keyframe.dev/v1alpha1/namespaces/${site.namespace}/secretsyncs`;
    const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync', metadata: { name: 'pinned' }, spec: sync };
    await stack.kube.json({ method: 'POST', path, body });
    const taken = [first];
    for (const _ of [1, 2, 3]) {
      taken.push(await site.passHours(clock, 'hourly'));
      await site.waitUntilTaken('hourly', taken.at(-1) ?? 0);
    }
    const [, , third = 0, fourth = 0] = taken;
    const kept = [...foreign, ...[first, third, fourth].map((ms) => nameAt('hourly', ms))];
    await site.waitForChildren(kept);
    await site.expectOnlyChildren('hourly', kept, { reason: 'Scheduled', dueMs: fourth });
    await waitFor('the pruned snapshot to be gone', async () => (await site.listed()).length === 5);
    const { status } = await site.schedules.get('hourly');
    expect(status).toMatchObject({ nextToPrune: [nameAt('hourly', third)], snapshotCount: 3 });
    // Nothing needs it any more.
    await stack.kube.json({ method: 'DELETE', path: `${path}/pinned` });
    const fifth = await site.passHours(clock, 'hourly');
    await site.waitUntilTaken('hourly', fifth);
    await site.waitForChildren([...foreign, ...[fourth, fifth].map((ms) => nameAt('hourly', ms))]);
  });

  test('leaves a SecretSnapshot whose snapshot another one adopted, for as long as that is there', async () => {
    const site = await ScheduleSite.makeGranted(stack);
    await site.schedules.create(site.spec({ retention: { keepLast: 1 } }), 'hourly');
    const first = hourOf(clock.now());
    const { status } = await site.waitUntilTaken('hourly', first);
    await site.snapshots.create({ source: { snapshotId: status?.lastSnapshot?.snapshotId } }, 'release');
    await site.snapshots.waitForReason('release', 'Adopted');
    const second = await site.passHours(clock, 'hourly');
    await site.waitUntilTaken('hourly', second);
    const third = await site.passHours(clock, 'hourly');
    await site.waitUntilTaken('hourly', third);
    const kept = ['release', ...[first, third].map((ms) => nameAt('hourly', ms))];
    await site.waitForChildren(kept);
    await site.expectOnlyChildren('hourly', kept, { reason: 'Scheduled', dueMs: third });
    await site.snapshots.waitForReason('release', 'Adopted');
    await site.snapshots.delete('release');
    const fourth = await site.passHours(clock, 'hourly');
    await site.waitUntilTaken('hourly', fourth);
    await site.waitForChildren([nameAt('hourly', fourth)]);
  });

  test('prunes nothing while the latest one is not there, and never the only good one', async () => {
    const site = await ScheduleSite.makeGranted(stack);
    await site.schedules.create(site.spec({ retention: { keepLast: 1 } }), 'hourly');
    const first = hourOf(clock.now());
    await site.waitUntilTaken('hourly', first);
    const second = await site.passHours(clock, 'hourly');
    const { status } = await site.waitUntilTaken('hourly', second);
    await site.waitForChildren([nameAt('hourly', second)]);
    await stack.admin.call('DELETE', `${site.apiPath}/${status?.lastSnapshot?.snapshotId}`);
    const failed = await site.schedules.waitForReason('hourly', 'SnapshotFailed');
    expect(readyOf(failed)?.message).toContain('SnapshotGone');
    const third = await site.passHours(clock, 'hourly');
    await site.waitUntilTaken('hourly', third);
    await site.schedules.waitForReason('hourly', 'Scheduled');
    // The one without a snapshot goes, now that there is a good one.
    await site.waitForChildren([nameAt('hourly', third)]);
  });

  test('Retain leaves the snapshots of pruned SecretSnapshots in Keyframe', async () => {
    const site = await ScheduleSite.makeGranted(stack);
    const template = { spec: { source: { environmentRef: site.environment.ref }, deletionPolicy: 'Retain' } };
    await site.schedules.create(site.spec({ template, retention: { keepDaily: 1 } }), 'hourly');
    await site.waitUntilTaken('hourly', hourOf(clock.now()));
    const second = await site.passHours(clock, 'hourly', 24);
    await site.waitUntilTaken('hourly', second);
    await site.waitForChildren([nameAt('hourly', second)]);
    expect(await site.listed()).toHaveLength(2);
  });
});
