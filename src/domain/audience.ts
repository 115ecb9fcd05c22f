import { isDnsLabel, isDnsName } from './kubernetes-names.ts';
import { uuidPattern, validateClusterName } from './names.ts';

/**
 * Audiences of JWTs (docs/federation.md). An audience is a name, not an address: it names the installation and one
 * service token or cluster in it, so it stays as it is if the URL of the server changes.
 */

/** What an audience selects in its installation. */
export type AudienceTarget =
  | { readonly type: 'service_token'; readonly id: string }
  /** A ServiceToken of a cluster. */
  | { readonly type: 'resource'; readonly cluster: string; readonly namespace: string; readonly name: string }
  /** A cluster: the JWT is of its controller. */
  | { readonly type: 'cluster'; readonly cluster: string };

/** The id of an installation: random characters of base32, in lower case. */
export const instanceIdAlphabet = 'abcdefghijklmnopqrstuvwxyz234567';
export const instanceIdLength = 26;
const instanceForm = new RegExp(`^[${instanceIdAlphabet}]{${instanceIdLength}}$`);

/** The audience of JWTs that prove this target. */
export function audienceOf(instance: string, target: AudienceTarget): string {
  if (target.type === 'service_token') return `keyframe/${instance}/service-tokens/${target.id}`;
  const ofCluster = `keyframe/${instance}/clusters/${target.cluster}`;
  return target.type === 'cluster' ? ofCluster : `${ofCluster}/${target.namespace}/${target.name}`;
}

/** Reads an audience; undefined for a text that is none, such as the audience of another program. */
export function readAudience(text: string): { readonly instance: string; readonly target: AudienceTarget } | undefined {
  const [program, instance = '', kind, ...names] = text.split('/');
  if (program !== 'keyframe' || !instanceForm.test(instance)) return undefined;
  const target = kind === 'service-tokens' ? tokenOf(names) : kind === 'clusters' ? clusterOf(names) : undefined;
  return target && { instance, target };
}

/** Whether a text is the audience of a service token, of any installation. */
export function isTokenAudience(text: string): boolean {
  const target = readAudience(text)?.target;
  return target !== undefined && target.type !== 'cluster';
}

function tokenOf([id = '', ...rest]: readonly string[]): AudienceTarget | undefined {
  return uuidPattern.test(id) && rest.length === 0 ? { type: 'service_token', id } : undefined;
}

function clusterOf([cluster = '', ...names]: readonly string[]): AudienceTarget | undefined {
  if (validateClusterName(cluster) !== undefined) return undefined;
  if (names.length === 0) return { type: 'cluster', cluster };
  const [namespace = '', name = '', ...rest] = names;
  const isResource = isDnsLabel(namespace) && isDnsName(name) && rest.length === 0;
  return isResource ? { type: 'resource', cluster, namespace, name } : undefined;
}
