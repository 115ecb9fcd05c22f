import type pg from 'pg';
import { queryRows, type Statement } from './database.ts';
import { type FederationIssuer, issuerColumns, type IssuerRow, issuerOf } from './federations.ts';
import type { ClusterRegistrationModel, InstanceModel, TrustedIssuerModel } from './generated/models.ts';
import { sql } from './sql.ts';
import type { Transaction } from './transaction.ts';
import type { TrustedIssuerContent } from './trusted-issuers.ts';

/** What the JWT of a remote cluster's controller must be. */
export interface ClusterProof extends Readonly<Pick<ClusterRegistrationModel, 'subject'>> {
  /** The id of the installation, which is in the audience. */
  readonly instance: InstanceModel['id'];
  readonly issuer: FederationIssuer;
  /** Whether a restore from a backup disabled it. Its keys are not fetched then. */
  readonly isDisabled: boolean;
  /** Whether no controller of it said within 90 seconds that it leads: one that is accepted does once a minute. */
  readonly isAway: boolean;
  /** The database's time. */
  readonly now: Date;
}

type ProofRow = IssuerRow & Omit<ClusterProof, 'issuer'> & Readonly<Pick<ClusterRegistrationModel, 'cluster'>>;

// Each request of a remote controller needs it.
const proofs: Statement = {
  name: 'cluster-proofs',
  text: `SELECT r.cluster, r.subject, instance.id AS instance, ${issuerColumns},
      i.disabled_at IS NOT NULL AS "isDisabled", clock_timestamp() AS now,
      NOT EXISTS (SELECT FROM cluster c
        WHERE c.name = r.cluster AND c.seen_at > clock_timestamp() - interval '90 seconds') AS "isAway"
    FROM cluster_registration r JOIN trusted_issuer i ON i.id = r.issuer_id CROSS JOIN instance
    WHERE r.cluster = ANY($1::text[])`,
};

/**
 * How the controllers of clusters prove that they are of them, with one statement; in the order of the names, undefined for
 * a cluster that is not registered.
 */
export async function findClusterProofs(
  pool: pg.Pool,
  clusters: readonly string[],
): Promise<(ClusterProof | undefined)[]> {
  const rows = await queryRows<ProofRow>(pool, proofs, [clusters]);
  const byName = new Map(rows.map((row) => [row.cluster, row]));
  return clusters.map((cluster) => {
    const row = byName.get(cluster);
    return row && { ...row, issuer: issuerOf(row) };
  });
}

/** The issuer of a cluster, as it is set. */
export interface ClusterIssuerRecord
  extends TrustedIssuerContent, Readonly<Pick<TrustedIssuerModel, 'id' | 'generation'>> {}

/**
 * Locks the issuer of a cluster, and those that instance admins manage, and reads it under the lock. Do it before the
 * cluster is locked.
 */
export async function lockClusterIssuer(tx: Transaction, cluster: string): Promise<ClusterIssuerRecord | undefined> {
  await tx.run`SELECT FROM instance FOR NO KEY UPDATE`;
  await tx.run`SELECT FROM trusted_issuer WHERE cluster = ${cluster} FOR UPDATE`;
  return tx.row<ClusterIssuerRecord>`
    SELECT id, preset, iss, jwks_url AS "jwksUrl", keys, algorithms, ca, max_age_seconds AS "maxAgeSeconds", generation
    FROM trusted_issuer WHERE cluster = ${cluster}`;
}

/** What instance admins set of a cluster, besides its issuer. */
export type RegistrationRecord = Readonly<Pick<ClusterRegistrationModel, 'subject' | 'uid' | 'version'>>;

/** Undefined for a cluster that is not registered. Lock its issuer before. */
export async function findRegistration(tx: Transaction, cluster: string): Promise<RegistrationRecord | undefined> {
  return tx.row<RegistrationRecord>`SELECT subject, uid, version FROM cluster_registration WHERE cluster = ${cluster}`;
}

/** Registers a cluster, or changes its registration. Set its issuer before. */
export async function putRegistration(
  tx: Transaction,
  {
    cluster,
    issuerId,
    subject,
    uid,
  }: Readonly<Pick<ClusterRegistrationModel, 'cluster' | 'issuerId' | 'subject' | 'uid'>>,
): Promise<void> {
  await tx.run`
    INSERT INTO cluster_registration (cluster, issuer_id, subject, uid)
    VALUES (${cluster}, ${issuerId}::uuid, ${subject}, ${uid})
    ON CONFLICT (cluster) DO UPDATE SET issuer_id = excluded.issuer_id, subject = excluded.subject, uid = excluded.uid,
      version = cluster_registration.version + 1, changed_at = clock_timestamp()`;
  // It is registered, so it is no home cluster, and known again if it was forgotten.
  await tx.run`
    UPDATE served_cluster SET is_home = false, forgotten_at = NULL,
      disabled_at = CASE WHEN forgotten_at IS NULL THEN disabled_at END
    WHERE name = ${cluster}`;
}

/**
 * The uid that a registered cluster has. The first controller that leads gives it. Undefined for a cluster that is not
 * registered, null for one whose controller has not led.
 */
export async function fixUid(
  pool: pg.Pool,
  cluster: string,
  { uid, isLeading }: { readonly uid: string; readonly isLeading: boolean },
): Promise<string | null | undefined> {
  const [found] = await queryRows<Pick<ClusterRegistrationModel, 'uid'>>(
    pool,
    sql`SELECT uid FROM cluster_registration WHERE cluster = ${cluster}`,
  );
  if (found === undefined || found.uid !== null || !isLeading) return found?.uid;
  const [fixed] = await queryRows<Pick<ClusterRegistrationModel, 'uid'>>(
    pool,
    sql`
      UPDATE cluster_registration SET uid = coalesce(uid, ${uid}) WHERE cluster = ${cluster} RETURNING uid`,
  );
  return fixed?.uid;
}
