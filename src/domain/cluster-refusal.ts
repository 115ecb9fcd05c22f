import { type ClusterCeiling, leavesRoom } from './cluster-ceiling.ts';
import { DomainError } from './errors/domain-error.ts';
import { byNameText, grantPlaceText } from './grant-refusal.ts';
import { type GrantNeed, grantedPermission, kindsNeeded } from './grants.ts';
import type { ClusterAsker } from './principal.ts';

/** Refusals by the state of a cluster, and by what an organization allows it. */

/** Whether an error is a refusal by the state of a cluster, or by what an organization allows it. */
export function isClusterRefusal({ code }: DomainError): boolean {
  return code === 'cluster_not_allowed' || code === 'cluster_disabled' || code === 'cluster_unknown';
}

/** The refusal if nothing is done for the cluster now; undefined if it is enabled. */
export function stateRefusal(cluster: string, { state }: Pick<ClusterCeiling, 'state'>): DomainError | undefined {
  const remedy = `an instance admin runs \`keyframe cluster enable ${cluster}\``;
  if (state === 'disabled') {
    const detail = `cluster ${cluster} is disabled. If it should work again, ${remedy}`;
    return new DomainError('cluster_disabled', detail);
  }
  if (state === 'enabled') return undefined;
  const detail = `cluster ${cluster} was forgotten. If it should work again, ${remedy}`;
  return new DomainError('cluster_unknown', detail);
}

/** The refusal of a SecretEnvironment in a cluster that is not one of the installation. */
export function servedAtHomeOnly(): DomainError {
  return new DomainError(
    'served_at_home_only',
    'SecretEnvironments make environments only in the clusters of the installation itself, and this cluster is another ' +
      'one: delete this resource, and create the environment with `keyframe env create` or in a home cluster',
  );
}

/**
 * The refusal of a need by the ceiling of a cluster; undefined if there is room. Judge the grants before: it says nothing
 * of what exists in Keyframe, and names the command that allows the need.
 */
export function ceilingRefusal(
  { cluster, name }: ClusterAsker,
  ceiling: ClusterCeiling,
  need: GrantNeed,
): DomainError | undefined {
  const refused = stateRefusal(cluster, ceiling);
  if (refused !== undefined || leavesRoom(ceiling, need)) return refused;
  const { organization, project, environment, permission, kind } = need;
  if (ceiling.isOutdated === true) return outdatedRules(cluster, organization);
  const kinds = kindsNeeded(kind);
  return new DomainError(
    'cluster_not_allowed',
    `${name} needs ${grantedPermission(permission)} on ${grantPlaceText({ organization, project, environment })}, and ` +
      `organization ${organization} does not allow that to cluster ${cluster}${byNameText(need)} for ${kinds.join(' and ')}. ` +
      `If it should, an admin of the organization runs ${allowCommands(cluster, need)}`,
  );
}

function outdatedRules(cluster: string, organization: string): DomainError {
  return new DomainError(
    'cluster_not_allowed',
    `the issuer or the keys of cluster ${cluster} were changed, and organization ${organization} has not accepted that. ` +
      `An admin of the organization asks the instance admin why, and runs \`keyframe cluster rules ${cluster} -o ${organization} --accept\``,
  );
}

/** The commands that allow a need: one for each kind. */
function allowCommands(cluster: string, { organization, project, environment, permission, kind }: GrantNeed): string {
  const place = `-o ${organization} -p ${project ?? "'*'"} -e ${environment ?? "'*'"}`;
  const permitted = permission === 'read' ? '' : ' --permission read_write';
  const commands = kindsNeeded(kind).map((each) => {
    const ofKind = each === 'SecretSync' ? '' : ` --kind ${each}`;
    return `\`keyframe cluster allow ${cluster} ${place}${ofKind}${permitted}\``;
  });
  return commands.join(' and ');
}
