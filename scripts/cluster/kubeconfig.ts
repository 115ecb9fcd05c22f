import { readFileSync, writeFileSync } from 'node:fs';
import { KubeConfig } from '@kubernetes/client-node';
import { stringify } from 'yaml';

export interface KubeconfigContent {
  /** The API server's address. */
  readonly server: string;
  /** The certificate authority, PEM. */
  readonly ca: string;
  readonly user: string;
  readonly token: string;
}

/** Writes a kubeconfig with one context, readable by its owner alone. */
export function writeKubeconfig(path: string, { server, ca, user, token }: KubeconfigContent): void {
  const authority = Buffer.from(ca).toString('base64');
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'keyframe', cluster: { server, 'certificate-authority-data': authority } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: 'keyframe', context: { cluster: 'keyframe', user } }],
    'current-context': 'keyframe',
  };
  writeFileSync(path, stringify(content), { mode: 0o600 });
}

/** Writes a kubeconfig for another user of the cluster that a kubeconfig's current context names. */
export function writeKubeconfigFor(path: string, admin: string, user: { name: string; token: string }): void {
  const cluster = load(admin).getCurrentCluster();
  if (cluster === null) throw new Error(`${admin} has no current context with a cluster.`);
  const config = new KubeConfig();
  config.loadFromClusterAndUser(cluster, user);
  writeFileSync(path, config.exportConfig(), { mode: 0o600 });
}

/** The certificate authority, PEM, of the cluster that a kubeconfig's current context names; undefined if it names none. */
export function authorityIn(kubeconfig: string): string | undefined {
  const cluster = load(kubeconfig).getCurrentCluster();
  if (cluster?.caData !== undefined) return Buffer.from(cluster.caData, 'base64').toString();
  return cluster?.caFile === undefined ? undefined : readFileSync(cluster.caFile, 'utf8');
}

/** For programs that are given a kubeconfig of ours and would otherwise look at the user's as well. */
export function withoutUsersKubeconfig(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { KUBECONFIG: _users, ...rest } = env;
  return rest;
}

function load(path: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(path);
  return config;
}
