import { join } from 'node:path';
import { optionsFor, readContext } from '../../../tools/devcluster/cluster/kube-access.ts';
import { writeKubeconfig } from '../../../tools/devcluster/cluster/kubeconfig.ts';
import type { ApiAnswer } from './api-exchange.ts';
import { HttpProxy, makeProxyFolder, type ProxyTarget } from './http-proxy.ts';

export type { ApiAnswer, ProxiedRequest, RequestMatch } from './http-proxy.ts';

interface ClusterAccess extends ProxyTarget {
  readonly token: string;
}

/** A proxy before the API server. */
export class ApiProxy extends HttpProxy {
  /** A kubeconfig (mode 0600) with the given one's token that leads to this proxy. */
  readonly kubeconfigFile: string;

  private constructor(folder: string, target: ProxyTarget) {
    super(folder, target);
    this.kubeconfigFile = join(folder, 'kubeconfig');
  }

  /** Listens on a free port of 127.0.0.1 before the API server of the kubeconfig, whose user must have a token. */
  static async start(kubeconfigFile: string): Promise<ApiProxy> {
    const { token, ...target } = await accessOf(kubeconfigFile);
    const proxy = new ApiProxy(await makeProxyFolder(), target);
    await proxy.accept();
    writeKubeconfig(proxy.kubeconfigFile, { server: proxy.url, ca: proxy.authority, user: 'proxied', token });
    return proxy;
  }
}

/** A `metav1.Status` as the API server answers its errors, for `answer`. */
export function failureAnswer(status: number, reason: string, headers: ApiAnswer['headers'] = {}): ApiAnswer {
  const body = JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message: reason,
    reason,
    code: status,
  });
  return { status, headers: { 'content-type': 'application/json', ...headers }, body };
}

/** How to reach the cluster of a kubeconfig as its user. The proxy can pass a token on, but no client certificate. */
async function accessOf(kubeconfigFile: string): Promise<ClusterAccess> {
  const context = readContext(kubeconfigFile);
  const options = await optionsFor(context);
  const token = /^Bearer (.+)$/.exec(String(Object(options.headers).Authorization))?.[1];
  if (token === undefined) throw new Error(`The user of ${kubeconfigFile} must have a token.`);
  return { server: new URL(context.cluster.server), ca: options.ca, token };
}
