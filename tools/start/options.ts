import { parseArgs } from 'node:util';
import { argumentFault } from '../devcluster/cluster/cluster-error.ts';

export interface StartOptions {
  /** Exit as soon as the native Secret is there. */
  readonly once: boolean;
  /** The API alone. */
  readonly cluster: boolean;
}

export const help = `npm start [-- OPTIONS]

Runs Keyframe on this machine with everything it needs: PostgreSQL, the API, a Kubernetes control plane and the
controller, and syncs the sample environment demo/shop/production into a native Secret. Ctrl-C stops all of it.

  --once         exit 0 as soon as the native Secret is there
  --no-cluster   the API and PostgreSQL alone
  --help         this text

KEYFRAME_PORT (8700) and KEYFRAME_METRICS_PORT (8701; the controller's is the next one) move what it listens on.
KEYFRAME_TRUSTED_ISSUER_PRIVATE_ADDRESSES=true lets a trusted issuer publish its keys on this machine. The data are kept in
.dev/.
`;

/** Reads the arguments of `npm start`; undefined when help was asked for. Throws a sentence about a faulty one. */
export function parseStartOptions(args: readonly string[]): StartOptions | undefined {
  const values = parseValues(args);
  if (values.help) return undefined;
  if (values.once && values['no-cluster']) {
    throw new Error('--once waits for a Secret in the cluster, so it does not go with --no-cluster: give one of them.');
  }
  return { once: values.once ?? false, cluster: !values['no-cluster'] };
}

function parseValues(args: readonly string[]): { once?: boolean; 'no-cluster'?: boolean; help?: boolean } {
  try {
    return parseArgs({
      args: [...args],
      options: { once: { type: 'boolean' }, 'no-cluster': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    }).values;
  } catch (error) {
    const fault = argumentFault(error);
    if (fault === undefined) throw error;
    throw new Error(`${fault} "npm start -- --help" lists the options.`, { cause: error });
  }
}
