import { type ClusterCeiling, leavesRoom } from '../../domain/cluster-ceiling.ts';
import type { GrantNeed } from '../../domain/grants.ts';
import { needsName } from '../../domain/resource-policy.ts';
import { appendAudits } from '../../store/audit.ts';
import { holdCeiling } from '../../store/cluster-ceilings.ts';
import {
  type ClusterToken,
  type EndedToken,
  listClusterKeyless,
  listClusterTokens,
  revokeTokens,
  suspendTokens,
} from '../../store/cluster-tokens.ts';
import type { Database } from '../../store/database.ts';
import { notifyServiceTokens } from '../../store/notify.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { InstanceAccess, OrganizationAccess } from '../access/access.ts';
import { auditRecord } from '../audit/audit-log.ts';
import { makeChange } from '../change/change.ts';

/**
 * The end of tokens that a cluster may no longer use, in batches. Commit the rules or the state of the cluster before: a
 * change of the cluster that comes between is judged by them.
 */

interface Deps {
  readonly database: Pick<Database, 'transactionPool'>;
}

type SuspendAccess = OrganizationAccess<'cluster.set_rules'> | InstanceAccess<'cluster.disable'>;
type ForgetAccess = InstanceAccess<'cluster.forget'>;
type Access = SuspendAccess | ForgetAccess;

/** Tokens of one transaction, with their locks and audit rows. */
const tokensAtOnce = 1_000;

/**
 * Suspends the tokens of a cluster's ServiceTokens that its state or the rules of the organization do not allow now, and
 * returns how many. Their reconciles resume them once they are allowed again.
 */
export async function suspendRefusedTokens(
  deps: Deps,
  access: SuspendAccess,
  { cluster, organizationId }: { readonly cluster: string; readonly organizationId: string | null },
): Promise<number> {
  return inBatches(deps, access, async (tx, after) => {
    const ceiling = await holdCeiling(tx, cluster, organizationId);
    const page = { cluster, organizationId, after, limit: tokensAtOnce, includesSuspended: false };
    const tokens = await listClusterTokens(tx, page);
    const refused = tokens.filter((token) => ceiling.state !== 'enabled' || !isAllowed(ceiling, token));
    const cause = ceiling.state === 'enabled' ? 'cluster_not_allowed' : 'cluster_disabled';
    const ended = await end(tx, access, refused, { cluster, cause, action: 'service_token.suspend' });
    return { ended, next: nextOf(tokens) };
  });
}

/** Revokes all tokens of a cluster's ServiceTokens and its keyless tokens, and returns how many. */
export async function revokeClusterTokens(deps: Deps, access: ForgetAccess, cluster: string): Promise<number> {
  const how = { cluster, cause: 'cluster_forgotten', action: 'service_token.revoke' } as const;
  const ofResources = await inBatches(deps, access, async (tx, after) => {
    const page = { cluster, organizationId: null, after, limit: tokensAtOnce, includesSuspended: true };
    const tokens = await listClusterTokens(tx, page);
    return { ended: await end(tx, access, tokens, how), next: nextOf(tokens) };
  });
  const keyless = await inBatches(deps, access, async (tx) => {
    const tokens = await listClusterKeyless(tx, cluster, tokensAtOnce);
    const ended = await end(tx, access, tokens, how);
    return { ended, next: tokens.length < tokensAtOnce ? null : (tokens.at(-1)?.id ?? null) };
  });
  return ofResources + keyless;
}

interface EndedBatch {
  readonly ended: number;
  /** Where the next batch begins; null if there is none. */
  readonly next: string | null;
}

async function inBatches(
  deps: Deps,
  access: Access,
  batch: (tx: Transaction, after: string | null) => Promise<EndedBatch>,
): Promise<number> {
  let count = 0;
  for (let after: string | null = null; ;) {
    // The right was judged when the state or the rules were committed.
    const { ended, next }: EndedBatch = await makeChange(deps, access, async (tx) => ({
      result: await batch(tx, after),
      audit: null,
    }));
    count += ended;
    if (next === null) return count;
    after = next;
  }
}

function nextOf(tokens: readonly ClusterToken[]): string | null {
  return tokens.length < tokensAtOnce ? null : (tokens.at(-1)?.uid ?? null);
}

interface End {
  readonly cluster: string;
  readonly cause: string;
  readonly action: 'service_token.suspend' | 'service_token.revoke';
}

async function end(
  tx: Transaction,
  { caller }: Access,
  tokens: readonly EndedToken[],
  { cluster, cause, action }: End,
): Promise<number> {
  if (tokens.length === 0) return 0;
  const ids = tokens.map(({ id }) => id);
  const ended = action === 'service_token.suspend' ? await suspendTokens(tx, ids) : await revokeTokens(tx, ids);
  const changed = tokens.filter(({ id }) => ended.has(id));
  await notifyServiceTokens(
    tx,
    changed.map(({ organizationId, id }) => ({ organizationId, serviceTokenId: id })),
  );
  await appendAudits(
    tx,
    changed.map(({ organizationId, id, name }) =>
      auditRecord(caller, { organizationId, action, target: { serviceTokenId: id, name, cluster, cause } }),
    ),
  );
  return changed.length;
}

function isAllowed(ceiling: ClusterCeiling, token: ClusterToken): boolean {
  const { organization, project, environment, permission, isProtected } = token;
  const place = { organization, project, environment, permission };
  const byName = needsName('service_token.resume', { ...place, isProtected });
  const need: GrantNeed = { ...place, kind: 'ServiceToken', byName };
  return leavesRoom(ceiling, need);
}
