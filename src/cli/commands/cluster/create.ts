import { call } from '../../../client/call.ts';
import { usageError } from '../../core/cli-error.ts';
import { defineCommand } from '../../core/command.ts';
import { flag, text } from '../../core/options.ts';
import { clusterFields, readCluster } from './cluster-facts.ts';
import { servedClusterArgument } from './cluster-rules.ts';
import { clusterSource, sourceOptions } from './registration/cluster-source.ts';
import { defaultAccount, defaultNamespace, helmCommand } from './registration/helm-command.ts';

/** `cluster create <cluster>`, for administrators of the server. */
export const clusterCreateCommand = defineCommand({
  summary: 'Register a remote cluster, whose controller then works over HTTPS',
  description:
    'No secret is carried: the controller presents a token of its ServiceAccount, which its API server signs. The command reads issuer, public keys and uid through kubectl. It names the URL of the keys if the issuer publishes the same ones at https, and otherwise gives the keys. Then it prints the command that installs the controller. The cluster may do nothing until organizations allow it (`keyframe cluster allow`). For administrators of the server.',
  arguments: { cluster: servedClusterArgument },
  options: {
    ...sourceOptions,
    namespace: text('--namespace <name>', `Namespace of the controller (default: ${defaultNamespace})`),
    serviceAccount: text('--service-account <name>', `ServiceAccount of the controller (default: ${defaultAccount})`),
    fromHome: flag('--from-home', 'The cluster is known as a home cluster, and becomes a remote one. Asks'),
  },
  examples: [
    { line: 'cluster create fra-1 --kube-context fra-1', note: 'Reads everything through kubectl' },
    {
      line: 'cluster create fra-1 --issuer https://kubernetes.default.svc --jwks-file fra-1-keys.json',
      note: 'Without kubectl; its first controller gives the uid',
    },
  ],
  async run(context, { args: { cluster: name }, options }) {
    const { namespace = defaultNamespace, serviceAccount = defaultAccount, fromHome, kubeContext } = options;
    const source = await clusterSource(context, options);
    if (source === undefined) {
      throw usageError('a new cluster needs --kube-context <name>, or --issuer with --jwks-file or --jwks-url');
    }
    if (fromHome) {
      await context.confirm(
        `Make ${name} a remote cluster? Organizations that set no rules for it then allow it nothing, and tokens that no rule covers are suspended.`,
      );
    }
    const api = context.api();
    const subject = `system:serviceaccount:${namespace}:${serviceAccount}`;
    const body = { ...source, subject, expectedVersion: 0, ...(fromHome ? { fromHome } : {}) };
    const { body: value } = await call(api, 'PUT /clusters/{name}', { params: { name }, body });
    const { serverVersion } = await readCluster(api, name);
    await context.printer.object({ value, fields: clusterFields(value, serverVersion), name });
    context.io.note('To install its controller, run where the chart is:');
    for (const line of helmCommand({ cluster: value, serverUrl: api.url, kubeContext })) context.io.note(`  ${line}`);
  },
});
