import type pg from 'pg';
import type { ClusterState } from '../domain/cluster-ceiling.ts';
import type { PortProgram } from '../domain/clusters.ts';
import type { IssuerAlgorithm } from '../domain/trusted-issuers.ts';
import { clusterState } from './cluster-ceilings.ts';
import { everyCluster, lockCluster } from './cluster-rules.ts';
import { queryRows } from './database.ts';
import type {
  ClusterModel,
  ClusterRegistrationModel,
  InstanceModel,
  OrganizationModel,
  ServedClusterModel,
  ServiceTokenModel,
  SyncStateModel,
  TrustedIssuerModel,
} from './generated/models.ts';
import { empty, raw, type Sql, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** A cluster as instance admins see it. */
export interface ServedClusterRecord extends Readonly<Pick<ServedClusterModel, 'name' | 'isHome' | 'disabledAt'>> {
  readonly state: ClusterState;
  /** Of its namespace kube-system; null before a controller of it has led. */
  readonly uid: ClusterModel['uid'] | null;
  /** When a controller of it last said that it leads; null if none did under this name. */
  readonly seenAt: Date | null;
  /** What the leading controller said of itself; null if it said nothing, as one of release 0.9. */
  readonly controller: ClusterController | null;
  /** Who signs the tokens of its ServiceAccounts, as its controller last said; null if it never did. */
  readonly issuer: { readonly iss: string; readonly keyCount: number } | null;
  /** How its controller proves over HTTPS that it is of this cluster; null for a home cluster. */
  readonly registration: RegisteredCluster | null;
}

/** What instance admins set of a remote cluster. */
export interface RegisteredCluster
  extends
    Readonly<Pick<ClusterRegistrationModel, 'subject' | 'uid' | 'version'>>,
    Readonly<Pick<TrustedIssuerModel, 'jwksUrl' | 'generation'>> {
  readonly algorithms: readonly IssuerAlgorithm[];
  /** The id of the installation, which is in the audience of its tokens. */
  readonly instance: InstanceModel['id'];
  /** When its keys were last fetched, as text of ISO 8601; null before the first fetch, and without a URL. */
  readonly fetchedAt: string | null;
}

/** The leading controller of a cluster. */
export interface ClusterController extends PortProgram {
  /** That it reconciles. */
  readonly kinds: readonly string[];
}

const registrationColumn = `CASE WHEN cg.cluster IS NOT NULL THEN json_build_object('subject', cg.subject, 'uid', cg.uid,
        'version', cg.version, 'jwksUrl', ti.jwks_url, 'generation', ti.generation, 'algorithms', ti.algorithms,
        'instance', (SELECT id FROM instance), 'fetchedAt', to_char(ti.fetched_at AT TIME ZONE 'UTC',
          'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) END AS registration`;
// An older server renews seen_at and leaves hello_at: what the row says is then of a controller that led before.
const controllerColumn = `CASE WHEN c.hello_at = c.seen_at THEN json_build_object('release', c.release,
        'protocol', json_build_object('min', c.protocol_min, 'max', c.protocol_max), 'kinds', c.kinds) END AS controller`;

function recordsOf(cluster: string | null): Sql {
  return sql`
    SELECT known.name, coalesce(sc.is_home, true) AS "isHome", sc.disabled_at AS "disabledAt",
      ${raw(clusterState)} AS state, c.uid, greatest(c.seen_at, reported.seen_at) AS "seenAt",
      ${raw(controllerColumn)},
      CASE WHEN ti.id IS NOT NULL THEN
        json_build_object('iss', ti.iss, 'keyCount', coalesce(jsonb_array_length(ti.keys->'keys'), 0)) END AS issuer,
      ${raw(registrationColumn)}
    FROM (${raw(everyCluster)}) known
    LEFT JOIN served_cluster sc ON sc.name = known.name
    LEFT JOIN cluster c ON c.name = known.name
    LEFT JOIN cluster_state reported ON reported.cluster = known.name
    LEFT JOIN trusted_issuer ti ON ti.cluster = known.name
    LEFT JOIN cluster_registration cg ON cg.cluster = known.name
    ${cluster === null ? empty : sql`WHERE known.name = ${cluster}`}
    ORDER BY known.name COLLATE "C"`;
}

/** All clusters by name, forgotten ones too. */
export async function listServedClusters(pool: pg.Pool): Promise<ServedClusterRecord[]> {
  return queryRows<ServedClusterRecord>(pool, recordsOf(null));
}

/** One of them, outside a transaction; undefined for a cluster that is not known. */
export async function findServedCluster(pool: pg.Pool, cluster: string): Promise<ServedClusterRecord | undefined> {
  const [found] = await queryRows<ServedClusterRecord>(pool, recordsOf(cluster));
  return found;
}

/**
 * Locks a cluster, so that no change for it ends before the transaction, and reads it under the lock; undefined for a
 * cluster that is not known.
 */
export async function lockServedCluster(tx: Transaction, cluster: string): Promise<ServedClusterRecord | undefined> {
  if ((await readServedCluster(tx, cluster)) === undefined) return undefined;
  await lockCluster(tx, cluster);
  return readServedCluster(tx, cluster);
}

/** A cluster inside a transaction. */
export async function readServedCluster(tx: Transaction, cluster: string): Promise<ServedClusterRecord | undefined> {
  return tx.row<ServedClusterRecord>`${recordsOf(cluster)}`;
}

/** Sets the state of a cluster. Lock it before. */
export async function setClusterState(tx: Transaction, cluster: string, state: ClusterState): Promise<void> {
  await tx.run`
    UPDATE served_cluster SET
      disabled_at = CASE WHEN ${state} = 'enabled' THEN NULL ELSE coalesce(disabled_at, clock_timestamp()) END,
      forgotten_at = CASE WHEN ${state} = 'forgotten' THEN coalesce(forgotten_at, clock_timestamp()) END
    WHERE name = ${cluster}`;
}

/**
 * Lets the JWTs of a cluster prove something again, after a restore from a backup. Keys from a URL are fetched again: those of
 * the backup may have been withdrawn since.
 */
export async function enableClusterIssuer(tx: Transaction, cluster: string): Promise<void> {
  await tx.run`
    UPDATE trusted_issuer SET disabled_at = NULL, version = version + 1, changed_at = clock_timestamp(),
      keys = CASE WHEN jwks_url IS NULL THEN keys END, keys_version = keys_version + 1, fetched_at = NULL,
      fetch_tried_at = NULL
    WHERE cluster = ${cluster} AND disabled_at IS NOT NULL`;
}

/** What a cluster has in Keyframe, and what stays behind in it. */
export interface ClusterBelongings {
  /** The first of them, by name. */
  readonly secrets: readonly HeldSecret[];
  readonly secretCount: number;
  readonly tokens: readonly ClusterOwnedToken[];
  readonly tokenCount: number;
}

/** A Secret of a cluster. */
export interface HeldSecret {
  readonly namespace: SyncStateModel['namespace'];
  readonly name: SyncStateModel['secretName'];
}

/** A token of a cluster that is not revoked. */
export interface ClusterOwnedToken extends Readonly<Pick<ServiceTokenModel, 'id' | 'name'>> {
  readonly organization: OrganizationModel['slug'];
}

type SecretRow = Readonly<Pick<SyncStateModel, 'namespace' | 'secretName'>> & { readonly total: number };
type TokenRow = ClusterOwnedToken & { readonly total: number };

/** The Secrets that SecretSyncs of a cluster last reported, and its tokens that are not revoked: at most `limit` of each. */
export async function findBelongings(pool: pg.Pool, cluster: string, limit: number): Promise<ClusterBelongings> {
  const secrets = await queryRows<SecretRow>(
    pool,
    sql`
      SELECT namespace, secret_name AS "secretName", (count(*) OVER ())::int AS total
      FROM (SELECT DISTINCT namespace, secret_name FROM sync_state WHERE cluster = ${cluster}) held
      ORDER BY namespace COLLATE "C", secret_name COLLATE "C" LIMIT ${limit}`,
  );
  const tokens = await queryRows<TokenRow>(
    pool,
    sql`
      SELECT t.id, t.name, o.slug AS organization, (count(*) OVER ())::int AS total
      FROM service_token t JOIN organization o ON o.id = t.organization_id
      WHERE t.revoked_at IS NULL AND (t.cluster = ${cluster} OR t.id IN (
        SELECT service_token_id FROM resource_claim
        WHERE cluster = ${cluster} AND operation = 'token' AND serial = 1))
      ORDER BY o.slug COLLATE "C", t.name COLLATE "C", t.id LIMIT ${limit}`,
  );
  return {
    secrets: secrets.map(({ namespace, secretName }) => ({ namespace, name: secretName })),
    secretCount: secrets[0]?.total ?? 0,
    tokens: tokens.map(({ id, name, organization }) => ({ id, name, organization })),
    tokenCount: tokens[0]?.total ?? 0,
  };
}

/** Drops what a cluster reported of itself, at most `limit` SecretSyncs at once; returns whether more is left. */
export async function dropReports(tx: Transaction, cluster: string, limit: number): Promise<boolean> {
  const dropped = await tx.run`
    DELETE FROM sync_state WHERE cluster = ${cluster} AND (uid, source) IN (
      SELECT uid, source FROM sync_state WHERE cluster = ${cluster} ORDER BY uid, source LIMIT ${limit})`;
  if (dropped === limit) return true;
  await tx.run`DELETE FROM waiting_restore WHERE cluster = ${cluster}`;
  await tx.run`DELETE FROM cluster_state WHERE cluster = ${cluster}`;
  await tx.run`DELETE FROM trusted_issuer WHERE cluster = ${cluster}`;
  await tx.run`DELETE FROM cluster WHERE name = ${cluster}`;
  return false;
}
