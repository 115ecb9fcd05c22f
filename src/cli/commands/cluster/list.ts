import { call } from '../../../client/call.ts';
import type { ClusterRulesView, ClusterView } from '../../../wire/clusters.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import { flag, organizationOption } from '../../core/options.ts';
import { time } from '../../terminal/time.ts';
import { rulesText } from './cluster-rules.ts';
import { readClusters, releaseText } from './cluster-facts.ts';

/** `cluster list`: docs/interface.md 4.18. */
export const clusterListCommand = defineCommand({
  summary: 'List the clusters, with what the organization allows each',
  description:
    'A cluster is known by KEYFRAME_CLUSTER_NAME, or by the uid of its namespace kube-system. A home cluster without rules may do what its AccessGrants allow; any other cluster without rules may do nothing. Requires the role admin or owner in the organization.',
  options: {
    ...organizationOption,
    all: flag('--all', 'The state of each cluster of the instance instead; for administrators of the server'),
  },
  examples: [
    { line: 'cluster list -o acme', note: 'What each cluster may do in an organization' },
    { line: 'cluster list --all', note: 'Which clusters are enabled, their releases, and when they were seen' },
  ],
  async run(context, { options: { all, organization } }) {
    if (all) return await listAll(context);
    const org = await context.organization({ organization });
    const { body } = await call(context.api(), 'GET /organizations/{org}/clusters', { params: { org } });
    await context.printer.list<ClusterRulesView>({
      value: body,
      rows: body.clusters,
      columns: [
        { title: 'NAME', cell: ({ name }) => name },
        { title: 'HOME', cell: ({ isHome }) => (isHome ? 'yes' : 'no') },
        { title: 'RULES', cell: ({ rules }) => rules?.length },
        { title: 'MAY', cell: rulesText, isCut: true },
      ],
      name: ({ name }) => name,
      whenEmpty: 'There are no clusters: no controller has worked with this server yet.',
    });
  },
});

async function listAll({ api, printer }: CommandContext): Promise<void> {
  const { list, serverVersion } = await readClusters(api());
  await printer.list<ClusterView>({
    value: list,
    rows: list.clusters,
    columns: [
      { title: 'NAME', cell: ({ name }) => name },
      { title: 'HOME', cell: ({ isHome }) => (isHome ? 'yes' : 'no') },
      { title: 'STATE', cell: ({ state }) => state },
      { title: 'RELEASE', cell: (cluster) => releaseText(cluster, serverVersion) },
      { title: 'SEEN', cell: ({ seenAt }) => time(seenAt) ?? 'never' },
      { title: 'UID', cell: ({ uid }) => uid },
    ],
    name: ({ name }) => name,
    whenEmpty: 'There are no clusters: no controller has worked with this server yet.',
  });
}
