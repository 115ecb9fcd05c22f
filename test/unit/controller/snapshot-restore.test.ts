import { beforeEach, describe, expect, test } from '@jest/globals';
import type { RestoresBackend } from '../../../src/controller/backend/restores.ts';
import { Seen } from '../../../src/controller/frame/dependencies.ts';
import type { ReconcileContext } from '../../../src/controller/frame/kind-rules.ts';
import type {
  SnapshotRestore,
  SnapshotRestoreSpec,
  SnapshotRestoreStatus,
} from '../../../src/controller/generated/snapshot-restore.ts';
import type { SecretSnapshot } from '../../../src/controller/generated/secret-snapshot.ts';
import { RestoreReconciler } from '../../../src/controller/kinds/snapshot-restore/reconcile.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import type { ReportedKeys } from '../../../src/domain/fleet.ts';
import type { ClaimedRestore } from '../../../src/domain/resources/restores.ts';
import { claimedSnapshot } from './fake-snapshots.ts';

/** When a SnapshotRestore restores, and when it must not. Its status is in snapshot-restore-judge.test.ts. */

const listOf = (...keys: string[]): ReportedKeys => ({ count: keys.length, keys });
const none = listOf();
const lists = { restored: listOf('A'), recreated: none, unchanged: none, skipped: none, destroyed: none, pruned: none };
const place = { snapshotId: 'snapshot-1', environmentId: 'env', environment: 'acme/web/prod' };
const revision = { revision: 7, revisionId: 'revision-7' };
const prod = { organization: 'acme', project: 'web', name: 'prod' };

/** The SnapshotRestore team-a/back of the SecretSnapshot team-a/good, which took snapshot-1 of acme/web/prod. */
class Site {
  /** The hash of the present plan. */
  planHash = 'present';
  /** The hash of each restore that was carried out; null without a plan. */
  readonly restored: (string | null)[] = [];
  /** The plans that wait, by uid. */
  readonly waiting = new Map<string, string>();
  /** What the database knows of the restore. */
  done: ClaimedRestore | undefined;
  /** Of team-a/good; undefined while it has no snapshot. */
  snapshotId: string | undefined = 'snapshot-1';
  /** Thrown by the restore. */
  fault: DomainError | undefined;
  readonly #reconciler = new RestoreReconciler({
    backend: { restores: this.#backend },
    grants: { rulesFor: () => [], ownGrantOf: () => undefined },
    snapshots: { find: () => good, claimed: () => Promise.resolve(this.#claimed) },
    waiting: {
      end: (uid) => Promise.resolve(void this.waiting.delete(uid)),
    },
  });

  /** Reconciles; returns the reason of Ready. */
  async reconcile(spec: Partial<SnapshotRestoreSpec> = {}, status?: SnapshotRestoreStatus): Promise<string> {
    return (await this.#reconciler.reconcile(contextOf(spec, status))).claim.reason;
  }

  async suspend(): Promise<void> {
    await this.#reconciler.suspended(contextOf({}, undefined));
  }

  get #claimed() {
    return this.snapshotId === undefined ? undefined : claimedSnapshot(1, { id: this.snapshotId });
  }

  get #backend(): RestoresBackend {
    const { organization, project, name: environment } = prod;
    return {
      find: () => Promise.resolve(this.done),
      admit: () => Promise.resolve({ organization, project, environment, environmentId: 'env' }),
      plan: ({ uid }, _source, _options, { approved }) => {
        if (this.planHash !== approved) this.waiting.set(uid, this.planHash);
        return Promise.resolve({ ...place, ...lists, ...revision, planHash: this.planHash });
      },
      restore: (_asker, _source, _options, planHash) => {
        if (this.fault !== undefined) return Promise.reject(this.fault);
        this.restored.push(planHash);
        this.done = done(planHash);
        return Promise.resolve(this.done);
      },
    };
  }
}

const good = { metadata: { namespace: 'team-a', name: 'good', uid: 'uid-good' } } as SecretSnapshot;

function done(planHash: string | null): ClaimedRestore {
  const at = new Date(0);
  const made = { backupSnapshotId: null, revision: 8, revisionId: 'revision-8', startedAt: at, completedAt: at };
  return { ...place, ...lists, planHash, from: revision, ...made };
}

