import { call } from '../../../client/call.ts';
import type { ClusterView } from '../../../wire/clusters.ts';
import { CliError, usageError } from '../../core/cli-error.ts';
import { defineCommand } from '../../core/command.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { flag, text } from '../../core/options.ts';
import { clusterFields, readCluster } from './cluster-facts.ts';
import { servedClusterArgument } from './cluster-rules.ts';
import { clusterSource, sourceOptions } from './registration/cluster-source.ts';
import { presentSource } from './registration/present-source.ts';

/** `cluster update <cluster>`, for administrators of the server. */
export const clusterUpdateCommand = defineCommand({
  summary: 'Change how the controller of a remote cluster proves which cluster it is',
  description:
    'For new keys of its API server, or a cluster that was created again under its name. What is not given stays as it is. Another issuer, key, URL, algorithm or authority gives the cluster a new generation: in organizations that forbid impersonation, their rules count again when an admin accepts it (`keyframe cluster rules --accept`). Asks for confirmation. For administrators of the server.',
  arguments: { cluster: servedClusterArgument },
  options: {
    ...sourceOptions,
    namespace: text('--namespace <name>', 'Namespace of the controller'),
    serviceAccount: text('--service-account <name>', 'ServiceAccount of the controller'),
    resetUid: flag('--reset-uid', 'Let the next controller that leads give the uid'),
  },
  examples: [
    { line: 'cluster update fra-1 --kube-context fra-1', note: 'Its keys and its uid, as they are now' },
    { line: 'cluster update fra-1 --reset-uid', note: 'After the cluster was created again' },
  ],
  async run(context, { args: { cluster: name }, options }) {
    const { resetUid, uid } = options;
    if (resetUid && uid !== undefined) throw usageError('give either --uid or --reset-uid');
    const api = context.api();
    const { cluster, serverVersion } = await readCluster(api, name);
    const { subject, version } = registrationOf(cluster);
    const source = (await clusterSource(context, options)) ?? (await presentSource(api, name));
    await context.confirm(`Change how cluster ${name} is proved? Only its new tokens count from then on.`);
    const given = resetUid ? null : uid;
    const body = {
      ...source,
      subject: subjectOf(subject, options),
      expectedVersion: version,
      ...(given === undefined ? {} : { uid: given }),
    };
    const { body: value } = await call(api, 'PUT /clusters/{name}', { params: { name }, body });
    await context.printer.object({ value, fields: clusterFields(value, serverVersion), name });
  },
});

function registrationOf({ name, registration }: ClusterView): NonNullable<ClusterView['registration']> {
  if (registration !== null) return registration;
  const next = [`To register it: keyframe cluster create ${name} --kube-context <name>`];
  throw new CliError(exitCodes.notFound, `cluster ${name} is not registered`, { next });
}

/** The subject with the parts of it that are given. */
function subjectOf(
  before: string,
  given: { readonly namespace: string | undefined; readonly serviceAccount: string | undefined },
): string {
  const [, , namespace = '', account = ''] = before.split(':');
  return `system:serviceaccount:${given.namespace ?? namespace}:${given.serviceAccount ?? account}`;
}
