import type { KubeObject } from '../../../tools/devcluster/cluster/kube-http.ts';
import type { Stack } from './stack.ts';

/** Tokens of ServiceAccounts, as the API server of a cluster signs them. */
export class ServiceAccountTokens {
  readonly #stack: Stack;

  constructor(stack: Stack) {
    this.#stack = stack;
  }

  async create(namespace: string, name: string): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } };
    await this.#stack.kube.json({ method: 'POST', path: accountsPath(namespace), body });
  }

  async delete(namespace: string, name: string): Promise<void> {
    await this.#stack.kube.json({ method: 'DELETE', path: `${accountsPath(namespace)}/${name}` });
  }

  /** As `kubectl create token --audience`, or `--bound-object-kind Pod`. */
  async sign(namespace: string, name: string, audience: string, pod?: KubeObject): Promise<string> {
    const bound = pod && { kind: 'Pod', apiVersion: 'v1', name: pod.metadata.name, uid: pod.metadata.uid };
    const spec = { audiences: [audience], expirationSeconds: 600, ...(bound && { boundObjectRef: bound }) };
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
    const path = `${accountsPath(namespace)}/${name}/token`;
    const { status } = await this.#stack.kube.json<{ status: { token: string } }>({ method: 'POST', path, body });
    return status.token;
  }

  /** A JWT that is bound to a pod of the account, as in a projected volume. The pod is deleted again. */
  async signForPod(namespace: string, name: string, audience: string): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/pods`;
    const spec = { serviceAccountName: name, containers: [{ name, image: 'none' }] };
    const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec };
    const pod = await this.#stack.kube.json({ method: 'POST', path, body });
    const jwt = await this.sign(namespace, name, audience, pod);
    await this.#stack.kube.json({ method: 'DELETE', path: `${path}/${name}` });
    return jwt;
  }
}

function accountsPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/serviceaccounts`;
}
