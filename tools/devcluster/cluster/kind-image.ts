import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Cluster } from './cluster.ts';
import { ClusterError } from './cluster-error.ts';
import { withoutUsersKubeconfig } from './kubeconfig.ts';

/** The name of the kind cluster that a kubeconfig of kind's leads to; undefined where it is of another kind. */
export function kindNameIn(kubeconfig: string): string | undefined {
  const content = parse(kubeconfig) as { 'current-context'?: unknown } | null;
  const context = content?.['current-context'];
  return typeof context === 'string' ? /^kind-(.+)$/.exec(context)?.[1] : undefined;
}

/** What kind is asked for, to bring an image archive onto its nodes. */
export function loadArguments(name: string, archive: string): string[] {
  return ['load', 'image-archive', archive, '--name', name];
}

/**
 * Brings the image in a file, as `docker save` writes it, onto the nodes of a kind cluster. Throws ClusterError with what kind
 * said, or where the cluster is not kind's.
 */
export function loadIntoKind({ kubeconfig }: Pick<Cluster, 'kubeconfig'>, archive: string): void {
  const name = kindNameIn(readFileSync(kubeconfig, 'utf8'));
  if (name === undefined) throw new ClusterError(`${kubeconfig} leads to no kind cluster.`);
  const env = withoutUsersKubeconfig(process.env);
  const { status, stderr, error } = spawnSync('kind', loadArguments(name, archive), { env, encoding: 'utf8' });
  if (status !== 0) throw new ClusterError(`kind load image-archive failed: ${error?.message ?? stderr.trim()}`);
}
