import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { contentOf, type KubeContext, readContext } from './kube-access.ts';

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
  writeContext(path, { server, 'certificate-authority-data': authority }, { name: user, token });
}

/** Writes a kubeconfig for another user of the cluster that a kubeconfig's current context names. */
export function writeKubeconfigFor(
  path: string,
  admin: string,
  { name, token }: { name: string; token: string },
): void {
  writeContext(path, readContext(admin).cluster, { name, token });
}

function writeContext(path: string, cluster: KubeContext['cluster'], user: { name: string; token: string }): void {
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'keyframe', cluster }],
    users: [{ name: user.name, user: { token: user.token } }],
    contexts: [{ name: 'keyframe', context: { cluster: 'keyframe', user: user.name } }],
    'current-context': 'keyframe',
  };
  writeFileSync(path, stringify(content), { mode: 0o600 });
}

/** The certificate authority, PEM, of the cluster that a kubeconfig's current context names; undefined if it names none. */
export function authorityIn(kubeconfig: string): string | undefined {
  return contentOf(readContext(kubeconfig).cluster, 'certificate-authority')?.toString();
}

/** For programs that are given a kubeconfig and would otherwise read the user's as well. */
export function withoutUsersKubeconfig(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { KUBECONFIG: _users, ...rest } = env;
  return rest;
}
