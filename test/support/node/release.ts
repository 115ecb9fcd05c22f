import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Api } from '../../../tools/start/api.ts';
import { ApiClient } from '../api/api-client.ts';
import { neededValues, runHelm } from '../cluster/helm.ts';
import type { NodeSite } from './node-site.ts';

/** Values of the chart, as `--set` takes them: `{ 'image.tag': 'next' }`. */
export type ChartValues = Readonly<Record<string, string>>;

const name = 'keyframe';
// Helm's own is 5 minutes.
const helmTimeout = '180s';

export interface InstallOptions {
  /** A folder or a package; default that of the release's files. */
  readonly chart?: string;
  /** Whether the values have the pods serve https. */
  readonly isPrivate?: boolean;
  /** Makes in its namespace what must exist before; returns more arguments of helm. */
  readonly prepare?: (namespace: string) => Promise<readonly string[]>;
}

/** The chart and the image of a release's files, installed by helm on the node. */
export class Release {
  readonly namespace: string;
  readonly #site: NodeSite;
  readonly #scheme: string;
  #notes = '';

  private constructor(site: NodeSite, namespace: string, scheme: string) {
    this.#site = site;
    this.namespace = namespace;
    this.#scheme = scheme;
  }

  /**
   * Installs it in a new namespace that enforces «restricted», and waits until its pods are ready and its Service leads to them.
   * It goes with `resources`, with everything of its kinds: it serves all namespaces, so there is one at a time.
   */
  static async install(
    site: NodeSite,
    resources: AsyncDisposableStack,
    values: ChartValues = {},
    { chart = packageIn(site.node.release), isPrivate = false, prepare }: InstallOptions = {},
  ): Promise<Release> {
    const release = new Release(site, await site.makeNamespace('restricted'), isPrivate ? 'https' : 'http');
    await site.makeVolume();
    const given = (await prepare?.(release.namespace)) ?? [];
    resources.defer(() => release.#remove());
    await release.#helm('install', values, given, chart);
    return release;
  }

  /** What helm printed when it was installed: the chart's NOTES.txt, behind a head. */
  get notes(): string {
    return this.#notes;
  }

  /** Installs it where it was uninstalled, over what that has left. */
  async installAgain(values: ChartValues = {}): Promise<void> {
    await this.#helm('install', values);
  }

  /** Installs other values, beside those it has, and waits until its pods are the new ones and ready. */
  async upgrade(values: ChartValues): Promise<void> {
    await this.#helm('upgrade', values, ['--reset-then-reuse-values']);
  }

  /** Does so for the pods of a Deployment that is not paused, and does not wait for them. */
  async beginUpgrade(values: ChartValues): Promise<void> {
    await this.#helm('upgrade', values, ['--reset-then-reuse-values', '--wait=hookOnly']);
  }

  /** Returns to the release before the last upgrade. */
  async rollback(): Promise<void> {
    await this.#rollback('--wait');
  }

  /** Does so for the pods of a Deployment that is not paused, and does not wait for them. */
  async beginRollback(): Promise<void> {
    await this.#rollback();
  }

  /** Removes what it installed, and waits until that is gone. */
  async uninstall(): Promise<void> {
    const place = ['--namespace', this.namespace, '--ignore-not-found'];
    await runHelm(['uninstall', name, ...place, '--wait', '--timeout', helmTimeout], this.#site.node);
  }

  /** Runs the chart's test. Throws, with what helm and the pod wrote as `stdout` and `stderr`, where it fails. */
  async test(): Promise<string> {
    const place = ['--namespace', this.namespace, '--timeout', helmTimeout];
    return await runHelm(['test', name, '--logs', ...place], this.#site.node);
  }

  /** Where the API answers, by its Service. */
  async url(): Promise<string> {
    const url = await this.#site.serviceUrl(this.namespace, name);
    return url.replace('http:', `${this.#scheme}:`);
  }

  /** The token of the first administrator, from the Secret that the installation made. */
  async adminToken(): Promise<string> {
    return this.#site.secretValue(this.namespace, `${name}-admin`, 'token');
  }

  /** The API as the first administrator, for what the tests of the API use and for the sample of `npm start`. */
  async admin(): Promise<{ client: ApiClient; api: Api; token: string }> {
    const [url, token] = await Promise.all([this.url(), this.adminToken()]);
    return { client: new ApiClient({ url, token }), api: new Api(url, token), token };
  }

  async #rollback(...more: readonly string[]): Promise<void> {
    const place = ['--namespace', this.namespace, '--timeout', helmTimeout];
    await runHelm(['rollback', name, ...place, ...more], this.#site.node);
  }

  // The next release is another's: it is to find no definitions of this one.
  async #remove(): Promise<void> {
    await this.uninstall();
    const labels = 'app.kubernetes.io/part-of=keyframe';
    await this.#site.kubectl(['delete', 'customresourcedefinitions', '-l', labels, '--timeout=60s']);
  }

  async #helm(
    command: 'install' | 'upgrade',
    values: ChartValues,
    more: readonly string[] = [],
    chart = packageIn(this.#site.node.release),
  ): Promise<void> {
    const { keyframe, postgres } = this.#site.images;
    const [repository = '', tag = ''] = keyframe.split(/:(?=[^:/]*$)/);
    const images = { 'image.repository': repository, 'image.tag': tag, 'postgres.image': postgres };
    const settings = Object.entries({ ...images, ...values }).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
    const place = ['--namespace', this.namespace, '--wait', '--timeout', helmTimeout];
    try {
      const args = [command, name, chart, ...place, ...neededValues, ...settings, ...more];
      const printed = await runHelm(args, this.#site.node);
      if (command === 'install') this.#notes = printed;
    } catch (error) {
      // Helm reports that it waited in vain, and not for what.
      const seen = await this.#site.kubectl(['--namespace', this.namespace, 'get', 'pods,events']);
      throw new Error(`${(error as Error).message}\n${seen}`, { cause: error });
    }
    // A certificate of a private authority is for names that lead nowhere here.
    if (this.#scheme === 'http') await this.#site.waitForHttp(await this.url());
  }
}

/** The chart's package among the files of a release. */
function packageIn(folder: string): string {
  const [file = ''] = readdirSync(folder).filter((one) => one.endsWith('.tgz'));
  return join(folder, file);
}
