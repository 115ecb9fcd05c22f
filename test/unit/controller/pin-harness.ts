import type { SecretSyncSpec } from '../../../src/controller/generated/secret-sync.ts';
import type { SnapshotOrGone } from '../../../src/domain/resources/snapshots.ts';
import { Harness, prod } from './controller-harness.ts';
import { noResources } from './fake-services.ts';
import { FakeSnapshots } from './fake-snapshots.ts';

export const snapshotsPath = '/apis/keyframe.dev/v1alpha1/namespaces/ns/secretsnapshots';
/** What the environment's revisions hold, in this order. */
export const [first, second, third] = [
  { A: 'alpha', B: 'beta' },
  { A: '2', B: '2', C: '2', D: '2' },
  { D: '3' },
] as const;

/** A controller whose cluster has SecretSnapshots, with ns/app to be pinned. */
export class PinHarness extends Harness {
  readonly snapshots: FakeSnapshots;

  constructor(before?: PinHarness) {
    const snapshots = before?.snapshots ?? new FakeSnapshots();
    const kept = before === undefined ? {} : { cluster: before.cluster, services: before.services };
    super({ ...kept, resources: { ...noResources, snapshots: snapshots.backend } });
    this.snapshots = snapshots;
    snapshots.onStep = (step) => this.services.onStep?.(step);
    this.cluster.put('/api/v1/namespaces', 'kube-system', () => {});
  }

  /** The environment at revision 3; the Secret at 2, and then at what the spec says. */
  async syncedWith(spec: Partial<SecretSyncSpec>): Promise<void> {
    await this.atSecond();
    this.services.change(prod, third, { missed: true });
    await this.pin(spec);
  }

  /** Environment and Secret at revision 2. */
  async atSecond(): Promise<void> {
    await this.synced();
    this.services.change(prod, second);
    await this.calls();
  }

  async pin(spec: Partial<SecretSyncSpec>): Promise<void> {
    this.putSync({ spec });
    await this.calls();
  }

  /** Makes a SecretSnapshot that stands for something already, or for nothing; one that is suspended reports nothing new. */
  putSnapshot(name: string, found?: SnapshotOrGone, { suspend = false } = {}): string {
    const source = { environmentRef: { organization: 'acme', project: 'web', name: 'prod' } };
    const { metadata } = this.cluster.put(snapshotsPath, name, (object) => {
      object['spec'] = { source, deletionPolicy: 'Retain', suspend };
      if (found !== undefined) this.snapshots.claims.set(object.metadata.uid, found);
    });
    return metadata.uid;
  }

  /** As the database and the feed report a snapshot's deletion. */
  deleteSnapshot(uid: string, id: string, { missed = false } = {}): void {
    this.snapshots.claims.set(uid, 'gone');
    this.services.gone.add(id);
    if (!missed) this.services.notify({ kind: 'snapshot', snapshotId: id });
  }

  /** The record of the Secret. */
  get source(): string | undefined {
    return this.target()?.metadata.annotations?.['keyframe.dev/source'];
  }
}
