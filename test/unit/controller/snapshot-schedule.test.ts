import { beforeEach, describe, expect, test } from '@jest/globals';
import { type ErrorCode, errorCatalogue } from '../../../src/domain/errors/catalogue.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import type { SchedulesBackend } from '../../../src/controller/backend/schedules.ts';
import { Seen } from '../../../src/controller/frame/dependencies.ts';
import type { Outcome } from '../../../src/controller/frame/outcome.ts';
import type { SecretSnapshot } from '../../../src/controller/generated/secret-snapshot.ts';
import type { SnapshotSchedule, SnapshotScheduleSpec } from '../../../src/controller/generated/snapshot-schedule.ts';
import { childName } from '../../../src/controller/kinds/snapshot-schedule/child.ts';
import { ScheduleReconciler } from '../../../src/controller/kinds/snapshot-schedule/reconcile.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import type { ScheduledChild, ScheduleRun } from '../../../src/domain/resources/schedules.ts';
import { fingerprint } from './builders.ts';
import { FakeClock } from './fake-clock.ts';
import { type AnyObject, FakeCluster } from './fake-cluster.ts';

/** What one reconcile of a SnapshotSchedule makes, records and prunes. When it is due is in snapshot-schedule-judge.test.ts. */

const snapshots = '/apis/keyframe.dev/v1alpha1/namespaces/team-a/secretsnapshots';
const hourMs = 3_600_000;

/** The hourly SnapshotSchedule team-a/hourly, half an hour after it was created. */
class Site {
  readonly cluster = new FakeCluster();
  readonly clock = new FakeClock(Date.UTC(2026, 10, 10, 12, 30));
  /** Newest first. */
  runs: ScheduleRun[] = [];
  extended: ScheduledChild[] = [];
  /** What refers to a SecretSnapshot, by its name. */
  references: Readonly<Record<string, readonly string[]>> = {};
  areReferencesKnown = true;
  /** What the backend refuses with. */
  refusal: DomainError | undefined;
  /** Whether the watch shows what the cluster has. */
  isWatchCurrent = true;
  readonly #reconciler: ScheduleReconciler;

  constructor() {
    this.#reconciler = new ScheduleReconciler({
      context: {
        kube: this.cluster,
        // Events alone have its times.
        clock: new FakeClock(0),
        serverNow: () => this.clock.now(),
        logger: createLogger('silent'),
        instance: 'test',
      },
      backend: { schedules: this.#backend },
      grants: { rulesFor: () => [], ownGrantOf: () => undefined },
      fingerprint,
      snapshots: { find: (key) => this.#watched(nameOf(key)), keys: () => this.#keys() },
      references: this.#referencesNow(),
    });
  }

  async reconcile(spec: Partial<SnapshotScheduleSpec> = {}): Promise<Outcome<SnapshotSchedule>> {
    const resource = hourly(spec);
    const context = { key: 'team-a/hourly', resource, requestId: 'request', seen: new Seen(), isForced: false };
    return await this.#reconciler.reconcile(context);
  }

  /** Lets an hour pass, reconciles, and takes the snapshot that was asked for. */
  async takeNext(spec: Partial<SnapshotScheduleSpec> = {}): Promise<ScheduleRun> {
    this.clock.jump(hourMs);
    await this.reconcile(spec);
    const [newest] = this.runs;
    if (newest === undefined) throw new Error('the schedule made nothing');
    this.runs[0] = { ...newest, snapshotId: `snapshot of ${newest.name}`, takenAt: new Date(this.clock.now()) };
    return this.runs[0];
  }

  /** The names of the SecretSnapshots that there are. */
  get names(): string[] {
    return this.runs.map(({ name }) => name).filter((name) => this.get(name) !== undefined);
  }

  get(name: string): AnyObject | undefined {
    return this.cluster.get(`${snapshots}/${name}`);
  }

  get #backend(): SchedulesBackend {
    return {
      list: () => Promise.resolve([...this.runs]),
      admit: (_asker, slugs) =>
        this.refusal === undefined ? Promise.resolve({ ...slugs, environmentId: 'env' }) : Promise.reject(this.refusal),
      record: (_asker, _slugs, { made, gone }) => {
        const known = new Set(this.runs.map(({ dueAt }) => dueAt.getTime()));
        const added = made
          .filter(({ dueAt }) => !known.has(dueAt.getTime()))
          .map((child) => ({ ...child, ...untaken }));
        this.runs = [...added, ...this.runs.filter(({ uid }) => !gone.includes(uid))].toSorted(byTime);
        return Promise.resolve();
      },
      extend: (_asker, _slugs, child) => {
        this.extended.push(child);
        return Promise.resolve();
      },
    };
  }

  #watched(name: string): SecretSnapshot | undefined {
    return this.isWatchCurrent ? (this.get(name) as SecretSnapshot | undefined) : undefined;
  }

  #keys(): string[] {
    return this.isWatchCurrent ? this.names.map((name) => `team-a/${name}`) : [];
  }

  #referencesNow() {
    const known = (): boolean => this.areReferencesKnown;
    return {
      get isSynced() {
        return known();
      },
      referrersIn: () => (key: string) => this.references[nameOf(key)] ?? [],
    };
  }
}

const untaken = { snapshotId: null, takenAt: null, isNewest: true };
const byTime = (one: ScheduleRun, other: ScheduleRun): number => other.dueAt.getTime() - one.dueAt.getTime();
const nameOf = (key: string): string => key.replace('team-a/', '');

