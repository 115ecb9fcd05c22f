import type { ApiClient } from '../../../client/api-client.ts';
import { call } from '../../../client/call.ts';
import type { ClusterView } from '../../../wire/clusters.ts';
import { counted } from '../../../lib/counted.ts';
import { CliError } from '../../core/cli-error.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import type { Cell } from '../../terminal/printer.ts';
import { time } from '../../terminal/time.ts';

/** What administrators of the server see of clusters: docs/interface.md 4.18. */

/** All clusters, and the release of the server. */
export async function readClusters(api: ApiClient): Promise<{
  readonly list: { clusters: ClusterView[]; nextCursor: string | null };
  readonly serverVersion: string;
}> {
  const { body: list } = await call(api, 'GET /clusters', {});
  const { serverVersion } = (await call(api, 'GET /me')).body;
  return { list, serverVersion };
}

/** One cluster with the release of the server. Throws CliError for one that is not known. */
export async function readCluster(
  api: ApiClient,
  name: string,
): Promise<{ readonly cluster: ClusterView; readonly serverVersion: string }> {
  const { list, serverVersion } = await readClusters(api);
  const cluster = list.clusters.find((known) => known.name === name);
  if (cluster !== undefined) return { cluster, serverVersion };
  const next = ['To list the clusters: keyframe cluster list --all'];
  throw new CliError(exitCodes.notFound, `there is no cluster ${name}`, { next });
}

/** The release of its controller; with the server's if that is another one. */
export function releaseText({ controller }: ClusterView, serverVersion: string): string {
  if (controller === null) return 'unknown';
  const { release } = controller;
  return release === serverVersion ? release : `${release} (server: ${serverVersion})`;
}

/** The facts of a cluster, for `cluster show --all`. */
export function clusterFields(cluster: ClusterView, serverVersion: string): (readonly [title: string, value: Cell])[] {
  const { controller } = cluster;
  const { min, max } = controller?.protocol ?? {};
  return [
    ['Name', cluster.name],
    ['State', cluster.state],
    ['Home', cluster.isHome ? 'yes' : 'no'],
    ['Seen', time(cluster.seenAt) ?? 'never'],
    ['UID', cluster.uid],
    ['Release', releaseText(cluster, serverVersion)],
    ['Protocol', min === max ? String(min ?? 'unknown') : `${min} to ${max}`],
    ['Kinds', controller?.kinds.join(', ') ?? 'unknown'],
    [
      'Issuer',
      cluster.issuer === null ? 'unknown' : `${cluster.issuer.iss} (${counted(cluster.issuer.keyCount, 'key')})`,
    ],
    ...registrationFields(cluster),
  ];
}

function registrationFields({ name, registration }: ClusterView): (readonly [title: string, value: Cell])[] {
  if (registration === null) return [];
  const { subject, audience, uid, jwksUrl, fetchedAt, generation, version } = registration;
  const fetched =
    fetchedAt === null
      ? 'not fetched yet'
      : 'a new key of the cluster counts by itself, a withdrawn one for 10 minutes at most';
  const given = `given; if the cluster replaces them, run keyframe cluster update ${name} --kube-context <name>`;
  return [
    ['Keys', jwksUrl === null ? given : `from ${jwksUrl}: ${fetched}`],
    ['Subject', subject],
    ['Audience', audience],
    ['Bound to UID', uid ?? 'that of the first controller that leads'],
    ['Generation', generation],
    ['Version', version],
  ];
}
