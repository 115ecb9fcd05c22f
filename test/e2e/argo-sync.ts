import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { KubeHttp, KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import type { SecretSnapshot } from '../../src/controller/generated/secret-snapshot.ts';
import type { ToolHealth } from '../support/cluster/tool-health.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

export interface ArgoSyncOptions {
  readonly kube: KubeHttp;
  readonly health: ToolHealth;
  /** The manifest of a SecretSnapshot that is a hook of the phase PreSync. */
  readonly hookFile: string;
  readonly commit: string;
}

/** What has become of a hook. */
export interface HookState {
  readonly phase: 'Running' | 'Succeeded' | 'Failed';
  readonly message: string;
}

const hookFinalizer = 'argocd.argoproj.io/hook-finalizer';

// getOperationPhase of gitops-engine's pkg/sync/sync_context.go.
const phases: Readonly<Record<string, HookState['phase']>> = {
  Healthy: 'Succeeded',
  Progressing: 'Running',
  Suspended: 'Running',
};

/**
 * What Argo CD does in one sync with a SecretSnapshot for a hook, after gitops-engine's pkg/sync/sync_context.go: it names it
 * by generateName, commit, phase and time, holds it by a finalizer of its own until it has come to an end, and applies the
 * rest only if that is a good one.
 */
export class ArgoSync {
  readonly hookName: string;
  readonly #options: ArgoSyncOptions;
  readonly #path: string;

  private constructor(options: ArgoSyncOptions, hookName: string, path: string) {
    this.#options = options;
    this.hookName = hookName;
    this.#path = path;
  }

  /** Makes the hook. */
  static async begin(options: ArgoSyncOptions): Promise<ArgoSync> {
    const hook = parse(readFileSync(options.hookFile, 'utf8')) as {
      metadata: { namespace: string; generateName: string; annotations: Record<string, string> };
    };
    const { namespace, generateName, annotations } = hook.metadata;
    if (annotations['argocd.argoproj.io/hook'] !== 'PreSync')
      throw new Error(`${options.hookFile} is no PreSync hook.`);
    const name = `${generateName}${options.commit.slice(0, 7)}-presync-${Math.floor(Date.now() / 1000)}`;
    const path = `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/secretsnapshots`;
    const body = { ...hook, metadata: { ...hook.metadata, name, finalizers: [hookFinalizer] } };
    await options.kube.json({ method: 'POST', path, body });
    return new ArgoSync(options, name, `${path}/${name}`);
  }

  /** The hook's object. */
  async hook(): Promise<SecretSnapshot> {
    return await this.#options.kube.json<SecretSnapshot>({ path: this.#path });
  }

  /** What has become of the hook, by the health of its object as it is now. */
  async state(): Promise<HookState> {
    const { status, message } = (await this.#options.health.of(await this.hook())).argo;
    return { phase: phases[status] ?? 'Failed', message };
  }

  /** Waits until the hook has come to an end, lets its object go, and applies the rest if that was a good one. */
  async end(applyRest: () => Promise<unknown>): Promise<HookState> {
    const state = await waitFor('the hook to come to an end', async () => {
      const now = await this.state();
      return now.phase === 'Running' ? undefined : now;
    });
    const { metadata } = await this.#options.kube.json<KubeObject & { metadata: { finalizers?: string[] } }>({
      path: this.#path,
    });
    const finalizers = (metadata.finalizers ?? []).filter((finalizer) => finalizer !== hookFinalizer);
    await this.#options.kube.json({
      method: 'PATCH',
      path: this.#path,
      contentType: 'application/merge-patch+json',
      body: { metadata: { finalizers, resourceVersion: metadata.resourceVersion } },
    });
    if (state.phase === 'Succeeded') await applyRest();
    return state;
  }
}
