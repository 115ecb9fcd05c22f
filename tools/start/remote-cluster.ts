import { renameSync, writeFileSync } from 'node:fs';
import { controllerUser, requestControllerToken } from '../devcluster/cluster/controller-account.ts';
import type { KubeHttp, KubeObject } from '../devcluster/cluster/kube-http.ts';
import type { Api } from './api.ts';
import { sample } from './sample.ts';

/** What the server has to know of a remote cluster, and what its controller has of the server. */

interface Registered {
  readonly registration: { readonly audience: string };
}

/**
 * Registers a cluster with the issuer, the keys and the uid that it has now, as `keyframe cluster create` and
 * `keyframe cluster update` do. Returns the audience by which a token of its controller is for this server.
 */
export async function registerCluster(api: Pick<Api, 'call'>, kube: KubeHttp, name: string): Promise<string> {
  const { issuer } = await kube.json<KubeObject & { issuer: string }>({ path: '/.well-known/openid-configuration' });
  const keySet = { path: '/openid/v1/jwks', accept: 'application/jwk-set+json' };
  const { keys } = await kube.json<KubeObject & { keys: readonly object[] }>(keySet);
  const { metadata } = await kube.json({ path: '/api/v1/namespaces/kube-system' });
  const body = { iss: issuer, keys, subject: controllerUser, uid: metadata.uid };
  return (await api.call<Registered>('PUT', `/clusters/${name}`, body)).registration.audience;
}

/** Lets a cluster hold copies of the sample environment, unless the organization has said what it may do. */
export async function allowSample(api: Api, name: string): Promise<void> {
  const path = `/organizations/${sample.organization}/clusters/${name}`;
  const { rules } = await api.call<{ rules: readonly object[] | null }>('GET', path);
  if (rules !== null) return;
  const { project, environment } = sample;
  const rule = { project, environments: [environment], permission: 'read', kinds: ['SecretSync'] };
  await api.call('PUT', path, { rules: [rule] });
}

/** The longest that the server accepts. */
const tokenSeconds = 3600;

/** The file with a controller's token, which is replaced long before it expires, as the kubelet does it. */
export class ControllerToken {
  readonly #timer: NodeJS.Timeout;

  private constructor(renew: () => Promise<void>, everyMs: number) {
    this.#timer = setInterval(() => {
      renew().catch((error: unknown) => console.error(`A token of a controller was not renewed: ${String(error)}`));
    }, everyMs);
    this.#timer.unref();
  }

  /** Writes the file, and goes on to do so. */
  static async keep(
    kube: KubeHttp,
    { audience, file, seconds = tokenSeconds }: { audience: string; file: string; seconds?: number },
  ): Promise<ControllerToken> {
    const renew = async (): Promise<void> => {
      const token = await requestControllerToken(kube, { audience, seconds });
      writeFileSync(`${file}.new`, token, { mode: 0o600 });
      renameSync(`${file}.new`, file);
    };
    await renew();
    return new ControllerToken(renew, (seconds * 1000) / 2);
  }

  stop(): Promise<void> {
    clearInterval(this.#timer);
    return Promise.resolve();
  }
}

/** Where a controller finds the server, and with what. */
export interface ServerAddress {
  readonly url: string;
  readonly caFile: string;
  readonly tokenFile: string;
}

/** The whole that a remote controller gets of the server: no database and no root key. */
export function remoteVariables({ url, caFile, tokenFile }: ServerAddress): Record<string, string> {
  return { SERVER_URL: url, SERVER_CA_FILE: caFile, CLUSTER_TOKEN_FILE: tokenFile };
}
