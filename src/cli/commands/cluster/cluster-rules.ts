import type { ApiClient } from '../../../client/api-client.ts';
import { call } from '../../../client/call.ts';
import type { ClusterRulesView } from '../../../wire/clusters.ts';
import { argument, choice, completing, requiredText, scopeOptions } from '../../core/options.ts';

/** What an organization allows a cluster: docs/interface.md 4.18. */

export type ClusterRule = NonNullable<ClusterRulesView['rules']>[number];

const anyCluster = argument('<cluster>', 'Name of the cluster');

export const clusterArgument = completing('cluster', anyCluster);
/** For commands of administrators of the server, who may be in no organization. */
export const servedClusterArgument = completing('servedCluster', anyCluster);

const kinds = ['SecretSync', 'ServiceToken', 'SecretSnapshot', 'SnapshotRestore', 'SnapshotSchedule'] as const;

/** The kind that a rule is for. */
export const kindOption = choice('--kind <kind>', 'Kind of the resources', kinds, { default: 'SecretSync' });

/** The place of a rule: always named, because it is not the place that the user works in. */
export const ruleOptions = {
  organization: scopeOptions.organization,
  project: completing('project', requiredText('-p, --project <slug>', 'Project, or * for all')),
  environment: completing('environment', requiredText('-e, --env <slug>', 'Environment, or * for all of the project')),
};

/** Reads the rules of an organization for a cluster. */
export async function findRules(api: ApiClient, org: string, name: string): Promise<ClusterRulesView> {
  const { body } = await call(api, 'GET /organizations/{org}/clusters/{name}', { params: { org, name } });
  return body;
}

/** Sets the rules, unless they were changed since they were read. */
export async function putRules(
  api: ApiClient,
  org: string,
  { name, version }: ClusterRulesView,
  rules: readonly ClusterRule[],
): Promise<ClusterRulesView> {
  const request = { params: { org, name }, body: { rules: [...rules], expectedVersion: version } };
  const { body } = await call(api, 'PUT /organizations/{org}/clusters/{name}', request);
  return body;
}

/** Such as `Read on shop/production for SecretSync`. */
export function ruleText({ project, environments, permission, kinds: allowed }: ClusterRule): string {
  const place = environments.length === 1 ? environments.join('') : `{${environments.join(', ')}}`;
  const shown = permission === 'read' ? 'Read' : 'ReadWrite';
  return `${shown} on ${project}/${place} for ${allowed.join(', ')}`;
}

/** What a cluster may do in an organization, as a short text. */
export function rulesText({ rules, isHome, isOutdated }: ClusterRulesView): string {
  if (isOutdated) return 'nothing until its change is accepted';
  if (rules === null) return isHome ? 'what its AccessGrants allow' : 'nothing';
  return rules.length === 0 ? 'nothing' : rules.map(ruleText).join('; ');
}
