/** @default A SnapshotSchedule takes each snapshot once, by its own timer too, and also where two controllers both lead. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { MovedClock } from '../support/faults/moved-clock.ts';
import { conditionsOf, readyOf } from '../support/cluster/resource-site.ts';
import { ScheduleSite, clockAhead, hourMs, hourOf, nameAt } from '../support/cluster/schedule-site.ts';
import { Stack } from '../support/cluster/stack.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

// The controller's clock is ahead of the API server's, and is put forward if time is to pass.

const resources = new AsyncDisposableStack();
let stack: Stack;
let clock: MovedClock;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 4 });
  clock = clockAhead(resources);
  await stack.startController({ clock });
});

afterAll(() => resources.disposeAsync());

/** The texts of the Events with this reason. */
async function eventNotes({ namespace }: ScheduleSite, reason: string): Promise<string[]> {
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const { items } = await stack.kube.json<{ items: { reason: string; note: string }[] }>({ path });
  return items.flatMap((event) => (event.reason === reason ? [event.note] : []));
}

describe('a SnapshotSchedule', () => {
  test('takes the latest of the times that were missed, and then each one as it comes, once', async () => {
    const site = await ScheduleSite.makeGranted(stack);
    const labels = { team: 'web' };
    const { template } = site.spec() as { template: object };
    await site.schedules.create(site.spec({ template: { ...template, metadata: { labels } } }), 'hourly');
    const first = hourOf(clock.now());
    const schedule = await site.waitUntilTaken('hourly', first);
    expect(conditionsOf(schedule)).toEqual(['Ready True', 'Reconciling False', 'Stalled False']);
    expect(readyOf(schedule)?.reason).toBe('Scheduled');
    expect(schedule.status).toMatchObject({ nextTime: new Date(first + hourMs).toISOString().replace('.000Z', 'Z') });
    expect(schedule.metadata.finalizers).toBeUndefined();
    const second = await site.passHours(clock, 'hourly');
    await site.waitUntilTaken('hourly', second);
    // Five hours without a controller that looks: one snapshot, not five.
    const third = await site.passHours(clock, 'hourly', 5);
    const { status } = await site.waitUntilTaken('hourly', third);
    expect(status?.snapshotCount).toBe(3);
    await site.look('hourly');
    const names = [first, second, third].map((ms) => nameAt('hourly', ms));
    await site.waitForChildren(names);
    const [child] = await site.children();
    expect(child).toMatchObject({
      metadata: { labels: { team: 'web', 'keyframe.dev/schedule': 'hourly' } },
      spec: { name: names[0], deletionPolicy: 'Delete', source: { environmentRef: site.environment.ref } },
      status: { secretCount: 2 },
    });
    expect(child?.metadata.ownerReferences).toBeUndefined();
    expect((await site.listed()).map(({ name }) => name)).toEqual(names.toReversed());
    await waitFor('an Event for each SecretSnapshot', async () => {
      const notes = await eventNotes(site, 'SnapshotCreated');
      return names.every((name) => notes.includes(`Created SecretSnapshot ${name}.`));
    });
  });

  test('comes by its own timer', async () => {
    const site = await ScheduleSite.makeGranted(stack);
    // Two seconds before a minute.
    clock.move(58_000 - (clock.now() % 60_000) + (clock.now() % 60_000 > 58_000 ? 60_000 : 0));
    const next = Math.ceil(clock.now() / 60_000) * 60_000;
    await site.schedules.create(site.spec({ schedule: '* * * * *' }), 'minutely');
    await site.waitUntilTaken('minutely', next);
    await site.schedules.patch('minutely', { spec: { suspend: true } });
    await site.schedules.waitForReason('minutely', 'Suspended');
    expect(await site.childNames()).toEqual([next - 60_000, next].map((ms) => nameAt('minutely', ms)));
  });
});

test('two controllers that both lead make one SecretSnapshot for a time', async () => {
  const site = await ScheduleSite.makeGranted(stack);
  await stack.startController({ name: 'another', clock, env: { NAMESPACE: stack.namespaces[1] ?? '' } });
  const dues: number[] = [];
  for (const name of ['one', 'two', 'three', 'four']) {
    dues.push(hourOf(clock.now()));
    await site.schedules.create(site.spec(), name);
  }
  for (const [index, name] of ['one', 'two', 'three', 'four'].entries()) {
    const schedule = await site.waitUntilTaken(name, dues[index] ?? 0);
    expect(readyOf(schedule)?.reason).toBe('Scheduled');
  }
  expect(await site.childNames()).toHaveLength(4);
  expect(await site.listed()).toHaveLength(4);
});
