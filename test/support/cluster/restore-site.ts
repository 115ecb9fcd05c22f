import type { SecretSnapshot } from '../../../src/controller/generated/secret-snapshot.ts';
import type { SnapshotRestore } from '../../../src/controller/generated/snapshot-restore.ts';
import type { WaitingRestoreListView, WaitingRestoreView } from '../../../src/wire/waiting-restores.ts';
import type { ApiEnvironment } from '../api/api-client.ts';
import { ResourceSite } from './resource-site.ts';
import type { Stack } from './stack.ts';
import { TokenSite } from './token-site.ts';

/** A snapshot as the API shows it. */
export interface ApiSnapshot {
  readonly id: string;
  readonly name: string | null;
  readonly createdByType: string;
  readonly createdByName: string;
  readonly revision: number;
}

export const drifted = { A: 'new', LATER: '1', SAME: '1' };

/** What the spec of a restore without a plan has, beside what names the snapshot. */
export function applyUnplanned({ ref }: ApiEnvironment): {
  readonly environmentRef: ApiEnvironment['ref'];
  readonly mode: string;
  readonly allowUnplanned: boolean;
} {
  return { environmentRef: ref, mode: 'Apply', allowUnplanned: true };
}

/** An environment, and a namespace with SnapshotRestores and SecretSnapshots that are granted it. */
export class RestoreSite {
  readonly namespace: string;
  readonly environment: ApiEnvironment;
  readonly restores: ResourceSite<SnapshotRestore>;
  readonly snapshots: ResourceSite<SecretSnapshot>;
  readonly #stack: Stack;
  readonly #tokens: TokenSite;

  private constructor(stack: Stack, tokens: TokenSite) {
    const { kube } = stack;
    const { namespace } = tokens;
    this.#stack = stack;
    this.#tokens = tokens;
    this.namespace = namespace;
    this.environment = tokens.environment;
    this.restores = new ResourceSite({ kube, kind: 'SnapshotRestore', plural: 'snapshotrestores', namespace });
    this.snapshots = new ResourceSite({ kube, kind: 'SecretSnapshot', plural: 'secretsnapshots', namespace });
  }

  /** The environment holds A=alpha, at revision 1. */
  static async make(stack: Stack, { granted = true } = {}): Promise<RestoreSite> {
    const kinds = ['SnapshotRestore', 'SecretSnapshot'];
    return new RestoreSite(stack, await TokenSite.make(stack, { granted, kinds }));
  }

  async grant(): Promise<void> {
    await this.#tokens.grant();
  }

  async withdraw(): Promise<void> {
    await this.#tokens.withdraw();
  }

  /** Where the environment's snapshots are over the API. */
  get apiPath(): string {
    const { organization, project, name } = this.environment.ref;
    return `/snapshots/${organization}/${project}/${name}`;
  }

  /** Takes a snapshot over the API; answers its id. */
  async snapshot(): Promise<string> {
    return (await this.#stack.admin.call<ApiSnapshot>('POST', this.apiPath, { name: 'good' })).id;
  }

  /** A snapshot after which one key was changed, one deleted and one added; revision 3 holds `drifted`. */
  async drift(): Promise<string> {
    await this.environment.change({ A: 'old', GONE: '1', SAME: '1' });
    const id = await this.snapshot();
    await this.environment.change({ A: 'new', LATER: '1' }, ['GONE']);
    return id;
  }

  /** The spec of a restore of the environment that needs no plan. */
  unplanned(snapshotId: string): {
    readonly mode: string;
    readonly allowUnplanned: boolean;
    readonly snapshotId: string;
  } {
    return { ...applyUnplanned(this.environment), snapshotId };
  }

  /** What the API lists, newest first. */
  async listed(): Promise<readonly ApiSnapshot[]> {
    return (await this.#stack.admin.call<{ snapshots: ApiSnapshot[] }>('GET', this.apiPath)).snapshots;
  }

  /** The restores of the organization that wait for an approval over the API. */
  async waiting(): Promise<readonly WaitingRestoreView[]> {
    const path = `/fleet/${this.environment.ref.organization}/restores`;
    const { restores } = await this.#stack.admin.call<WaitingRestoreListView>('GET', path);
    return restores.filter(({ environmentId }) => environmentId === this.environment.id);
  }

  async values(): Promise<Record<string, string>> {
    const { secrets } = await this.#read();
    return Object.fromEntries(secrets.map(({ key, value }) => [key, value]));
  }

  async revision(): Promise<number> {
    return (await this.#read()).revision;
  }

  /** Waits until the status has a plan of the environment as it is, and answers its hash. */
  async planned(name: string): Promise<string> {
    const { status } = await this.restores.waitForReason(name, 'Planned');
    if (status?.planHash === undefined) throw new Error(`SnapshotRestore ${name} has no plan.`);
    return status.planHash;
  }

  async approve(name: string, planHash: string): Promise<void> {
    await this.restores.patch(name, { spec: { mode: 'Apply', planHash } });
  }

  async #read(): Promise<Read> {
    return await this.#stack.admin.call<Read>('GET', this.environment.path);
  }
}

interface Read {
  readonly revision: number;
  readonly secrets: readonly { readonly key: string; readonly value: string }[];
}
