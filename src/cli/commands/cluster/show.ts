import { type CommandContext, defineCommand } from '../../core/command.ts';
import { flag, organizationOption } from '../../core/options.ts';
import { clusterFields, readCluster } from './cluster-facts.ts';
import { clusterArgument, findRules, rulesText } from './cluster-rules.ts';

/** `cluster show <cluster>`: docs/interface.md 4.18. */
export const clusterShowCommand = defineCommand({
  summary: 'Show what the organization allows a cluster',
  description:
    'Requires the role admin or owner in the organization. With --all, it shows what the server knows of the cluster and its controller.',
  arguments: { cluster: clusterArgument },
  options: {
    ...organizationOption,
    all: flag('--all', 'The state and the controller of the cluster instead; for administrators of the server'),
  },
  examples: [
    { line: 'cluster show fra-1 -o acme', note: 'What the cluster may do there' },
    { line: 'cluster show fra-1 --all', note: 'Its state, and the release of its controller' },
  ],
  async run(context, { args: { cluster }, options: { all, organization } }) {
    if (all) return await showAll(context, cluster);
    const value = await findRules(context.api(), await context.organization({ organization }), cluster);
    await context.printer.object({
      value,
      fields: [
        ['Name', value.name],
        ['Home', value.isHome ? 'yes' : 'no'],
        ['Version', value.version],
        ['May', rulesText(value)],
      ],
      name: value.name,
    });
  },
});

async function showAll({ api, printer }: CommandContext, name: string): Promise<void> {
  const { cluster, serverVersion } = await readCluster(api(), name);
  await printer.object({ value: cluster, fields: clusterFields(cluster, serverVersion), name });
}
