import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { ensureBinaries } from '../../../tools/devcluster/cluster/build.ts';
import type { Cluster } from '../../../tools/devcluster/cluster/cluster.ts';
import type { KubeObject } from '../../../tools/devcluster/cluster/kube-http.ts';

/** The chart under test. */
export const chartFolder = join(checkoutDirectory, 'charts', 'keyframe');

const valuesFolder = join(checkoutDirectory, 'test', 'e2e', 'chart-values');

/** The names of the values files with which the chart is tried. */
export const valuesFiles: readonly string[] = readdirSync(valuesFolder).sort();

/** The path of a values file. */
export function valuesPath(name: string): string {
  return join(valuesFolder, name);
}

/** Arguments of helm that give a release what it needs at least; further ones override them. */
export const neededValues: readonly string[] = ['--values', join(import.meta.dirname, 'release-values.yaml')];

export interface Rendering {
  readonly namespace: string;
  /** Of chart-values; none for the defaults. */
  readonly values?: string;
  /** More arguments of `helm template`, such as `--set`. */
  readonly more?: readonly string[];
}

/**
 * Runs helm, which reads and writes nothing of the user's, against a cluster if one is given; answers what it printed.
 * Throws, with what it said as `stderr`, where it fails.
 */
export async function runHelm(
  args: readonly string[],
  cluster?: Pick<Cluster, 'kubeconfig' | 'runFolder'>,
): Promise<string> {
  const { helm } = await ensureBinaries(['helm'], { env: process.env, output: process.stderr });
  // Without a cluster there is nothing to read and nothing to keep.
  const env = { HOME: cluster?.runFolder ?? '/nonexistent', KUBECONFIG: cluster?.kubeconfig ?? '/nonexistent' };
  const { stdout } = await promisify(execFile)(helm, [...args], { env, maxBuffer: 16 * 1024 * 1024 });
  return stdout;
}

/** The manifests of a release named keyframe. */
export async function renderChart({ namespace, values, more = [] }: Rendering): Promise<string> {
  const file = values === undefined ? [] : ['--values', valuesPath(values)];
  return await runHelm([
    'template',
    'keyframe',
    chartFolder,
    '--namespace',
    namespace,
    ...neededValues,
    ...file,
    ...more,
  ]);
}

/** The objects of rendered manifests. Throws if one is no YAML or has a field twice. */
export function objectsOf(manifests: string): KubeObject[] {
  return parseAllDocuments(manifests)
    .map((document) => {
      const [fault] = document.errors;
      if (fault !== undefined) throw fault;
      return document.toJS() as KubeObject | null;
    })
    .filter((object) => object !== null);
}
