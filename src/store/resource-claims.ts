import type { ResourcePrincipal } from '../domain/principal.ts';
import type { Transaction } from './transaction.ts';

/** What a custom resource is remembered by: its uid in its cluster. The names are as of then. */
export type ClaimOwner = Pick<ResourcePrincipal, 'cluster' | 'id' | 'kind' | 'namespace' | 'name'>;

/**
 * What a resource makes once, or takes over once. `token_end`: it is over, and no token is made for it any more.
 * `environment_end`: it is over, and takes no environment over any more.
 */
export type ClaimOperation = 'token' | 'token_end' | 'snapshot' | 'environment' | 'environment_end' | 'restore';

export interface Claim {
  readonly operation: ClaimOperation;
  /** 1 for what a resource has one of. */
  readonly serial: number;
  /** Null while nothing was made. */
  readonly organizationId: string | null;
}

/**
 * Claims an operation for a resource, and returns whether it is the first to; one that claims the same at this moment
 * is waited for. What is made under the claim is noted by `noteClaimed`, in the same transaction.
 */
export async function claimOnce(tx: Transaction, owner: ClaimOwner, claim: Claim): Promise<boolean> {
  const { cluster, id, kind, namespace, name } = owner;
  const claimed = await tx.run`
    INSERT INTO resource_claim (cluster, uid, operation, serial, kind, namespace, name, organization_id)
    VALUES (${cluster}, ${id}::uuid, ${claim.operation}, ${claim.serial}::int, ${kind}, ${namespace}, ${name},
      ${claim.organizationId}::uuid)
    ON CONFLICT DO NOTHING`;
  return claimed > 0;
}

/** Whether a resource claimed an operation. */
export async function hasClaim(
  tx: Transaction,
  { cluster, id }: Pick<ClaimOwner, 'cluster' | 'id'>,
  operation: ClaimOperation,
): Promise<boolean> {
  const claims = await tx.rows<object>`
    SELECT FROM resource_claim WHERE cluster = ${cluster} AND uid = ${id}::uuid AND operation = ${operation} LIMIT 1`;
  return claims.length > 0;
}

/** What was made under a claim. */
export interface Claimed {
  readonly serviceTokenId?: string;
  readonly snapshotId?: string;
  readonly environmentId?: string;
}

/** Notes what was made under a claim, over what was noted before. */
export async function noteClaimed(
  tx: Transaction,
  { cluster, id }: ClaimOwner,
  { operation, serial, organizationId }: Claim,
  claimed: Claimed,
): Promise<void> {
  const { serviceTokenId, snapshotId, environmentId } = claimed;
  await tx.run`
    UPDATE resource_claim SET organization_id = ${organizationId}::uuid,
      service_token_id = ${serviceTokenId ?? null}::uuid, snapshot_id = ${snapshotId ?? null}::uuid,
      environment_id = ${environmentId ?? null}::uuid
    WHERE cluster = ${cluster} AND uid = ${id}::uuid AND operation = ${operation} AND serial = ${serial}::int`;
}
