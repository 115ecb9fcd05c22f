import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { flag, organizationOption } from '../../core/options.ts';
import { type ClusterRule, clusterArgument, findRules, ruleText } from './cluster-rules.ts';

/** `cluster rules <cluster>`: docs/interface.md 4.18. */
export const clusterRulesCommand = defineCommand({
  summary: 'List the rules of the organization for a cluster, or remove all',
  description:
    'A resource of the cluster needs an AccessGrant of its namespace and one of these rules. Without rules, a home cluster may do what its AccessGrants allow, and any other cluster nothing. Requires the role admin or owner in the organization. Asks before it removes rules.',
  arguments: { cluster: clusterArgument },
  options: {
    ...organizationOption,
    remove: flag('--remove', 'Remove all rules: the organization then limits the cluster no more, or allows nothing'),
  },
  examples: [
    { line: 'cluster rules fra-1 -o acme', note: 'One line for each rule' },
    { line: 'cluster rules fra-1 -o acme --remove', note: 'Asks for confirmation' },
  ],
  async run(context, { args: { cluster }, options }) {
    const org = await context.organization(options);
    const api = context.api();
    const found = await findRules(api, org, cluster);
    const after = found.isHome ? 'do what its AccessGrants allow' : 'do nothing';
    if (options.remove) {
      await context.confirm(`Remove the rules of ${org} for cluster ${cluster}? It may then ${after} there.`);
      const query = { expectedVersion: String(found.version) };
      await call(api, 'DELETE /organizations/{org}/clusters/{name}', { params: { org, name: cluster }, query });
    }
    const value = options.remove ? await findRules(api, org, cluster) : found;
    await context.printer.list<ClusterRule>({
      value,
      rows: value.rules ?? [],
      columns: [
        { title: 'PROJECT', cell: ({ project }) => project },
        { title: 'ENVIRONMENTS', cell: ({ environments }) => environments.join(', ') },
        { title: 'PERMISSION', cell: ({ permission }) => permission },
        { title: 'KINDS', cell: ({ kinds }) => kinds.join(', ') },
      ],
      name: ruleText,
      whenEmpty: `${org} has no rules for cluster ${cluster}. It may ${value.rules === null ? after : 'do nothing'} there.`,
    });
  },
});
