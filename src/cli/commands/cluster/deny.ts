import { CliError } from '../../core/cli-error.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { defineCommand } from '../../core/command.ts';
import { type ClusterRule, clusterArgument, findRules, putRules, ruleOptions } from './cluster-rules.ts';

/** `cluster deny <cluster>`: docs/interface.md 4.18. */
export const clusterDenyCommand = defineCommand({
  summary: 'Take an environment out of the rules for a cluster',
  description:
    'Removes it from each rule that names exactly this project and environment, for all kinds. The change applies to the next read, and tokens of ServiceTokens that no rule covers any more are suspended. What SecretSyncs have written stays in the cluster: rotate what must not be known there. Requires the role admin or owner in the organization. Asks, because workloads may lose access.',
  arguments: { cluster: clusterArgument },
  options: ruleOptions,
  examples: [{ line: 'cluster deny fra-1 -o acme -p shop -e production', note: 'Asks for confirmation' }],
  async run(context, { args: { cluster }, options }) {
    const org = await context.organization(options);
    const { project, environment } = options;
    const api = context.api();
    const found = await findRules(api, org, cluster);
    const rules = (found.rules ?? []).flatMap((rule) => without(rule, project, environment));
    const place = `${project}/${environment}`;
    if (JSON.stringify(rules) === JSON.stringify(found.rules ?? [])) throw unnamed(org, cluster, place);
    await context.confirm(`Take ${place} out of the rules of ${org} for cluster ${cluster}?`);
    const value = await putRules(api, org, found, rules);
    const sentence = `No rule of ${org} for cluster ${cluster} names ${place} any more.`;
    await context.printer.done({ value, sentence, name: value.name });
  },
});

function without(rule: ClusterRule, project: string, environment: string): ClusterRule[] {
  if (rule.project !== project) return [rule];
  const environments = rule.environments.filter((slug) => slug !== environment);
  return environments.length === 0 ? [] : [{ ...rule, environments }];
}

function unnamed(org: string, cluster: string, place: string): CliError {
  return new CliError(
    exitCodes.notFound,
    `no rule of ${org} for cluster ${cluster} names ${place}; \`keyframe cluster rules ${cluster} -o ${org}\` lists them`,
  );
}
