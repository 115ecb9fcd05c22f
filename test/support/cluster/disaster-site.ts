import type { KubeHttp } from '../../../tools/devcluster/cluster/kube-http.ts';
import type { SecretSnapshot } from '../../../src/controller/generated/secret-snapshot.ts';
import type { SecretSync } from '../../../src/controller/generated/secret-sync.ts';
import type { ServiceToken } from '../../../src/controller/generated/service-token.ts';
import type { SnapshotRestore } from '../../../src/controller/generated/snapshot-restore.ts';
import type { SnapshotSchedule } from '../../../src/controller/generated/snapshot-schedule.ts';
import type { SecretEnvironment } from '../../../src/controller/generated/secret-environment.ts';
import type { ApiClient, EnvironmentRef } from '../api/api-client.ts';
import { ResourceSite } from './resource-site.ts';
import { type SecretObject, secretValues } from './secret-watch.ts';

/** The custom resources of one team as its repository has them, in one namespace of whichever cluster. */
export class DisasterSite {
  readonly syncs: ResourceSite<SecretSync>;
  readonly snapshots: ResourceSite<SecretSnapshot>;
  readonly tokens: ResourceSite<ServiceToken>;
  readonly restores: ResourceSite<SnapshotRestore>;
  readonly schedules: ResourceSite<SnapshotSchedule>;
  readonly environments: ResourceSite<SecretEnvironment>;
  readonly #kube: KubeHttp;
  readonly #namespace: string;

  constructor(kube: KubeHttp, namespace: string) {
    this.#kube = kube;
    this.#namespace = namespace;
    this.syncs = new ResourceSite({ kube, namespace, kind: 'SecretSync', plural: 'secretsyncs' });
    this.snapshots = new ResourceSite({ kube, namespace, kind: 'SecretSnapshot', plural: 'secretsnapshots' });
    this.tokens = new ResourceSite({ kube, namespace, kind: 'ServiceToken', plural: 'servicetokens' });
    this.restores = new ResourceSite({ kube, namespace, kind: 'SnapshotRestore', plural: 'snapshotrestores' });
    this.schedules = new ResourceSite({ kube, namespace, kind: 'SnapshotSchedule', plural: 'snapshotschedules' });
    this.environments = new ResourceSite({ kube, kind: 'SecretEnvironment', plural: 'secretenvironments' });
  }

  /**
   * Applies what the repository holds: the grant, the environment, the token `ci`, the SecretSnapshots `release`, of the
   * source that is given, and `nightly`, and the SecretSyncs `web`, `survivor`, `pinned` to `release`, and `first` to revision 1.
   */
  async apply(environmentRef: EnvironmentRef, release: SecretSnapshot['spec']['source']): Promise<void> {
    const { organization, project, name } = environmentRef;
    const rule = { organization, project, environments: [name], permission: 'ReadWrite' };
    const grants = new ResourceSite({ kube: this.#kube, kind: 'AccessGrant', plural: 'accessgrants' });
    const rules = [{ ...rule, kinds: ['ServiceToken', 'SecretSnapshot', 'SnapshotRestore', 'SnapshotSchedule'] }];
    await grants.create({ namespaces: [this.#namespace], rules }, 'team');
    await this.environments.create({ environmentRef }, 'production');
    await this.tokens.create({ scope: 'Environment', environmentRef }, 'ci');
    await this.snapshots.create({ source: release }, 'release');
    await this.snapshots.create({ source: { environmentRef } }, 'nightly');
    await this.syncs.create({ environmentRef }, 'web');
    await this.syncs.create({ environmentRef }, 'survivor');
    await this.syncs.create({ environmentRef, snapshotRef: { name: 'release' } }, 'pinned');
    await this.syncs.create({ environmentRef, revision: 1 }, 'first');
  }

  /** Plans a restore from `release` and has it carried out; answers the spec that the repository then holds. */
  async restore(): Promise<object> {
    const spec = { snapshotRef: { name: 'release' } };
    await this.restores.create(spec, 'back');
    const { status } = await this.restores.waitForReason('back', 'Planned');
    const approval = { mode: 'Apply', planHash: status?.planHash };
    await this.restores.patch('back', { spec: approval });
    await this.restores.waitForReason('back', 'Complete');
    return { ...spec, ...approval };
  }

  /** A Secret of the namespace, which must be there. */
  secret(name: string): Promise<SecretObject> {
    return this.#kube.json<SecretObject>({ path: this.#secretPath(name) });
  }

  /** What a Secret of the namespace holds. */
  async values(name: string): Promise<Record<string, string>> {
    return Object.fromEntries(secretValues(await this.secret(name)));
  }

  /** Puts a Secret of another cluster here, as a backup of that cluster's objects does: with its labels and annotations. */
  async bring({ metadata: { name, labels, annotations }, type, data }: SecretObject): Promise<SecretObject> {
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name, labels, annotations }, type, data };
    return this.#kube.json<SecretObject>({ method: 'POST', path: this.#secretPath(), body });
  }

  #secretPath(name?: string): string {
    const path = `/api/v1/namespaces/${this.#namespace}/secrets`;
    return name === undefined ? path : `${path}/${name}`;
  }
}

/** All that the API shows of an environment: values, every version of every key, snapshots and changes. */
export async function everythingOf(
  client: ApiClient,
  { organization, project, name }: EnvironmentRef,
): Promise<object> {
  const place = `${organization}/${project}/${name}`;
  const secrets = await client.call<{ secrets: { key: string }[] }>('GET', `/secrets/${place}`);
  const { snapshots } = await client.call<{ snapshots: { id: string }[] }>('GET', `/snapshots/${place}`);
  const { changes } = await client.call<{ changes: { keys: { key: string }[] }[] }>('GET', `/changes/${place}`);
  const keys = [...new Set(changes.flatMap((change) => change.keys.map(({ key }) => key)))].toSorted();
  const versions: unknown[] = [];
  for (const key of keys) versions.push(...(await versionsOf(client, `/versions/${place}/${key}`)));
  const differences = snapshots.map(({ id }) => client.call('GET', `/snapshots/${place}/${id}/diff`));
  return { secrets, snapshots, changes, versions, differences: await Promise.all(differences) };
}

async function versionsOf(client: ApiClient, path: string): Promise<unknown[]> {
  const { versions } = await client.call<{ versions: { version: number }[] }>('GET', path);
  return Promise.all(versions.map(({ version }) => client.call('GET', `${path}/${version}`)));
}
