import pg from 'pg';
import { readKeySet } from '../../../src/identity/public-keys.ts';
import { putClusterIssuer } from '../database/cluster-issuer.ts';
import type { Stack } from './stack.ts';

/** Tokens of ServiceAccounts, as the API server of a cluster signs them. */
export class ServiceAccountTokens {
  readonly #stack: Stack;

  constructor(stack: Stack) {
    this.#stack = stack;
  }

  /** Stores issuer and keys of the API server, as the hello of the controller does. */
  async report(): Promise<void> {
    const { kube, databaseUrl } = this.#stack;
    const { metadata } = await kube.json<{ metadata: { uid: string } }>({ path: '/api/v1/namespaces/kube-system' });
    const { issuer } = await kube.json<{ issuer: string }>({ path: '/.well-known/openid-configuration' });
    const keys = await kube.json<unknown>({ path: '/openid/v1/jwks', accept: 'application/jwk-set+json' });
    const read = readKeySet(typeof keys === 'string' ? JSON.parse(keys) : keys);
    const database = new pg.Client({ connectionString: databaseUrl });
    await database.connect();
    try {
      await putClusterIssuer(database, metadata.uid, { iss: issuer, keys: read?.keys ?? [] });
    } finally {
      await database.end();
    }
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
