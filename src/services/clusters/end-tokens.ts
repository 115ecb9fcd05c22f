import { type ClusterCeiling, leavesRoom } from '../../domain/cluster-ceiling.ts';
import type { GrantNeed } from '../../domain/grants.ts';
import { needsName } from '../../domain/resource-policy.ts';
import { holdCeiling } from '../../store/cluster-ceilings.ts';
import { type ClusterToken, listClusterKeyless, listClusterTokens } from '../../store/cluster-tokens.ts';
import type { InstanceAccess, OrganizationAccess } from '../access/access.ts';
import type { ChangeDeps } from '../change/change.ts';
import { endTokens, inBatches, nextBatch, tokensAtOnce } from '../change/token-ends.ts';

/**
 * The end of tokens that a cluster may no longer use, in batches. Commit the rules or the state of the cluster before: a
 * change of the cluster that comes between is judged by them.
 */

type SuspendAccess = OrganizationAccess<'cluster.set_rules'> | InstanceAccess<'cluster.disable' | 'cluster.update'>;
type ForgetAccess = InstanceAccess<'cluster.forget'>;

/**
 * Suspends the tokens of a cluster's ServiceTokens that its state or the rules of the organization do not allow now, and
 * returns how many. Their reconciles resume them once they are allowed again.
 */
export async function suspendRefusedTokens(
  deps: ChangeDeps,
  access: SuspendAccess,
  { cluster, organizationId }: { readonly cluster: string; readonly organizationId: string | null },
): Promise<number> {
  return inBatches(deps, access, async (tx, after) => {
    const ceiling = await holdCeiling(tx, cluster, organizationId);
    const page = { cluster, organizationId, after, limit: tokensAtOnce, includesSuspended: false };
    const tokens = await listClusterTokens(tx, page);
    const refused = tokens.filter((token) => ceiling.state !== 'enabled' || !isAllowed(ceiling, token));
    const cause = ceiling.state === 'enabled' ? 'cluster_not_allowed' : 'cluster_disabled';
    const ended = await endTokens(tx, access.caller, refused, {
      action: 'service_token.suspend',
      why: { cluster, cause },
    });
    return { ended, next: nextBatch(tokens, ({ uid }) => uid) };
  });
}

/** Revokes all tokens of a cluster's ServiceTokens and its keyless tokens, and returns how many. */
export async function revokeClusterTokens(deps: ChangeDeps, access: ForgetAccess, cluster: string): Promise<number> {
  const how = { action: 'service_token.revoke', why: { cluster, cause: 'cluster_forgotten' } } as const;
  const ofResources = await inBatches(deps, access, async (tx, after) => {
    const page = { cluster, organizationId: null, after, limit: tokensAtOnce, includesSuspended: true };
    const tokens = await listClusterTokens(tx, page);
    return { ended: await endTokens(tx, access.caller, tokens, how), next: nextBatch(tokens, ({ uid }) => uid) };
  });
  const keyless = await inBatches(deps, access, async (tx) => {
    const tokens = await listClusterKeyless(tx, cluster, tokensAtOnce);
    return { ended: await endTokens(tx, access.caller, tokens, how), next: nextBatch(tokens, ({ id }) => id) };
  });
  return ofResources + keyless;
}

function isAllowed(ceiling: ClusterCeiling, token: ClusterToken): boolean {
  const { organization, project, environment, permission, isProtected } = token;
  const place = { organization, project, environment, permission };
  const byName = needsName('service_token.resume', { ...place, isProtected });
  const need: GrantNeed = { ...place, kind: 'ServiceToken', byName };
  return leavesRoom(ceiling, need);
}
