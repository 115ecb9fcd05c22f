import { requireApprovals } from '../../scripts/cluster/approvals.ts';
import type { Cluster } from '../../scripts/cluster/cluster.ts';
import type { Resource } from '../../src/controller/frame/resource.ts';
import type { CliRunner } from './cli.ts';
import { ExampleReader } from './example-reader.ts';
import { startOwnCluster } from './own-cluster.ts';
import { readyOf } from './resource-site.ts';
import { type SecretObject, secretValues } from './secret-watch.ts';
import type { Stack } from './stack.ts';
import { startWholeInstallation } from './whole-installation.ts';

/** Where examples/README.md is followed: a cluster of its own with Keyframe in it, and what is there to be seen afterwards. */
export class ExampleSite {
  readonly cluster: Cluster;
  readonly stack: Stack;
  readonly cli: CliRunner;
  readonly reader: ExampleReader;

  private constructor(parts: Pick<ExampleSite, 'cluster' | 'stack' | 'cli' | 'reader'>) {
    this.cluster = parts.cluster;
    this.stack = parts.stack;
    this.cli = parts.cli;
    this.reader = parts.reader;
  }

  /** Starts it all, with restarts allowed and approvals asked for; it goes with `resources`. */
  static async start(resources: AsyncDisposableStack): Promise<ExampleSite> {
    const cluster = await startOwnCluster(resources);
    const { stack, cli } = await startWholeInstallation(resources, cluster, { ROLLOUTS: 'true' });
    await requireApprovals(stack.kube);
    const reader = await ExampleReader.create({ cli, cluster, stack });
    return new ExampleSite({ cluster, stack, cli, reader });
  }

  /** Runs commands as the page's reader; answers what they printed. */
  run(command: string): Promise<string> {
    return this.reader.run(command);
  }

  /** Runs the nth command block of a section of the page. */
  step(heading: string, number: number): Promise<string> {
    return this.reader.step(heading, number);
  }

  /** A Secret, if it is there. */
  async secret(namespace: string, name: string): Promise<SecretObject | undefined> {
    return await this.stack.kube.find<SecretObject>({ path: `/api/v1/namespaces/${namespace}/secrets/${name}` });
  }

  /** What a Secret holds, if it is there. */
  async values(namespace: string, name: string): Promise<Record<string, string> | undefined> {
    const secret = await this.secret(namespace, name);
    return secret && Object.fromEntries(secretValues(secret));
  }

  /** A resource of ours, which must be there. */
  async resource<T extends Resource>(namespace: string, plural: string, name: string): Promise<T> {
    const path = `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/${plural}/${name}`;
    return await this.stack.kube.json<T>({ path });
  }

  /** The condition Ready of a resource. */
  async ready(namespace: string, plural: string, name: string): Promise<ReturnType<typeof readyOf>> {
    return readyOf(await this.resource(namespace, plural, name));
  }

  /** What the API answers to a read with a token of an environment of the page's organization. */
  async answer(token: string | undefined, place: string): Promise<number> {
    const { status } = await this.stack.admin.as(token ?? '').send('GET', `/secrets/acme/${place}`);
    return status;
  }
}
