import { isDnsLabel, isDnsName } from './kubernetes-names.ts';
import { uuidPattern, validateClusterName } from './names.ts';

/**
 * Audiences of JWTs (docs/federation.md). An audience is a name, not an address: it names the installation and one
 * service token in it, so it stays as it is if the URL of the server changes.
 */

/** What an audience selects in its installation. */
export type AudienceTarget =
  | { readonly type: 'service_token'; readonly id: string }
  /** A ServiceToken of a cluster. */
  | { readonly type: 'resource'; readonly cluster: string; readonly namespace: string; readonly name: string };

/** The id of an installation: random characters of base32, in lower case. */
export const instanceIdAlphabet = 'abcdefghijklmnopqrstuvwxyz234567';
export const instanceIdLength = 26;
const instanceForm = new RegExp(`^[${instanceIdAlphabet}]{${instanceIdLength}}$`);

/** The audience of JWTs that prove this target. */
export function audienceOf(instance: string, target: AudienceTarget): string {
  if (target.type === 'service_token') return `keyframe/${instance}/service-tokens/${target.id}`;
  return `keyframe/${instance}/clusters/${target.cluster}/${target.namespace}/${target.name}`;
}

/** Reads an audience; undefined for a text that is none, such as the audience of another program. */
export function readAudience(text: string): { readonly instance: string; readonly target: AudienceTarget } | undefined {
  const [program, instance = '', kind, ...names] = text.split('/');
  if (program !== 'keyframe' || !instanceForm.test(instance)) return undefined;
  const target = kind === 'service-tokens' ? tokenOf(names) : kind === 'clusters' ? resourceOf(names) : undefined;
  return target && { instance, target };
}

function tokenOf([id = '', ...rest]: readonly string[]): AudienceTarget | undefined {
  return uuidPattern.test(id) && rest.length === 0 ? { type: 'service_token', id } : undefined;
}

function resourceOf([cluster = '', namespace = '', name = '', ...rest]: readonly string[]): AudienceTarget | undefined {
  const isOne = validateClusterName(cluster) === undefined && isDnsLabel(namespace) && isDnsName(name);
  return isOne && rest.length === 0 ? { type: 'resource', cluster, namespace, name } : undefined;
}
