import type { ClusterIssuer } from '../../domain/clusters.ts';
import { limits } from '../../domain/limits.ts';
import { ApiError } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Logger } from '../../observability/logger.ts';
import { issuerUnknown } from './messages.ts';
import { isObject } from '../../lib/is-object.ts';

export interface ClusterIssuerDeps {
  readonly kube: Pick<KubeClient, 'request'>;
  readonly logger: Logger;
}

const bounds = { maxBytes: 256 * 1024, timeoutMs: 5_000 };
// Of a public key. Anything else in a set is not sent.
const members = ['kty', 'alg', 'use', 'kid', 'crv', 'n', 'e', 'x', 'y'] as const;
const maxMemberLength = 2_048;

/** Who signs the tokens of this cluster's ServiceAccounts: the issuer discovery of its API server. */
export class ClusterIssuerReader {
  readonly #deps: ClusterIssuerDeps;
  #known: ClusterIssuer | undefined;
  /** What was wrong with the last answer. */
  #fault: string | undefined;

  constructor(deps: ClusterIssuerDeps) {
    this.#deps = deps;
  }

  /** Undefined if the API server does not say it. */
  get known(): ClusterIssuer | undefined {
    return this.#known;
  }

  /** Reads it again. Returns whether something else is known now. During an outage of the API server nothing changes. */
  async refresh(): Promise<boolean> {
    const before = JSON.stringify(this.#known);
    const read = await this.#read();
    if (read === 'away') return false;
    const fault = typeof read === 'string' ? read : undefined;
    this.#known = typeof read === 'string' ? undefined : read;
    if (fault !== undefined && fault !== this.#fault) this.#deps.logger.warn(issuerUnknown(fault));
    this.#fault = fault;
    return before !== JSON.stringify(this.#known);
  }

  async #read(): Promise<ClusterIssuer | string> {
    try {
      const [discovery, keySet] = await Promise.all([
        this.#get('/.well-known/openid-configuration', 'application/json'),
        this.#get('/openid/v1/jwks', 'application/jwk-set+json'),
      ]);
      return issuerOf(discovery, keySet) ?? 'its answer has no issuer, no keys or too many of them';
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const isAnswer =
        (error.status >= 400 && error.status < 500 && error.status !== 429) || error.reason === 'TooLarge';
      return isAnswer ? error.message : 'away';
    }
  }

  async #get(path: string, accept: string): Promise<unknown> {
    return await this.#deps.kube.request<unknown>({ method: 'GET', path, accept, ...bounds });
  }
}

function issuerOf(discovery: unknown, keySet: unknown): ClusterIssuer | undefined {
  const iss = isObject(discovery) ? discovery['issuer'] : undefined;
  const keys = isObject(keySet) ? keySet['keys'] : undefined;
  if (typeof iss !== 'string' || iss.length > maxMemberLength || !Array.isArray(keys)) return undefined;
  if (keys.length === 0 || keys.length > limits.keysPerIssuer) return undefined;
  return { iss, keys: keys.filter(isObject).map(keyOf) };
}

function keyOf(key: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const texts = members.flatMap((name): [string, string][] => {
    const value = key[name];
    return typeof value === 'string' && value.length <= maxMemberLength ? [[name, value]] : [];
  });
  return Object.fromEntries(texts);
}
