import { expect } from '@jest/globals';
import type { SecretEnvironment } from '../../src/controller/generated/secret-environment.ts';
import type { SecretSnapshot } from '../../src/controller/generated/secret-snapshot.ts';
import type { EnvironmentRef } from '../support/api/api-client.ts';
import { waitForPass } from '../support/cluster/crash-trials.ts';
import { ResourceSite } from '../support/cluster/resource-site.ts';
import { query, snapshotsTakenBy, tokensMadeBy } from '../support/cluster/resource-rows.ts';
import { RestoreSite } from '../support/cluster/restore-site.ts';
import { RestoreTrial } from '../support/cluster/restore-trial.ts';
import type { Stack } from '../support/cluster/stack.ts';
import { TokenSite } from '../support/cluster/token-site.ts';

interface Sites {
  readonly site: TokenSite;
  readonly withdrawn: TokenSite;
  readonly late: TokenSite;
  readonly restore: RestoreTrial;
}

/**
 * What users do to ServiceTokens, SecretSnapshots, SnapshotRestores, SecretEnvironments and AccessGrants in a namespace or
 * two, to see what comes of it when it is done while something is out of order.
 */
export class ResourceChanges {
  readonly #stack: Stack;
  readonly #site: TokenSite;
  /** A namespace the grant of which is withdrawn, or comes, in the middle. */
  readonly #withdrawn: TokenSite;
  readonly #late: TokenSite;
  readonly #snapshots: ResourceSite<SecretSnapshot>;
  readonly #environments: ResourceSite<SecretEnvironment>;
  readonly #restore: RestoreTrial;
  #values: Readonly<Record<'lost' | 'deleted' | 'withdrawn', string>> = { lost: '', deleted: '', withdrawn: '' };
  #uids: Readonly<Record<'deleted' | 'snapshot', string>> = { deleted: '', snapshot: '' };

  private constructor(stack: Stack, sites: Sites) {
    const { kube } = stack;
    this.#stack = stack;
    this.#site = sites.site;
    this.#withdrawn = sites.withdrawn;
    this.#late = sites.late;
    this.#restore = sites.restore;
    const { namespace } = sites.site;
    this.#snapshots = new ResourceSite({ kube, kind: 'SecretSnapshot', plural: 'secretsnapshots', namespace });
    this.#environments = new ResourceSite({ kube, kind: 'SecretEnvironment', plural: 'secretenvironments' });
  }

  /** Makes what is to be changed, and waits until it is as it should be. Takes four namespaces. */
  static async prepare(stack: Stack): Promise<ResourceChanges> {
    const site = await TokenSite.make(stack, { kinds: ['ServiceToken', 'SecretSnapshot'] });
    const withdrawn = await TokenSite.make(stack);
    const late = await TokenSite.make(stack, { granted: false });
    const restore = await RestoreTrial.prepare(stack, await RestoreSite.make(stack));
    const changes = new ResourceChanges(stack, { site, withdrawn, late, restore });
    await changes.#prepare();
    return changes;
  }

