import { expect } from '@jest/globals';
import { waitForPass } from './crash-trials.ts';
import type { MovedClock } from '../faults/moved-clock.ts';
import { runsOf, snapshotsTakenBy } from './resource-rows.ts';
import { readyOf } from './resource-site.ts';
import { type ScheduleSite, hourOf, nameAt } from './schedule-site.ts';

/** Where schedules are tried. */
export interface ScheduleGround {
  readonly site: ScheduleSite;
  /** The controllers'. */
  readonly clock: MovedClock;
  readonly databaseUrl: string;
}

let made = 0;

/** A schedule whose one SecretSnapshot that is there is to be for this hour. */
export class ScheduleTrial {
  readonly name = `hourly-${++made}`;
  readonly #ground: ScheduleGround;

  constructor(ground: ScheduleGround) {
    this.#ground = ground;
  }

  async create(more: object = {}): Promise<void> {
    const { site } = this.#ground;
    await site.schedules.create(site.spec(more), this.name);
  }

  async expectTaken(): Promise<void> {
    const { site, clock } = this.#ground;
    const schedule = await site.schedules.get(this.name);
    const due = nameAt(this.name, hourOf(clock.now()));
    expect(await this.#children()).toEqual([due]);
    expect(readyOf(schedule)).toMatchObject({ status: 'True', reason: 'Scheduled' });
    expect(schedule.status?.lastSnapshot).toMatchObject({ name: due, snapshotId: expect.any(String) });
    expect(readyOf(await site.snapshots.get(due))).toMatchObject({ status: 'True', reason: 'Taken' });
  }

  /** One SecretSnapshot with one snapshot, remembered as made by the schedule; and nothing is left of those before. */
  async proveOne(): Promise<void> {
    const { site, databaseUrl } = this.#ground;
    const { metadata, status } = await site.schedules.get(this.name);
    const [child, ...more] = (await site.children()).filter((each) => each.metadata.name.startsWith(`${this.name}-`));
    expect(more).toEqual([]);
    const { name = '', uid = '' } = child?.metadata ?? {};
    expect((await runsOf(databaseUrl, metadata.uid)).at(-1)).toEqual({ name, uid });
    expect(await snapshotsTakenBy(databaseUrl, uid)).toEqual([status?.lastSnapshot?.snapshotId]);
    expect((await site.listed()).filter((each) => each.name?.startsWith(`${this.name}-`))).toHaveLength(1);
  }

  async clear(): Promise<void> {
    const { site } = this.#ground;
    await site.schedules.delete(this.name);
    for (const child of await this.#children()) await site.snapshots.delete(child);
    await waitForPass(async () => expect(await this.#children()).toEqual([]));
  }

  async #children(): Promise<readonly string[]> {
    return (await this.#ground.site.childNames()).filter((name) => name.startsWith(`${this.name}-`));
  }
}
