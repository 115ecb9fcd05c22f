import { expect } from '@jest/globals';
import { GuardedSite } from './guarded-site.ts';
import { SourceSite } from './source-site.ts';
import type { ApiClient } from '../support/api/api-client.ts';
import { SharedSecret, makeMergeSite } from '../support/cluster/merge-site.ts';
import { readyOf } from '../support/cluster/resource-site.ts';
import type { SecretObject } from '../support/cluster/secret-watch.ts';
import type { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const theirs = { THEIRS: 'x' };

/**
 * Secrets with every record that a controller keeps on them: of several sources with renamed and composed keys, of a
 * ServiceToken, merged into a Secret of others, and rolled back with its workload. Takes three namespaces.
 */
export class RecordSite {
  readonly #combined: SourceSite;
  readonly #merged: SyncSite;
  readonly #shared: SharedSecret;
  readonly #guarded: GuardedSite;

  private constructor(combined: SourceSite, merged: SyncSite, guarded: GuardedSite) {
    this.#combined = combined;
    this.#merged = merged;
    this.#shared = new SharedSecret(merged);
    this.#guarded = guarded;
  }

  /** Makes it with the controller that leads, which may restart workloads. */
  static async make(stack: Stack): Promise<RecordSite> {
    const guarded = await GuardedSite.converged(stack, { values: { A: 'good' }, onFailure: 'Rollback' });
    const combined = await SourceSite.make(stack);
    const merged = await makeMergeSite(stack, { values: { M: 'first' }, withoutSync: true });
    const site = new RecordSite(combined, merged, guarded);
    await combined.sync.site.create({ permission: 'Read' });
    await combined.create(
      combined.sources({ keys: { rename: [{ from: 'A', to: 'renamed' }] } }, { tokenRef: { name: 'ci' } }),
      {
        template: { data: { composed: '$(B) and $(C)' } },
        target: { labels: { team: 'web' }, annotations: { 'example.com/owner': 'web' } },
      },
    );
    await site.#shared.create(theirs, 'app');
    await merged.createSync();
    await guarded.change({ A: 'bad' });
    await guarded.waitForRollback();
    await guarded.waitForConverged('Converged');
    await site.#waitUntilSynced('own b', 'first');
    return site;
  }

  /** Has the leader write every record again: with a change, or into a new Secret. Waits until it has. */
  async writeAgain(admin: ApiClient, value: string): Promise<void> {
    const { site: token } = this.#combined.sync;
    const serial = (await token.resource()).status?.serial ?? 0;
    await token.deleteSecret();
    await this.#guarded.sync.deleteSecret();
    await token.waitForSerial(serial + 1);
    await this.#combined.own.at(admin).change({ B: value });
    await this.#merged.environment.at(admin).change({ M: value });
    await this.#waitUntilSynced(value, value);
  }

  async #waitUntilSynced(b: string, m: string): Promise<void> {
    await this.#combined.sync.waitForValues({ B: b, C: 'own c', composed: `${b} and own c`, renamed: 'shared a' });
    await this.#shared.waitUntilMerged({ ...theirs, M: m }, 1);
    await waitFor('the status to report the Secret that was rolled back', async () => {
      const [secret, sync] = [await this.#guarded.sync.existingSecret(), await this.#guarded.sync.sync()];
      const { uid, resourceVersion } = secret.metadata;
      expect(sync.status?.target).toEqual({ name: 'app', uid, resourceVersion });
      expect(readyOf(sync)?.reason).toBe('RolledBack');
      return true;
    });
  }

  async #secrets(): Promise<SecretObject[]> {
    const { site } = this.#combined.sync;
    const { kube } = this.#merged;
    const of = [site.secretPath('app'), site.secretPath('ci'), this.#shared.path, this.#guarded.sync.secretPath()];
    return await Promise.all(of.map((path) => kube.json<SecretObject>({ path })));
  }

  /** The names of the annotations of its Secrets, and of the workload's pods. */
  async annotations(): Promise<string[]> {
    const ofSecrets = (await this.#secrets()).flatMap(({ metadata }) => Object.keys(metadata.annotations ?? {}));
    const ofPods = await this.#guarded.workloads.marks({ kind: 'Deployment', name: 'web' });
    return [...new Set([...ofSecrets, ...Object.keys(ofPods)])].sort();
  }

  /** The versions of its Secrets and resources, and how often its workload was changed. */
  async versions(): Promise<unknown[]> {
    const resources = [
      await this.#combined.syncs.get('app'),
      await this.#combined.sync.site.resource(),
      await this.#merged.sync(),
      await this.#guarded.sync.sync(),
      ...(await this.#secrets()),
    ];
    const versions = resources.map(({ metadata }) => [metadata.name, metadata.uid, metadata.resourceVersion]);
    return [...versions, await this.#guarded.generation()];
  }
}
