import { isIP } from 'node:net';
import { getPlain } from '../../../../client/plain-get.ts';
import { isObject } from '../../../../lib/is-object.ts';
import type { CommandContext } from '../../../core/command.ts';
import { proxyFor } from '../../../settings/proxy-variables.ts';

/** A public JSON Web Key. */
type Key = Readonly<Record<string, unknown>>;

const timeoutMs = 10_000;
const maxBytes = 256 * 1024;

/**
 * The URL where anyone can read the same keys; undefined if there is none. Then keys of a managed cluster, which are replaced
 * regularly, are fetched again by the server.
 */
export async function publicUrl(
  context: Pick<CommandContext, 'environment'>,
  iss: string,
  keys: readonly Key[],
): Promise<string | undefined> {
  if (!isPublic(iss)) return undefined;
  const discovery = documentOf(await answerOf(context, `${iss.replace(/\/$/, '')}/.well-known/openid-configuration`));
  const url = discovery?.['jwks_uri'];
  if (discovery?.['issuer'] !== iss || typeof url !== 'string' || !isPublic(url)) return undefined;
  const published = documentOf(await answerOf(context, url));
  return published !== undefined && sameKeys(keys, published['keys']) ? url : undefined;
}

/** Whether an address may be one that the server reaches too: https, at a name. */
function isPublic(address: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url?.protocol === 'https:' && isIP(url.hostname.replaceAll(/[[\]]/g, '')) === 0;
}

/** Empty if there is none: an issuer inside of a network, or with another authority, publishes nothing for this command. */
async function answerOf({ environment }: Pick<CommandContext, 'environment'>, address: string): Promise<string> {
  try {
    const headers = { accept: 'application/json', 'user-agent': 'keyframe-cli' };
    const proxy = proxyFor(address, environment.proxies);
    const { status, text: body } = await getPlain({ address, headers, proxy, timeoutMs, maxBytes });
    return status === 200 ? body : '';
  } catch {
    return '';
  }
}

/** Whether a published key set has the keys that the API server has, by what makes each the key that it is. */
function sameKeys(own: readonly Key[], published: unknown): boolean {
  if (!Array.isArray(published)) return false;
  const textOf = (key: unknown): string => {
    const { kty, kid, n, e, crv, x, y } = (key ?? {}) as Key;
    return JSON.stringify([kty, kid, n, e, crv, x, y]);
  };
  const there = new Set(published.map(textOf));
  return own.length > 0 && own.every((key) => there.has(textOf(key)));
}

/** A JSON object; undefined for another text. */
export function documentOf(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
