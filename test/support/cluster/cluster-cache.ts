import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { controlPlaneBinaries } from '../../../tools/devcluster/cluster/binaries.ts';
import { ensureBinaries } from '../../../tools/devcluster/cluster/build.ts';
import { cacheFolder } from '../../../tools/devcluster/cluster/cache-folder.ts';
import { type Cluster, type ClusterOptions, startCluster } from '../../../tools/devcluster/cluster/cluster.ts';
import { KubeHttp } from '../../../tools/devcluster/cluster/kube-http.ts';
import { endAbandonedRuns } from '../../../tools/devcluster/cluster/run-record.ts';
import { isRunning, type ProcessIdentity } from '../../../tools/process-identity.ts';

/**
 * A cache folder with the binaries of the real one and no runs: what other starts on this machine find or clean up there does
 * not meet what a test leaves behind on purpose.
 */
export class ClusterCache {
  readonly folder = mkdtempSync(join(tmpdir(), 'keyframe-cluster-test-'));
  readonly #clusters: Cluster[] = [];

  constructor() {
    symlinkSync(join(cacheFolder(process.env), 'bin'), join(this.folder, 'bin'));
  }

  /** This process's environment, with this cache folder and without a named cluster. */
  get env(): Record<string, string> {
    const { KEYFRAME_TEST_KUBECONFIG: _cluster, KUBEBUILDER_ASSETS: _assets, ...env } = process.env;
    return { ...(env as Record<string, string>), KEYFRAME_CACHE_DIR: this.folder };
  }

  /** The folders of runs that have not been cleaned up. */
  get runs(): string[] {
    return readdirSync(join(this.folder, 'runs'));
  }

  /** Starts a cluster which `stopAll` will stop; one of our own build unless the options allow other sources. */
  async start(options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = await startCluster({
      env: this.env,
      sources: ['built'],
      output: { write: () => true },
      ...options,
    });
    this.#clusters.push(cluster);
    return cluster;
  }

  async stopAll(): Promise<void> {
    for (const cluster of this.#clusters.splice(0)) await cluster.stop();
  }

  /** Removes it, and ends what a failed test may have left running. */
  remove(): void {
    endAbandonedRuns(this.folder, this.env);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The processes that a run has noted. */
export function processesOf(runFolder: string): ProcessIdentity[] {
  const note = JSON.parse(readFileSync(join(runFolder, 'run.json'), 'utf8')) as { processes: ProcessIdentity[] };
  return note.processes;
}

/** How many of them still run. */
export function countRunning(processes: readonly ProcessIdentity[]): number {
  return processes.filter(isRunning).length;
}

/** How long the first build may take on a slow machine. */
export const buildPatienceMs = 30 * 60_000;

/** Where the control plane's binaries lie; they are built if need be. */
export function builtBinaries(): Promise<Record<(typeof controlPlaneBinaries)[number], string>> {
  return ensureBinaries(controlPlaneBinaries, { env: process.env, output: process.stdout });
}

/** What distinguishes one cluster from another. Throws if it does not answer. */
export async function clusterUid(kubeconfig: string): Promise<string> {
  const client = new KubeHttp(kubeconfig);
  const { metadata } = await client.json({ path: '/api/v1/namespaces/kube-system' }).finally(() => client.close());
  return metadata.uid;
}

/** Writes an executable shell script that stands in for a program. */
export function writeScript(path: string, lines: readonly string[]): void {
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(path, 0o755);
}
