import { parseArgs } from 'node:util';
import { argumentFault } from '../devcluster/cluster/cluster-error.ts';

export interface StartOptions {
  /** Exit as soon as the native Secret is there. */
  readonly once: boolean;
  /** The API alone. */
  readonly cluster: boolean;
  /** How many clusters there are, if any. */
  readonly clusters: number;
}

const maxClusters = 4;

export const help = `npm start [-- OPTIONS]

Runs Keyframe on this machine with everything it needs: PostgreSQL, the API, a Kubernetes control plane and the
controller, and syncs the sample environment demo/shop/production into a native Secret. Ctrl-C stops all of it.

  --once           exit 0 as soon as the native Secret is there, in each cluster
  --no-cluster     the API and PostgreSQL alone
  --clusters <n>   so many clusters (1 to ${maxClusters}; default 1): the controllers of dev-2 to dev-${maxClusters} work over HTTPS, without
                   database and root key; as root each of these clusters is in a network of its own
  --help           this text

KEYFRAME_PORT (8700) and KEYFRAME_METRICS_PORT (8701; the controller's is the next one) move what it listens on, and
KEYFRAME_CLUSTER_PORT (8703; the following ones are for metrics) what it listens on for further clusters.
KEYFRAME_TRUSTED_ISSUER_PRIVATE_ADDRESSES=true lets a trusted issuer publish its keys on this machine. The data are kept in
.dev/.
`;

/** Reads the arguments of `npm start`; undefined when help was asked for. Throws a sentence about a faulty one. */
export function parseStartOptions(args: readonly string[]): StartOptions | undefined {
  const { help: wantsHelp, once = false, 'no-cluster': noCluster = false, clusters } = parseValues(args);
  if (wantsHelp) return undefined;
  if (once && noCluster) {
    throw new Error('--once waits for a Secret in the cluster, so it does not go with --no-cluster: give one of them.');
  }
  if (clusters !== undefined && noCluster)
    throw new Error('--clusters does not go with --no-cluster: give one of them.');
  return { once, cluster: !noCluster, clusters: noCluster ? 0 : clusterCount(clusters ?? '1') };
}

function clusterCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= maxClusters) return count;
  throw new Error(`--clusters must be a number from 1 to ${maxClusters}.`);
}

const options = {
  once: { type: 'boolean' },
  'no-cluster': { type: 'boolean' },
  clusters: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

function parseValues(args: readonly string[]): ReturnType<typeof parseArgs<{ options: typeof options }>>['values'] {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    const fault = argumentFault(error);
    if (fault === undefined) throw error;
    throw new Error(`${fault} "npm start -- --help" lists the options.`, { cause: error });
  }
}
