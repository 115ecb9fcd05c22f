import { expect } from '@jest/globals';
import { restoresMadeBy, snapshotsTakenBy } from './resource-rows.ts';
import { readyOf } from './resource-site.ts';
import type { RestoreSite } from './restore-site.ts';
import type { Stack } from './stack.ts';

let made = 0;

/** A SnapshotRestore of a site, of a snapshot after which one key was changed. */
export class RestoreTrial {
  readonly name = `restore-${++made}`;
  readonly #stack: Stack;
  readonly #site: RestoreSite;
  #snapshotId = '';
  #uid = '';

  private constructor(stack: Stack, site: RestoreSite) {
    this.#stack = stack;
    this.#site = site;
  }

  /** Has something to restore, and no resource yet. */
  static async prepare(stack: Stack, site: RestoreSite): Promise<RestoreTrial> {
    const trial = new RestoreTrial(stack, site);
    await site.environment.change({ A: `good ${trial.name}` });
    trial.#snapshotId = await site.snapshot();
    await site.environment.change({ A: `bad ${trial.name}` });
    return trial;
  }

  /** Makes the resource: to plan, unless the spec says more. */
  async create(spec: object = {}): Promise<void> {
    await this.#site.restores.create({ snapshotId: this.#snapshotId, ...spec }, this.name);
    this.#uid = (await this.#site.restores.get(this.name)).metadata.uid;
  }

  /** Makes the resource to restore without a plan. */
  async createUnplanned(): Promise<void> {
    await this.create(this.#site.unplanned(this.#snapshotId));
  }

  /** Approves the plan in the status. */
  async approve(): Promise<void> {
    await this.#site.approve(this.name, await this.#site.planned(this.name));
  }

  async expectPlanned(): Promise<void> {
    const restore = await this.#site.restores.get(this.name);
    expect(readyOf(restore)).toMatchObject({ status: 'True', reason: 'Planned' });
    expect(restore.status?.plan?.revision).toBe(await this.#site.revision());
  }

  async expectComplete(): Promise<void> {
    const restore = await this.#site.restores.get(this.name);
    const { generation } = restore.metadata;
    expect(readyOf(restore)).toMatchObject({ status: 'True', reason: 'Complete', observedGeneration: generation });
  }

  /** One revision, one backup and one success in the audit, and the status names just these. */
  async proveOne(): Promise<void> {
    const { status } = await this.#site.restores.get(this.name);
    const { databaseUrl } = this.#stack;
    expect(await restoresMadeBy(databaseUrl, this.#uid)).toEqual({
      revisionIds: [status?.result?.revisionId],
      audited: 1,
    });
    expect(await snapshotsTakenBy(databaseUrl, this.#uid)).toEqual([status?.backupSnapshotId]);
    expect(status?.result).toMatchObject({ restored: 1, revision: (status?.plan?.revision ?? 0) + 1 });
    expect(await this.#site.values()).toEqual({ A: `good ${this.name}` });
  }

  async clear(): Promise<void> {
    await this.#site.restores.delete(this.name);
  }
}
