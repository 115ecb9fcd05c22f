import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { AccessGrant } from '../../../src/controller/generated/access-grant.ts';
import type { SecretSnapshot } from '../../../src/controller/generated/secret-snapshot.ts';
import type { SnapshotSchedule } from '../../../src/controller/generated/snapshot-schedule.ts';
import type { ApiEnvironment } from '../api/api-client.ts';
import { MovedClock } from '../faults/moved-clock.ts';
import { ResourceSite } from './resource-site.ts';
import type { Stack } from './stack.ts';
import { waitFor } from '../fixtures/wait-for.ts';

const scheduleKinds = ['SnapshotSchedule', 'SecretSnapshot'];

export interface ApiSnapshot {
  readonly id: string;
  readonly name: string | null;
  readonly createdByName: string;
}

/** What a schedule comes to that is made to show how far the controller has come. */
export interface ScheduleWitness {
  readonly reason: string;
  /** The time that it takes a snapshot for; absent if it takes none. */
  readonly dueMs?: number;
}

/** An environment, and a namespace with SnapshotSchedules of it. */
export class ScheduleSite {
  readonly namespace: string;
  readonly environment: ApiEnvironment;
  readonly schedules: ResourceSite<SnapshotSchedule>;
  readonly snapshots: ResourceSite<SecretSnapshot>;
  readonly #stack: Stack;
  readonly #grants: ResourceSite<AccessGrant>;

  private constructor(stack: Stack, environment: ApiEnvironment, namespace: string) {
    this.#stack = stack;
    this.environment = environment;
    this.namespace = namespace;
    const { kube } = stack;
    const site = { kube, namespace };
    this.schedules = new ResourceSite({ ...site, kind: 'SnapshotSchedule', plural: 'snapshotschedules' });
    this.snapshots = new ResourceSite({ ...site, kind: 'SecretSnapshot', plural: 'secretsnapshots' });
    this.#grants = new ResourceSite({ kube, kind: 'AccessGrant', plural: 'accessgrants' });
  }

  static async make(stack: Stack, namespace: string = stack.takeNamespace()): Promise<ScheduleSite> {
    const environment = await stack.admin.makeEnvironment();
    await environment.change({ A: 'a', B: 'b' });
    return new ScheduleSite(stack, environment, namespace);
  }

  /** The same in a namespace that is granted the environment. */
  static async makeGranted(stack: Stack): Promise<ScheduleSite> {
    const site = await ScheduleSite.make(stack);
    await site.grant();
    return site;
  }

  /** Grants the namespace its environment for some kinds; answers the grant's name. */
  async grant(kinds: readonly string[] = scheduleKinds): Promise<string> {
    const { organization, project, name } = this.environment.ref;
    const rule = { organization, project, environments: [name], permission: 'ReadWrite', kinds };
    return await this.#grants.create({ namespaces: [this.namespace], rules: [rule] });
  }

  async withdraw(grant: string): Promise<void> {
    await this.#grants.delete(grant);
  }

  /** The spec of a schedule of the environment: every hour by default. */
  spec(more: object = {}): object {
    return { schedule: '0 * * * *', template: { spec: { source: { environmentRef: this.environment.ref } } }, ...more };
  }

  /** Has a schedule looked at now. */
  async look(name: string): Promise<void> {
    await this.schedules.requestReconcile(name);
  }

  /** Lets hours pass on the controller's clock, and has a schedule looked at; returns the beginning of the hour that is now. */
  async passHours(clock: MovedClock, name: string, hours = 1): Promise<number> {
    await clock.pass(hours * hourMs);
    await this.look(name);
    return hourOf(clock.now());
  }

  /**
   * Expects that nothing changes which of a schedule's SecretSnapshots are there, once the controller has processed all
   * that happened before the call. A schedule that is made afterwards shows that by a condition Ready with this reason.
   */
  async expectOnlyChildren(name: string, children: readonly string[], witness: ScheduleWitness): Promise<void> {
    const look = async (): Promise<void> => expect(await this.childNames()).toEqual(children.toSorted());
    await look();
    await this.look(name);
    await this.#passWitness(witness);
    await look();
  }

  async #passWitness({ reason, dueMs }: ScheduleWitness): Promise<void> {
    const name = `witness-${randomUUID()}`;
    await this.schedules.create(this.spec(), name);
    if (dueMs !== undefined) await this.waitUntilTaken(name, dueMs);
    await this.schedules.waitForReason(name, reason);
    await this.schedules.delete(name);
    await this.schedules.waitUntilGone(name);
    if (dueMs === undefined) return;
    await this.snapshots.delete(nameAt(name, dueMs));
    await this.snapshots.waitUntilGone(nameAt(name, dueMs));
  }

  /** The SecretSnapshots of the namespace, by name. */
  async children(): Promise<readonly SecretSnapshot[]> {
    const { items } = await this.#stack.kube.json<{ items: SecretSnapshot[] }>({ path: this.snapshots.path() });
    return items.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  async childNames(): Promise<readonly string[]> {
    return (await this.children()).map(({ metadata }) => metadata.name);
  }

  /** Waits until a schedule's newest SecretSnapshot is for this time and was taken; answers the schedule. */
  async waitUntilTaken(name: string, dueMs: number): Promise<SnapshotSchedule> {
    return await waitFor(`the snapshot of ${new Date(dueMs).toISOString()}`, async () => {
      const schedule = await this.schedules.get(name);
      expect(schedule.status?.lastSnapshot).toMatchObject({
        name: nameAt(name, dueMs),
        snapshotId: expect.any(String),
        time: new Date(dueMs).toISOString().replace('.000Z', 'Z'),
      });
      return schedule;
    });
  }

  /** Waits until these are the SecretSnapshots of the namespace. */
  async waitForChildren(names: readonly string[]): Promise<void> {
    const wanted = names.toSorted();
    await waitFor(`the SecretSnapshots to be ${wanted.join(', ')}`, async () => {
      expect(await this.childNames()).toEqual(wanted);
      return true;
    });
  }

  /** The environment's snapshots over the API, newest first. */
  async listed(): Promise<readonly ApiSnapshot[]> {
    const { snapshots } = await this.#stack.admin.call<{ snapshots: ApiSnapshot[] }>('GET', this.apiPath);
    return snapshots;
  }

  get apiPath(): string {
    const { organization, project, name } = this.environment.ref;
    return `/snapshots/${organization}/${project}/${name}`;
  }
}

/** The name of a schedule's SecretSnapshot for a time. */
export function nameAt(schedule: string, dueMs: number): string {
  return `${schedule}-${new Date(dueMs).toISOString().slice(0, 16).replaceAll(/[-:T]/g, '')}`;
}

export const hourMs = 3_600_000;

/** The beginning of the hour of a moment. */
export function hourOf(ms: number): number {
  return Math.floor(ms / hourMs) * hourMs;
}

/**
 * A clock for a controller, a day ahead of the API server's, so that every schedule has missed times when it is made. It
 * starts at least ten minutes before the end of an hour: no test must run over it.
 */
export function clockAhead(resources: AsyncDisposableStack): MovedClock {
  const clock = new MovedClock(resources, 24 * hourMs);
  const toGoMs = hourOf(clock.now()) + hourMs - clock.now();
  if (toGoMs < 600_000) clock.move(toGoMs);
  return clock;
}
