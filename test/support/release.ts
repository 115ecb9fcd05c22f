import { randomBytes } from 'node:crypto';
import { Api } from '../../scripts/start/api.ts';
import { chartFolder, runHelm } from './helm.ts';
import type { NodeSite } from './node-site.ts';
import { ApiClient } from './api-client.ts';

/** Values of the chart, as `--set` takes them: `{ 'image.tag': 'next' }`. */
export type ChartValues = Readonly<Record<string, string>>;

const name = 'keyframe';
const deployment = `deployment/${name}`;
// Helm's own is 5 minutes.
const helmTimeout = '120s';

/** charts/keyframe, installed by helm on the node with the images that were built for it. */
export class Release {
  readonly namespace: string;
  readonly #site: NodeSite;

  private constructor(site: NodeSite, namespace: string) {
    this.#site = site;
    this.namespace = namespace;
  }

  /**
   * Installs it in a new namespace that enforces «restricted», and waits until its pods are ready and its Service leads to them.
   * It goes with `resources`, with everything of its kinds: it serves all namespaces, so there is one at a time.
   */
  static async install(site: NodeSite, resources: AsyncDisposableStack, values: ChartValues = {}): Promise<Release> {
    const namespace = await site.makeNamespace('restricted');
    await makeSecrets(site, namespace);
    await site.makeVolume();
    const release = new Release(site, namespace);
    resources.defer(() => release.#remove());
    await release.#helm('install', { 'bootstrap.adminEmail': 'admin@example.com', ...values });
    await site.waitForHttp(await release.url());
    return release;
  }

  /** Installs other values, beside those it has, and waits until its pods are the new ones and ready. */
  async upgrade(values: ChartValues): Promise<void> {
    await this.#helm('upgrade', values, ['--reuse-values']);
  }

  /** Removes what it installed, and waits until that is gone. */
  async uninstall(): Promise<void> {
    await runHelm(
      ['uninstall', name, '--namespace', this.namespace, '--wait', '--timeout', helmTimeout],
      this.#site.node,
    );
  }

  /** Runs the chart's tests and answers what helm printed. */
  async test(): Promise<string> {
    return await runHelm(['test', name, '--namespace', this.namespace, '--timeout', helmTimeout], this.#site.node);
  }

  /** Where the API answers, by its Service. */
  async url(): Promise<string> {
    return await this.#site.serviceUrl(this.namespace, name);
  }

  /** The token of the first administrator, from the pod that made it. */
  async adminToken(): Promise<string> {
    const script = `fs.readFileSync('/var/run/keyframe/admin-token', 'utf8')`;
    return (await this.#site.exec(this.namespace, deployment, ['node', '-p', script])).trim();
  }

  /** The API as the first administrator, for what the tests of the API use and for the sample of `npm start`. */
  async admin(): Promise<{ client: ApiClient; api: Api; token: string }> {
    const [url, token] = await Promise.all([this.url(), this.adminToken()]);
    return { client: new ApiClient({ url, token }), api: new Api(url, token), token };
  }

  // The controller has to see its objects go before it goes itself, or their finalizers would hold the namespaces.
  async #remove(): Promise<void> {
    const deletion = ['--all', '--ignore-not-found', '--timeout=60s'];
    await this.#site.kubectl(['delete', 'secretsyncs,secretsnapshots,servicetokens', '--all-namespaces', ...deletion]);
    await this.#site.kubectl(['delete', 'secretenvironments,accessgrants', ...deletion]);
    await runHelm(['uninstall', name, '--namespace', this.namespace, '--ignore-not-found'], this.#site.node);
  }

  async #helm(command: 'install' | 'upgrade', values: ChartValues, more: readonly string[] = []): Promise<void> {
    const { keyframe, postgres } = this.#site.images;
    const [repository = '', tag = ''] = keyframe.split(/:(?=[^:/]*$)/);
    const images = { 'image.repository': repository, 'image.tag': tag, 'postgres.image': postgres };
    const settings = Object.entries({ ...images, ...values }).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
    // The definitions stay when a release goes, and name it as their owner.
    const place = ['--namespace', this.namespace, '--take-ownership', '--wait', '--timeout', helmTimeout];
    try {
      await runHelm([command, name, chartFolder, ...place, ...settings, ...more], this.#site.node);
    } catch (error) {
      // Helm tells that it waited in vain, and not for what.
      const seen = await this.#site.kubectl(['--namespace', this.namespace, 'get', 'pods,events']);
      throw new Error(`${(error as Error).message}\n${seen}`, { cause: error });
    }
  }
}

/** The Secrets that the chart wants to find: the root key, and PostgreSQL's password and address. */
async function makeSecrets(site: NodeSite, namespace: string): Promise<void> {
  const password = randomBytes(24).toString('hex');
  const url = `postgresql://keyframe:${password}@${name}-postgres:5432/keyframe`;
  const secrets = {
    [`${name}-root-key`]: { 'root-key': `main:${randomBytes(32).toString('base64')}` },
    [`${name}-postgres`]: { password, url },
  };
  for (const [secret, stringData] of Object.entries(secrets)) {
    await site.kube.json({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/secrets`,
      body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: secret }, stringData },
    });
  }
}