  async #prepare(): Promise<void> {
    const site = this.#site;
    for (const name of ['lost', 'deleted']) await site.create({}, name);
    await this.#withdrawn.create();
    await this.#late.create();
    const source = { environmentRef: site.environment.ref };
    await this.#snapshots.create({ source, deletionPolicy: 'Delete' }, 'deleted');
    await this.#environments.create(
      { environmentRef: this.#refOf('deleted'), deletionPolicy: 'Delete' },
      this.#nameOf('deleted'),
    );
    this.#values = {
      lost: await site.waitForSerial(1, 'lost'),
      deleted: await site.waitForSerial(1, 'deleted'),
      withdrawn: await this.#withdrawn.waitForSerial(1),
    };
    await this.#restore.create();
    await waitForPass(() => this.#restore.expectPlanned());
    await this.#late.waitForReason('AccessDenied');
    const { metadata } = await this.#snapshots.waitForReason('deleted', 'Taken');
    await this.#environments.waitForReason(this.#nameOf('deleted'), 'Available');
    this.#uids = { snapshot: metadata.uid, deleted: (await site.resource('deleted')).metadata.uid };
  }

  /** Makes, withdraws and deletes; waits for nothing. */
  async make(): Promise<void> {
    const site = this.#site;
    await site.create({}, 'made');
    await this.#snapshots.create({ source: { environmentRef: site.environment.ref } }, 'made');
    await this.#environments.create({ environmentRef: this.#refOf('made') }, this.#nameOf('made'));
    await this.#restore.approve();
    await this.#late.grant();
    await this.#withdrawn.withdraw();
    await site.delete('deleted');
    await this.#snapshots.delete('deleted');
    await this.#environments.delete(this.#nameOf('deleted'));
    await this.#stack.kube.json({ method: 'DELETE', path: site.secretPath('lost') });
  }

  /** The reason that a ServiceToken made meanwhile reports. */
  async reasonOfMade(): Promise<string | undefined> {
    return (await this.#site.condition('Ready', 'made'))?.reason;
  }

  /** Throws unless everything is as the changes ask for it, and nothing is there twice. */
  async expectConverged(): Promise<void> {
    await this.#expectTokens();
    await this.#restore.expectComplete();
    await this.#restore.proveOne();
    const made = await this.#snapshots.get('made');
    expect(made.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', reason: 'Taken' }));
    expect(await snapshotsTakenBy(this.#stack.databaseUrl, made.metadata.uid)).toEqual([made.status?.snapshotId]);
    const environment = await this.#environments.get(this.#nameOf('made'));
    expect(environment.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', reason: 'Available' }),
    );
    expect(await this.#liveEnvironments('made')).toEqual([{ id: environment.status?.environmentId }]);
    await this.#expectGone();
  }

  async #expectTokens(): Promise<void> {
    for (const [site, name, serial] of [
      [this.#site, 'made', 1],
      [this.#site, 'lost', 2],
      [this.#late, 'ci', 1],
    ] as const) {
      const { status, metadata } = await site.resource(name);
      expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', reason: 'Issued' }));
      const [token, ...more] = await tokensMadeBy(this.#stack.databaseUrl, metadata.uid);
      expect(more).toEqual([]);
      expect(token?.credentials.filter(({ isLive }) => isLive)).toEqual([{ serial, state: 'active', isLive: true }]);
      expect(status).toMatchObject({ serial, tokenId: token?.id });
      expect(await site.answer(await site.value(name))).toBe(200);
    }
    expect((await this.#withdrawn.condition('Ready'))?.reason).toBe('AccessDenied');
    const values = Object.values(this.#values);
    expect(await Promise.all(values.map((value) => this.#site.answer(value)))).toEqual(values.map(() => 401));
  }

  async #expectGone(): Promise<void> {
    const { databaseUrl, kube } = this.#stack;
    const paths = [
      this.#site.tokenPath('deleted'),
      this.#snapshots.path('deleted'),
      this.#environments.path(this.#nameOf('deleted')),
    ];
    for (const path of paths) expect(await kube.find({ path })).toBeUndefined();
    expect(await snapshotsTakenBy(databaseUrl, this.#uids.snapshot)).toEqual([]);
    const tokens = await tokensMadeBy(databaseUrl, this.#uids.deleted);
    expect(tokens.flatMap(({ credentials }) => credentials.filter(({ isLive }) => isLive))).toEqual([]);
    expect(await this.#liveEnvironments('deleted')).toEqual([]);
  }

  async #liveEnvironments(name: string): Promise<{ id: string }[]> {
    return await query(
      this.#stack.databaseUrl,
      `SELECT e.id FROM environment e JOIN project p ON p.id = e.project_id JOIN organization o ON o.id = p.organization_id
       WHERE o.slug = $1 AND e.slug = $2 AND e.deleted_at IS NULL`,
      [this.#site.environment.ref.organization, name],
    );
  }

  #refOf(name: string): EnvironmentRef {
    return { ...this.#site.environment.ref, name };
  }

  #nameOf(name: string): string {
    return `${name}-of-${this.#site.namespace}`;
  }
}
