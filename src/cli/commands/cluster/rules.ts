import { call } from '../../../client/call.ts';
import type { ClusterRulesView } from '../../../wire/clusters.ts';
import { usageError } from '../../core/cli-error.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import { flag, organizationOption } from '../../core/options.ts';
import { type ClusterRule, clusterArgument, findRules, putRules, ruleText } from './cluster-rules.ts';

/** `cluster rules <cluster>`: docs/interface.md 4.18. */
export const clusterRulesCommand = defineCommand({
  summary: 'List the rules of the organization for a cluster, or remove all',
  description:
    'A resource of the cluster needs an AccessGrant of its namespace and one of these rules. Without rules, a home cluster may do what its AccessGrants allow, and any other cluster nothing. Requires the role admin or owner in the organization. In an organization that forbids impersonation, rules allow nothing after the issuer or the keys of the cluster were changed, until an admin accepts that. Asks before it removes or accepts.',
  arguments: { cluster: clusterArgument },
  options: {
    ...organizationOption,
    accept: flag('--accept', 'Accept the cluster after its issuer or keys were changed, with the same rules'),
    remove: flag('--remove', 'Remove all rules: the organization then limits the cluster no more, or allows nothing'),
  },
  examples: [
    { line: 'cluster rules fra-1 -o acme', note: 'One line for each rule' },
    { line: 'cluster rules fra-1 -o acme --remove', note: 'Asks for confirmation' },
    { line: 'cluster rules fra-1 -o acme --accept', note: 'After `cluster update`, if the organization demands it' },
  ],
  async run(context, { args: { cluster }, options }) {
    const org = await context.organization(options);
    const api = context.api();
    const found = await findRules(api, org, cluster);
    if (options.remove && options.accept) throw usageError('give either --accept or --remove');
    if (options.remove) await removeRules(context, org, found);
    if (options.accept) await acceptCluster(context, org, found);
    const value = options.remove || options.accept ? await findRules(api, org, cluster) : found;
    const may = value.rules === null ? withoutRules(value) : 'do nothing';
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
      whenEmpty: `${org} has no rules for cluster ${cluster}. It may ${may} there.`,
    });
    if (value.isOutdated) context.io.note(outdatedNote(org, cluster));
  },
});

function withoutRules({ isHome }: ClusterRulesView): string {
  return isHome ? 'do what its AccessGrants allow' : 'do nothing';
}

function outdatedNote(org: string, cluster: string): string {
  return `These rules allow nothing: the issuer or the keys of the cluster were changed. To accept that: keyframe cluster rules ${cluster} -o ${org} --accept`;
}

async function removeRules(context: CommandContext, org: string, found: ClusterRulesView): Promise<void> {
  const { name, version } = found;
  await context.confirm(`Remove the rules of ${org} for cluster ${name}? It may then ${withoutRules(found)} there.`);
  const query = { expectedVersion: String(version) };
  await call(context.api(), 'DELETE /organizations/{org}/clusters/{name}', { params: { org, name }, query });
}

/** Sets the same rules again. */
async function acceptCluster(context: CommandContext, org: string, found: ClusterRulesView): Promise<void> {
  const { name, rules, generation } = found;
  if (rules === null) throw usageError(`${org} has no rules for cluster ${name}`);
  await context.confirm(
    `Let the rules of ${org} count for cluster ${name} as it is now (generation ${generation ?? 0})?`,
  );
  await putRules(context.api(), org, found, rules);
}
