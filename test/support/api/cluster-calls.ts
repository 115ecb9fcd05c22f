import { randomUUID } from 'node:crypto';
import type { ClusterRule } from '../../../src/domain/cluster-ceiling.ts';
import type { ClusterRulesRecord, SetClusterRules } from '../../../src/services/clusters/cluster-rules.ts';
import type { InstanceAction } from '../../../src/domain/policy.ts';
import type { InstanceAccess } from '../../../src/services/access/access.ts';
import { prismaOf } from '../database/prisma.ts';
import { createUser, type TestServices, type World } from './services.ts';

/** A rule for a world's environment: SecretSyncs may read it, unless something else is given. */
export function clusterRule({ slugs }: World, more: Partial<ClusterRule> = {}): ClusterRule {
  const { project, environment } = slugs;
  return { project, environments: [environment], permission: 'read', kinds: ['SecretSync'], ...more };
}

/** What the admin of a world's organization sets for the cluster `test`, and what an instance admin does with it. */
export class ClusterCalls {
  readonly #services: TestServices;
  readonly #world: World;

  constructor(services: TestServices, world: World) {
    this.#services = services;
    this.#world = world;
  }

  async set(
    rules: SetClusterRules['rules'],
    { cluster = 'test', expectedVersion }: { cluster?: string; expectedVersion?: number } = {},
  ): Promise<ClusterRulesRecord> {
    const access = await this.#world.onOrganization(this.#world.admin.caller, 'cluster.set_rules');
    return await this.#services.clusterRules.set(access, cluster, { rules, expectedVersion });
  }

  async get(cluster = 'test'): Promise<ClusterRulesRecord> {
    const access = await this.#world.onOrganization(this.#world.admin.caller, 'cluster.list');
    return await this.#services.clusterRules.get(access, cluster);
  }

  /** Makes a cluster known that is no home cluster, as a later release does. */
  async addRemote(): Promise<string> {
    const name = `remote-${randomUUID()}`;
    await prismaOf(this.#services.database).servedCluster.create({ data: { name, isHome: false } });
    return name;
  }

  async disable(cluster = 'test'): Promise<void> {
    await this.#services.servedClusters.disable(await this.#instance('cluster.disable'), cluster);
  }

  async enable(cluster = 'test'): Promise<void> {
    await this.#services.servedClusters.enable(await this.#instance('cluster.enable'), cluster);
  }

  async forget(cluster = 'test'): ReturnType<TestServices['servedClusters']['forget']> {
    return await this.#services.servedClusters.forget(await this.#instance('cluster.forget'), cluster);
  }

  async planForget(cluster = 'test'): ReturnType<TestServices['servedClusters']['forget']> {
    return await this.#services.servedClusters.planForget(await this.#instance('cluster.forget'), cluster);
  }

  async #instance<A extends InstanceAction>(action: A): Promise<InstanceAccess<A>> {
    const { caller } = await createUser(this.#services, { instanceAdmin: true });
    return await this.#services.access.instance(caller, action);
  }
}
