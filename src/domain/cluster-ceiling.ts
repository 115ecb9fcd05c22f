import { covers, grantedPermission, type GrantNeed, type GrantPlace, type GrantRule, reveals } from './grants.ts';
import { grantedKinds, type RuleKindName } from './kinds.ts';
import { limits } from './limits.ts';
import { validateSlug } from './names.ts';

/**
 * What an organization allows a cluster, beside the AccessGrants of the cluster's namespaces. Pure: the store reads it
 * with the target of a request, and the services judge by it.
 */

/** A rule of an AccessGrant, without the organization: it is of the organization that set it. */
export interface ClusterRule extends Omit<GrantRule, 'organization'> {
  readonly kinds: readonly RuleKindName[];
}

/** `forgotten`: an instance admin ended all that the cluster had. */
export type ClusterState = 'enabled' | 'disabled' | 'forgotten';

/** The ceiling of a cluster in one organization. */
export interface ClusterCeiling {
  readonly state: ClusterState;
  /** A home cluster has no ceiling in an organization that set no rules; any other cluster may do nothing there. */
  readonly isHome: boolean;
  /** Null if the organization set none. */
  readonly rules: readonly ClusterRule[] | null;
  /** Of the rules; 0 if the organization never set any. */
  readonly version: number;
  /**
   * Whether the rules allow nothing because the organization forbids impersonation and has not accepted the cluster since
   * its issuer or keys were changed.
   */
  readonly isOutdated?: boolean;
}

/** The rules that left room for a request: its result depends on them. */
export interface SeenRules {
  readonly organizationId: string;
  readonly version: number;
}

/** Whether the ceiling leaves room for a need. A rule gives nothing that the AccessGrants do not give as well. */
export function leavesRoom({ isHome, rules }: Pick<ClusterCeiling, 'isHome' | 'rules'>, need: GrantNeed): boolean {
  return rules === null ? isHome : covers(rulesIn(need, rules), need);
}

/** Whether the cluster may know that a place exists: a rule lets resources of any kind read there. */
export function letsSee({ isHome, rules }: Pick<ClusterCeiling, 'isHome' | 'rules'>, place: GrantPlace): boolean {
  return rules === null ? isHome : reveals(rulesIn(place, rules), place);
}

function rulesIn({ organization }: GrantPlace, rules: readonly ClusterRule[]): readonly GrantRule[] {
  return rules.map((rule) => ({ ...rule, organization }));
}

/** A rule as text, such as `Read on shop/{dev, prod} for SecretSync`. */
export function clusterRuleText({ project, environments, permission, kinds }: ClusterRule): string {
  const listed = environments.join(', ');
  const place = environments.length === 1 ? listed : `{${listed}}`;
  return `${grantedPermission(permission)} on ${project}/${place} for ${kinds.join(', ')}`;
}

/** What is wrong with a field of a rule. */
export interface RuleFault {
  readonly field: 'project' | 'environments' | 'kinds';
  readonly message: string;
}

/** Checks a rule, as the definition of AccessGrant checks one. Returns undefined if it is valid. */
export function validateClusterRule({ project, environments, kinds }: ClusterRule): RuleFault | undefined {
  const faults = {
    project: isSlugOrAll(project) ? undefined : 'must be a slug, or "*" for all',
    environments: environmentsFault(environments, project === '*'),
    kinds: kindsFault(kinds),
  };
  for (const field of ['project', 'environments', 'kinds'] as const) {
    const message = faults[field];
    if (message !== undefined) return { field, message };
  }
  return undefined;
}

function environmentsFault(environments: readonly string[], allProjects: boolean): string | undefined {
  const max = limits.environmentsPerClusterRule;
  if (environments.length === 0 || environments.length > max) return `must name 1 to ${max} environments`;
  if (!environments.every(isSlugOrAll)) return 'must be slugs, or "*" alone for all';
  if (environments.includes('*') && environments.length > 1) return '"*" stands for all: leave the other names out';
  if (allProjects && !environments.includes('*')) return 'must be "*" if project is "*"';
  return new Set(environments).size < environments.length ? 'must not name one twice' : undefined;
}

function kindsFault(kinds: readonly RuleKindName[]): string | undefined {
  if (kinds.length === 0) return 'must name one kind at least';
  if (!kinds.every((kind) => grantedKinds.includes(kind))) return `must be of ${grantedKinds.join(', ')}`;
  return new Set(kinds).size < kinds.length ? 'must not name one twice' : undefined;
}

function isSlugOrAll(text: string): boolean {
  return text === '*' || validateSlug(text) === undefined;
}
