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

  /** As `kubectl create token --audience`. */
  async sign(namespace: string, name: string, audience: string): Promise<string> {
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: [audience], expirationSeconds: 600 },
    };
    const path = `${accountsPath(namespace)}/${name}/token`;
    const { status } = await this.#stack.kube.json<{ status: { token: string } }>({ method: 'POST', path, body });
    return status.token;
  }
}

function accountsPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/serviceaccounts`;
}
