import { beforeEach, describe, expect, test } from '@jest/globals';
import type { SnapshotsBackend } from '../../../src/controller/backend/snapshots.ts';
import { Seen } from '../../../src/controller/frame/dependencies.ts';
import type { Outcome } from '../../../src/controller/frame/outcome.ts';
import type { SecretSnapshot, SecretSnapshotSpec } from '../../../src/controller/generated/secret-snapshot.ts';
import { SnapshotReconciler } from '../../../src/controller/kinds/secret-snapshot/reconcile.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import type { SnapshotOrGone } from '../../../src/domain/resources/snapshots.ts';
import { FakeClock } from './fake-clock.ts';
import { FakeCluster } from './fake-cluster.ts';
import { claimedSnapshot } from './fake-snapshots.ts';

/** What one reconcile of a SecretSnapshot takes, adopts and deletes. Its status is in secret-snapshot-judge.test.ts. */

const snapshots = '/apis/keyframe.dev/v1alpha1/namespaces/team-a/secretsnapshots';

/** The SecretSnapshot team-a/good. */
class Site {
  readonly cluster = new FakeCluster();
  readonly clock = new FakeClock(0);
  isGranted = true;
  /** What the database knows that the SecretSnapshot has. */
  found: SnapshotOrGone | undefined;
  /** What was asked of the backend. */
  readonly asked: string[] = [];
  readonly #reconciler = new SnapshotReconciler({
    context: { kube: this.cluster, serverNow: () => this.clock.now() },
    backend: { snapshots: this.#backend },
    grants: { rulesFor: () => [], ownGrantOf: () => undefined },
  });

  async reconcile(spec: Partial<SecretSnapshotSpec> = {}): Promise<Outcome<SecretSnapshot>> {
    const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
    const whole = { source: { environmentRef }, deletionPolicy: 'Delete', suspend: false, ...spec };
    const { metadata } = this.cluster.get(`${snapshots}/good`) ?? this.cluster.put(snapshots, 'good', () => {});
    const resource = { metadata, spec: whole } as SecretSnapshot;
    const context = { key: 'team-a/good', resource, requestId: 'request', seen: new Seen(), isForced: false };
    return await this.#reconciler.reconcile(context);
  }

  get isThere(): boolean {
    return this.cluster.get(`${snapshots}/good`) !== undefined;
  }

  get #backend(): SnapshotsBackend {
    const obtain = (what: string, adopted: boolean): Promise<SnapshotOrGone> => {
      if (!this.isGranted) return Promise.reject(new DomainError('forbidden', 'no AccessGrant allows it'));
      this.asked.push(what);
      return Promise.resolve((this.found = claimedSnapshot(1, { adopted })));
    };
    return {
      find: () => Promise.resolve(this.found),
      take: () => obtain('take', false),
      adopt: () => obtain('adopt', true),
      delete: () => Promise.resolve(),
    };
  }
}

let site: Site;

beforeEach(() => {
  site = new Site();
});

describe('a SecretSnapshot', () => {
  test('takes one snapshot, and keeps it when its grant is withdrawn', async () => {
    expect((await site.reconcile()).claim.reason).toBe('Taken');
    site.isGranted = false;
    expect((await site.reconcile()).claim.reason).toBe('Taken');
    expect(site.asked).toEqual(['take']);
  });

  test('takes nothing without a grant', async () => {
    site.isGranted = false;
    await expect(site.reconcile()).rejects.toThrow(expect.objectContaining({ code: 'forbidden' }));
    expect(site.asked).toEqual([]);
  });

  test('takes no other snapshot when its own is gone', async () => {
    site.found = 'gone';
    expect((await site.reconcile()).claim.reason).toBe('SnapshotGone');
    expect(site.asked).toEqual([]);
  });
});

describe('a SecretSnapshot with a lifetime', () => {
  const spec = { expiresIn: '1h' };

  test('deletes itself at its end, and not before', async () => {
    await site.reconcile(spec);
    site.clock.jump(3_599_000);
    await site.reconcile(spec);
    expect(site.isThere).toBe(true);
    site.clock.jump(1_000);
    await site.reconcile(spec);
    expect(site.isThere).toBe(false);
  });

  test('stays if it was changed meanwhile, for example suspended', async () => {
    await site.reconcile(spec);
    site.clock.jump(3_600_000);
    site.cluster.before(/^DELETE/, () => void site.cluster.put(snapshots, 'good', (object) => (object['spec'] = {})));
    expect((await site.reconcile(spec)).next).toMatchObject({ kind: 'retry' });
    expect(site.isThere).toBe(true);
  });

  test('stays with a snapshot that it adopted', async () => {
    const adopting = { ...spec, source: { snapshotId: 'snapshot-1' } };
    expect((await site.reconcile(adopting)).claim.reason).toBe('Adopted');
    site.clock.jump(7_200_000);
    await site.reconcile(adopting);
    expect([site.isThere, site.asked]).toEqual([true, ['adopt']]);
  });
});
