import { audienceOf } from '../domain/audience.ts';
import type { RequiredClaims } from '../domain/issuer-presets.ts';
import type { InstanceModel, TrustedIssuerModel } from './generated/models.ts';
import type { Transaction } from './transaction.ts';

/** The issuer of the ServiceAccount tokens of a cluster. */
export interface ClusterIssuer extends Readonly<Pick<TrustedIssuerModel, 'id' | 'generation'>> {
  readonly cluster: NonNullable<TrustedIssuerModel['cluster']>;
  /** The installation, for the audience. */
  readonly instance: InstanceModel['id'];
}

/** The issuer of a cluster; undefined before a controller reported it. It stays as it is until the end of the transaction. */
export async function holdClusterIssuer(tx: Transaction, cluster: string): Promise<ClusterIssuer | undefined> {
  return tx.row<ClusterIssuer>`
    SELECT id, generation, cluster, (SELECT id FROM instance) AS instance
    FROM trusted_issuer WHERE cluster = ${cluster} FOR SHARE`;
}

/** A credential that JWTs of the cluster are to prove, and the custom resource that names its audience. */
export interface FederatedCredential {
  readonly id: string;
  readonly tokenId: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Lets JWTs of a cluster prove a credential. What had the audience before loses it: credentials of the same token, and tokens
 * that are revoked or belonged to a former resource of this name. Returns the audience; undefined if a later resource of
 * this name has it.
 */
export async function federateCredential(
  tx: Transaction,
  { id, tokenId, namespace, name }: FederatedCredential,
  { issuer, claims }: { readonly issuer: ClusterIssuer; readonly claims: RequiredClaims },
): Promise<string | undefined> {
  const { instance, cluster } = issuer;
  const audience = audienceOf(instance, { type: 'resource', cluster, namespace, name });
  await tx.run`
    UPDATE service_token_federation f SET ended_at = clock_timestamp()
    FROM service_token_credential c JOIN service_token t ON t.id = c.service_token_id
    WHERE c.id = f.credential_id AND f.audience = ${audience} AND f.ended_at IS NULL
      AND (c.revoked_at IS NOT NULL OR t.revoked_at IS NOT NULL
        OR t.created_at <= (SELECT created_at FROM service_token WHERE id = ${tokenId}::uuid))`;
  const inserted = await tx.run`
    INSERT INTO service_token_federation (credential_id, issuer_id, issuer_name, generation, audience, claims)
    VALUES (${id}::uuid, ${issuer.id}::uuid, ${cluster}, ${issuer.generation}::int, ${audience},
      ${JSON.stringify(claims)}::jsonb)
    ON CONFLICT (audience) WHERE ended_at IS NULL DO NOTHING`;
  return inserted > 0 ? audience : undefined;
}