function hourly(spec: Partial<SnapshotScheduleSpec>): SnapshotSchedule {
  const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
  return {
    apiVersion: 'keyframe.dev/v1alpha1',
    kind: 'SnapshotSchedule',
    metadata: {
      name: 'hourly',
      namespace: 'team-a',
      uid: 'uid',
      resourceVersion: '1',
      creationTimestamp: '2026-11-10T12:00:00Z',
    },
    spec: {
      schedule: '0 * * * *',
      timeZone: 'UTC',
      suspend: false,
      skipUnchanged: false,
      template: { spec: { source: { environmentRef }, deletionPolicy: 'Delete' } },
      ...spec,
    },
  };
}

let site: Site;

beforeEach(() => {
  site = new Site();
});

describe('a SnapshotSchedule', () => {
  test('makes one SecretSnapshot for a time, however often it is reconciled', async () => {
    const { name, uid } = await site.takeNext();
    await site.reconcile();
    expect(site.runs.map((run) => run.name)).toEqual([name]);
    expect(site.get(name)?.metadata.uid).toBe(uid);
    expect(site.cluster.calls.filter((call) => call === `POST ${snapshots}`)).toHaveLength(1);
  });

  test('records what it made before a crash, though the watch does not show it yet', async () => {
    const { name, uid } = await site.takeNext();
    site.runs = [];
    site.isWatchCurrent = false;
    await site.reconcile();
    expect(site.runs.map((run) => [run.name, run.uid])).toEqual([[name, uid]]);
  });

  test('does not take a SecretSnapshot of another client for its own, and goes on with the next time', async () => {
    const taken = childName('hourly', Date.UTC(2026, 10, 10, 13));
    const { uid } = site.cluster.put(snapshots, taken, () => {}).metadata;
    site.clock.jump(hourMs);
    expect((await site.reconcile()).claim).toMatchObject({ progress: 'stalled', reason: 'TargetNotOwned' });
    expect([site.runs, site.get(taken)?.metadata.uid]).toEqual([[], uid]);
    expect((await site.takeNext()).name).not.toBe(taken);
  });
});

describe('with skipUnchanged, a SnapshotSchedule', () => {
  const spec = { skipUnchanged: true };

  test('has the latest SecretSnapshot stand for a time at which nothing has changed', async () => {
    const { name, uid } = await site.takeNext(spec);
    site.clock.jump(hourMs);
    await site.reconcile(spec);
    expect(site.extended.map((child) => [child.name, child.uid])).toEqual([[name, uid]]);
    expect(site.runs).toHaveLength(1);
  });

  test('makes another one if the environment has changed', async () => {
    const first = await site.takeNext(spec);
    site.runs = [{ ...first, isNewest: false }];
    await site.takeNext(spec);
    expect([site.runs.length, site.extended]).toEqual([2, []]);
  });

  test('makes another one if the latest is gone', async () => {
    const first = await site.takeNext(spec);
    site.cluster.remove(`${snapshots}/${first.name}`);
    const { name } = await site.takeNext(spec);
    expect([name === first.name, site.extended]).toEqual([false, []]);
  });
});

describe('a retention', () => {
  const spec = { retention: { keepLast: 1 } };

  test('prunes what it does not keep', async () => {
    await site.takeNext(spec);
    const { name } = await site.takeNext(spec);
    await site.reconcile(spec);
    expect(site.names).toEqual([name]);
  });

  test('leaves what something refers to', async () => {
    const first = await site.takeNext(spec);
    site.references = { [first.name]: ['SecretSync web'] };
    const { name } = await site.takeNext(spec);
    await site.reconcile(spec);
    expect(site.names).toEqual([name, first.name]);
  });

  test('prunes nothing until all references are known', async () => {
    site.areReferencesKnown = false;
    await site.takeNext(spec);
    await site.takeNext(spec);
    expect((await site.reconcile(spec)).next).toEqual({ kind: 'after', delayMs: 1000 });
    expect(site.names).toHaveLength(2);
  });

  test('leaves a SecretSnapshot of another client that has taken the name of one that is gone', async () => {
    const first = await site.takeNext(spec);
    site.cluster.remove(`${snapshots}/${first.name}`);
    const { uid } = site.cluster.put(snapshots, first.name, () => {}).metadata;
    await site.takeNext(spec);
    await site.reconcile(spec);
    expect(site.get(first.name)?.metadata.uid).toBe(uid);
  });
});

describe('the status of a SnapshotSchedule', () => {
  const codes = Object.keys(errorCatalogue) as ErrorCode[];
  const refuse = async (code: ErrorCode): Promise<Outcome<SnapshotSchedule>> => {
    site.refusal = new DomainError(code, 'no');
    return await site.reconcile();
  };

  test.each(codes.filter((code) => errorCatalogue[code].effect !== 'retry'))(
    'announces no time and nothing to prune while %s lasts',
    async (code) => {
      const { fields, claim } = await refuse(code);
      expect(fields).toEqual({ nextTime: undefined, nextToPrune: undefined });
      expect(claim.reason).toBe(errorCatalogue[code].reason);
    },
  );

  test.each(codes.filter((code) => errorCatalogue[code].effect === 'retry'))(
    'keeps what it announces while %s is retried',
    async (code) => {
      await expect(refuse(code)).rejects.toBe(site.refusal);
    },
  );
});
