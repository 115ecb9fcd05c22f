import { defineCommand } from '../../core/command.ts';
import { organizationOption } from '../../core/options.ts';
import { clusterArgument, findRules, rulesText } from './cluster-rules.ts';

/** `cluster show <cluster>`: docs/interface.md 4.18. */
export const clusterShowCommand = defineCommand({
  summary: 'Show what the organization allows a cluster',
  description: 'Requires the role admin or owner in the organization.',
  arguments: { cluster: clusterArgument },
  options: organizationOption,
  examples: [{ line: 'cluster show fra-1 -o acme', note: 'What the cluster may do there' }],
  async run(context, { args: { cluster }, options }) {
    const value = await findRules(context.api(), await context.organization(options), cluster);
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