function contextOf(
  spec: Partial<SnapshotRestoreSpec>,
  status: SnapshotRestoreStatus | undefined,
): ReconcileContext<SnapshotRestore> {
  const options = { prune: false, skipUnchanged: true, backup: true, includeDeleted: false, allowUnplanned: false };
  const resource = {
    apiVersion: 'keyframe.dev/v1alpha1',
    kind: 'SnapshotRestore',
    metadata: { namespace: 'team-a', name: 'back', uid: 'uid-back', resourceVersion: '1' },
    spec: { mode: 'Plan', suspend: false, ...options, snapshotRef: { name: 'good' }, ...spec },
    ...(status === undefined ? {} : { status }),
  } as SnapshotRestore;
  return { key: 'team-a/back', resource, requestId: 'request', seen: new Seen(), isForced: false };
}

let site: Site;

beforeEach(() => {
  site = new Site();
});

describe('a SnapshotRestore', () => {
  test('plans, and waits for an approval', async () => {
    expect(await site.reconcile()).toBe('Planned');
    expect([site.restored, [...site.waiting]]).toEqual([[], [['uid-back', 'present']]]);
  });

  test('is carried out once by the hash of the present plan, and waits no more', async () => {
    await site.reconcile();
    expect(await site.reconcile({ mode: 'Apply', planHash: 'present' })).toBe('Complete');
    expect(await site.reconcile({ mode: 'Apply', planHash: 'present' })).toBe('Complete');
    expect([site.restored, site.waiting.size]).toEqual([['present'], 0]);
  });

  test('restores nothing by the hash of another plan, whose successor waits', async () => {
    expect(await site.reconcile({ mode: 'Apply', planHash: 'former' })).toBe('PlanOutdated');
    expect([site.restored, site.waiting.get('uid-back')]).toEqual([[], 'present']);
  });

  test('whose plan is overtaken by a commit reports the new one', async () => {
    site.fault = new DomainError('plan_outdated', 'the environment has changed');
    expect(await site.reconcile({ mode: 'Apply', planHash: 'present' })).toBe('PlanOutdated');
  });

  test('that its status calls complete is not carried out again by a database that has forgotten it', async () => {
    const status = { completionTime: '2026-01-01T00:00:00Z' };
    expect(await site.reconcile({ mode: 'Apply', planHash: 'present' }, status)).toBe('RestoreForgotten');
    expect(site.restored).toEqual([]);
  });

  test('that is suspended waits for no approval', async () => {
    await site.reconcile();
    await site.suspend();
    expect(site.waiting.size).toBe(0);
  });

  test('restores nothing from a SecretSnapshot with another uid than it names', async () => {
    const snapshotRef = { name: 'good', uid: 'uid-of-another' };
    expect(await site.reconcile({ mode: 'Apply', planHash: 'present', snapshotRef })).toBe('SnapshotGone');
    expect(site.restored).toEqual([]);
  });

  test('restores no other environment than it names', async () => {
    const environmentRef = { ...prod, name: 'staging' };
    expect(await site.reconcile({ mode: 'Apply', planHash: 'present', environmentRef })).toBe('SnapshotMismatch');
    expect(site.restored).toEqual([]);
  });
});

describe('without a plan, a SnapshotRestore', () => {
  const whole = {
    mode: 'Apply',
    allowUnplanned: true,
    environmentRef: prod,
    snapshotRef: { name: 'good', uid: 'uid-good' },
  } as const;

  test('is carried out if it names everything', async () => {
    expect(await site.reconcile(whole)).toBe('Complete');
    expect(site.restored).toEqual([null]);
  });

  test.each<[string, Partial<SnapshotRestoreSpec>, string]>([
    ['does not allow it', { allowUnplanned: false }, 'InvalidSpec'],
    ['keeps no backup', { backup: false }, 'UnplannedRefused'],
    ['names no uid', { snapshotRef: { name: 'good' } }, 'UnplannedRefused'],
  ])('restores nothing if it %s', async (_why, lack, reason) => {
    expect(await site.reconcile({ ...whole, ...lack })).toBe(reason);
    expect(site.restored).toEqual([]);
  });

  test('that would have to wait is refused, also once it would not', async () => {
    site.snapshotId = undefined;
    expect(await site.reconcile(whole)).toBe('UnplannedRefused');
    site.snapshotId = 'snapshot-1';
    const refused = {
      type: 'Failed',
      status: 'True',
      reason: 'UnplannedRefused',
      message: 'Nothing was restored.',
    } as const;
    const conditions = [{ ...refused, lastTransitionTime: '2026-01-01T00:00:00Z' }];
    expect(await site.reconcile(whole, { conditions })).toBe('UnplannedRefused');
    expect(site.restored).toEqual([]);
  });
});
