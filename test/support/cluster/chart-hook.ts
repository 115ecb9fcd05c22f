import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requestToken } from '../../../tools/devcluster/cluster/controller-account.ts';
import type { KubeHttp, KubeObject } from '../../../tools/devcluster/cluster/kube-http.ts';
import { writeKubeconfigFor } from '../../../tools/devcluster/cluster/kubeconfig.ts';
import { buildServer } from '../../../tools/build/server.ts';
import { CapturedProcess } from '../faults/captured-process.ts';
import { compileCacheEnv } from '../api/compile-cache.ts';
import type { SharedCluster } from './cluster.ts';
import { type Rendering, objectsOf, renderChart } from './helm.ts';
import { runKubectl } from './kubectl.ts';

export interface ChartHookOptions {
  readonly cluster: Pick<SharedCluster, 'kubeconfig' | 'runFolder'>;
  /** Of the cluster's administrator. */
  readonly kube: KubeHttp;
  /** The template that it is in, such as `init.yaml`. */
  readonly template: string;
  readonly rendering: Rendering;
}

interface RenderedPod extends KubeObject {
  readonly spec: {
    readonly serviceAccountName: string;
    readonly containers: readonly {
      readonly args: readonly string[];
      readonly env: readonly { readonly name: string; readonly value: string }[];
    }[];
  };
}

interface Given {
  readonly pod: RenderedPod['spec'];
  /** What the pod has from its place: without the prefix. */
  readonly given: Readonly<Record<string, string>>;
}

/** A hook of the chart as a process: with the role, the variables and the account that its pod is rendered with. */
export class ChartHook {
  readonly kubeconfigFile: string;
  readonly #resources: AsyncDisposableStack;
  readonly #program: string;
  readonly #role: string;
  readonly #env: Readonly<Record<string, string>>;

  private constructor(resources: AsyncDisposableStack, program: string, { pod, given }: Given) {
    this.#resources = resources;
    this.#program = program;
    const [{ args: [role = ''], env } = { args: [], env: [] }] = pod.containers;
    this.#role = role;
    const rendered = env.map(({ name, value }) => [name.replace('KEYFRAME_', ''), value]);
    this.#env = { ...given, ...(Object.fromEntries(rendered) as Record<string, string>) };
    this.kubeconfigFile = given['KUBECONFIG_FILE'] ?? '';
  }

  /** Makes the account and its rights; they go with `resources`. */
  static async make(resources: AsyncDisposableStack, options: ChartHookOptions): Promise<ChartHook> {
    const { cluster, kube, template, rendering } = options;
    const only = ['--show-only', `templates/${template}`];
    const objects = objectsOf(await renderChart({ ...rendering, more: [...(rendering.more ?? []), ...only] }));
    const isRunning = ({ kind }: KubeObject): boolean => kind === 'Job' || kind === 'Pod';
    const file = join(cluster.runFolder, `hook-${rendering.namespace}-${template.replaceAll('/', '-')}.json`);
    const items = objects.filter((object) => !isRunning(object));
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    await runKubectl(cluster, ['apply', '--filename', file]);
    resources.defer(async () => void (await runKubectl(cluster, ['delete', '--ignore-not-found', '--filename', file])));
    const running = objects.find(isRunning) as (RenderedPod & { spec: { template?: RenderedPod } }) | undefined;
    if (running === undefined) throw new Error(`${template} renders nothing that runs`);
    const pod = running.spec.template?.spec ?? running.spec;
    const account = { namespace: rendering.namespace, name: pod.serviceAccountName };
    const token = await requestToken(kube, { ...account, seconds: 3600 });
    const kubeconfigFile = `${file}.kubeconfig`;
    writeKubeconfigFor(kubeconfigFile, cluster.kubeconfig, { name: account.name, token });
    const given = { NAMESPACE: rendering.namespace, KUBECONFIG_FILE: kubeconfigFile };
    return new ChartHook(resources, await buildServer(), { pod, given });
  }

  /** Starts it; `env` counts more than what is rendered, an empty value takes one away. */
  spawn(env: Readonly<Record<string, string>> = {}): CapturedProcess {
    const all = Object.entries({ ...this.#env, ...env }).filter(([, value]) => value !== '');
    const hook = new CapturedProcess({
      name: this.#role,
      program: process.execPath,
      args: [this.#program, this.#role],
      env: { ...compileCacheEnv, ...Object.fromEntries(all.map(([name, value]) => [`KEYFRAME_${name}`, value])) },
    });
    this.#resources.defer(async () => void (await hook.end('SIGKILL')));
    return hook;
  }

  /** Its exit code, and what it wrote. */
  async run(env?: Readonly<Record<string, string>>): Promise<{ code: number | null; output: string }> {
    const hook = this.spawn(env);
    const { code } = await hook.ended;
    return { code, output: hook.output.toString() };
  }
}
