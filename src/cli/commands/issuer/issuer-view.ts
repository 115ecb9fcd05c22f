import type { ApiClient } from '../../../client/api-client.ts';
import { call } from '../../../client/call.ts';
import { ClientError } from '../../../client/client-error.ts';
import type { TrustedIssuerView } from '../../../wire/trusted-issuers.ts';
import { CliError } from '../../core/cli-error.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { argument, completing } from '../../core/options.ts';
import type { ObjectView } from '../../terminal/printer.ts';
import { time } from '../../terminal/time.ts';
import { counted } from '../../../lib/counted.ts';

/** Trusted issuers: docs/interface.md 4.19. */

export const issuerArgument = completing('trustedIssuer', argument('<issuer>', 'Name of the issuer'));

/** One issuer, for administrators of the server. */
export async function findIssuer(api: ApiClient, name: string): Promise<TrustedIssuerView> {
  return (await call(api, 'GET /trusted-issuers/{name}', { params: { name } })).body;
}

/** The same; undefined for one that does not exist. */
export async function findIssuerIfAny(api: ApiClient, name: string): Promise<TrustedIssuerView | undefined> {
  try {
    return await findIssuer(api, name);
  } catch (error) {
    if (error instanceof ClientError && error.isNotFound) return undefined;
    throw error;
  }
}

/** Refuses the issuer of a cluster, as the server does: before a question is asked. */
export function refuseClusterIssuer({ name, cluster }: TrustedIssuerView, next: string): void {
  if (cluster === null) return;
  const message = `${name} is the issuer of a cluster: a home cluster reports it, and \`keyframe cluster update\` changes that of a remote one`;
  throw new CliError(exitCodes.conflict, message, { next: [next] });
}

/** The lines of an issuer. */
export function issuerFields(issuer: TrustedIssuerView): ObjectView['fields'] {
  const { name, cluster, preset, iss, jwksUrl, keys, algorithms, ca, maxAgeSeconds, generation, version } = issuer;
  return [
    ['Name', name],
    ...(cluster === null ? [] : [['Cluster', cluster] as const]),
    ['State', issuer.disabledAt === null ? 'enabled' : 'disabled'],
    ['Preset', preset],
    ['Issuer', iss],
    ['Keys from', jwksUrl ?? 'a file'],
    ...(jwksUrl === null ? [] : [['Fetched', time(issuer.fetchedAt) ?? 'never: the first JWT starts it'] as const]),
    ...(issuer.fetchFault === null
      ? []
      : ([
          ['Fetch failed', time(issuer.fetchFailedAt)],
          ['Fault', issuer.fetchFault],
        ] as const)),
    [
      'Keys',
      keys?.map(({ kid, alg }) => `${String(kid ?? 'without a kid')} (${String(alg)})`).join(', ') ?? 'none yet',
    ],
    ['Algorithms', algorithms.join(', ')],
    ...(ca === null ? [] : [['Authorities', 'given'] as const]),
    ['Longest lifetime', durationText(maxAgeSeconds)],
    ['Generation', generation],
    ['Version', version],
    ['Proves', usageText(issuer)],
  ];
}

/** As `--max-age` takes it: such as 24h, 5m or 90s. */
function durationText(seconds: number): string {
  if (seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

/** Such as `3 service tokens in 2 organizations`. */
export function usageText({ tokens, organizations }: Pick<TrustedIssuerView, 'tokens' | 'organizations'>): string {
  return `${counted(tokens, 'service token')} in ${counted(organizations, 'organization')}`;
}
