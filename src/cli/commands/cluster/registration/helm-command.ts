import type { ClusterView } from '../../../../wire/clusters.ts';

export const defaultNamespace = 'keyframe';
/** That the chart gives the controller of a release `keyframe`. */
export const defaultAccount = 'keyframe-controller';

/** How the controller of a registered cluster is installed. */
export interface AgentInstallation {
  readonly cluster: Pick<ClusterView, 'name' | 'registration'>;
  /** Where this command reaches the server. */
  readonly serverUrl: string;
  readonly kubeContext: string | undefined;
}

/** The command that installs the controller in a registered cluster, a line each. */
export function helmCommand({ cluster, serverUrl, kubeContext }: AgentInstallation): readonly string[] {
  const { subject = '', audience = '' } = cluster.registration ?? {};
  const [namespace, account] = subject.split(':').slice(2);
  const [, instance = ''] = audience.split('/');
  const settings = {
    'image.repository': '<registry>/keyframe',
    mode: 'agent',
    'server.url': serverUrl.startsWith('https://') ? serverUrl : 'https://<address of the server>',
    'server.instance': instance,
    clusterName: cluster.name,
    ...(account === undefined || account === defaultAccount ? {} : { 'serviceAccount.name': account }),
  };
  const context = kubeContext === undefined ? [] : [`--kube-context ${shellWord(kubeContext)}`];
  const options = [
    `-n ${namespace ?? defaultNamespace} --create-namespace`,
    ...context,
    ...Object.entries(settings).map(([path, value]) => `--set ${path}=${shellWord(value)}`),
  ];
  return ['helm install keyframe charts/keyframe', ...options].map((part, index, all) => {
    const indented = index === 0 ? part : `  ${part}`;
    return index === all.length - 1 ? indented : `${indented} \\`;
  });
}

/** A text as one word of a POSIX shell. */
function shellWord(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
