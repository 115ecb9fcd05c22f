import type pg from 'pg';
import type { IssuerPreset } from '../domain/issuer-presets.ts';
import type { IssuerAlgorithm, KeyFetchFault } from '../domain/trusted-issuers.ts';
import { queryRows } from './database.ts';
import type { ServiceTokenModel, ServiceTokenCredentialModel, TrustedIssuerModel } from './generated/models.ts';
import { empty, raw, type Sql, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** What an instance admin sets of a trusted issuer. `keys` is a JWK Set of public keys, or null with a URL. */
export type TrustedIssuerContent = Readonly<Pick<TrustedIssuerModel, 'iss' | 'jwksUrl' | 'ca' | 'maxAgeSeconds'>> & {
  readonly preset: IssuerPreset;
  readonly algorithms: readonly IssuerAlgorithm[];
  readonly keys: { readonly keys: readonly StoredKey[] } | null;
};

/** A public JSON Web Key. */
type StoredKey = Readonly<Record<string, string>>;

/** A trusted issuer as instance admins see it. */
export interface TrustedIssuerRecord
  extends
    TrustedIssuerContent,
    Readonly<
      Pick<
        TrustedIssuerModel,
        | 'id'
        | 'cluster'
        | 'generation'
        | 'version'
        | 'fetchedAt'
        | 'fetchFailedAt'
        | 'disabledAt'
        | 'createdAt'
        | 'changedAt'
      >
    > {
  /** Why the last fetch of its keys failed; null if it did not. */
  readonly fetchFault: KeyFetchFault | null;
  /** Its name, or that of the cluster that reports it. */
  readonly name: string;
  /** The service tokens that its JWTs prove and that are not revoked, and their organizations. */
  readonly tokens: number;
  readonly organizations: number;
}

/** A trusted issuer as organizations see it. */
export interface NamedIssuerRecord
  extends
    Pick<TrustedIssuerContent, 'preset'>,
    Readonly<Pick<TrustedIssuerModel, 'iss' | 'generation' | 'disabledAt'>> {
  readonly name: string;
}

// A server of an earlier release revokes a token without ending its federation.
const liveFederations = `FROM service_token_federation f
      JOIN service_token_credential c ON c.id = f.credential_id AND c.revoked_at IS NULL
      JOIN service_token t ON t.id = c.service_token_id AND t.revoked_at IS NULL`;

function recordsOf(name: string | null): Sql {
  return sql`
    SELECT i.id, coalesce(i.name, i.cluster) AS name, i.cluster, i.preset, i.iss, i.jwks_url AS "jwksUrl", i.keys,
      i.algorithms, i.ca, i.max_age_seconds AS "maxAgeSeconds", i.generation, i.version, i.fetched_at AS "fetchedAt",
      i.fetch_fault AS "fetchFault", i.fetch_failed_at AS "fetchFailedAt",
      i.disabled_at AS "disabledAt", i.created_at AS "createdAt", i.changed_at AS "changedAt", live.tokens,
      live.organizations
    FROM trusted_issuer i
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS tokens, count(DISTINCT t.organization_id)::int AS organizations
      ${raw(liveFederations)} WHERE f.issuer_id = i.id AND f.ended_at IS NULL
    ) live
    ${name === null ? empty : sql`WHERE i.name = ${name} OR i.cluster = ${name}`}
    ORDER BY coalesce(i.name, i.cluster) COLLATE "C", i.name NULLS LAST`;
}

/** All issuers by name, also those that clusters report. */
export async function listTrustedIssuers(pool: pg.Pool): Promise<TrustedIssuerRecord[]> {
  return queryRows<TrustedIssuerRecord>(pool, recordsOf(null));
}

/** The issuer with a name, or else the one of the cluster with this name. */
export async function findTrustedIssuer(pool: pg.Pool, name: string): Promise<TrustedIssuerRecord | undefined> {
  const [found] = await queryRows<TrustedIssuerRecord>(pool, recordsOf(name));
  return found;
}

/** The issuers that organizations can name, by name. */
export async function listNamedIssuers(pool: pg.Pool): Promise<NamedIssuerRecord[]> {
  return queryRows<NamedIssuerRecord>(
    pool,
    sql`
      SELECT name, preset, iss, generation, disabled_at AS "disabledAt" FROM trusted_issuer
      WHERE name IS NOT NULL ORDER BY name COLLATE "C"`,
  );
}

/**
 * Locks the issuers that instance admins manage, against another change of them, and reads one under the lock. What
 * uses an issuer for a new token locks its row too.
 */
export async function lockTrustedIssuer(tx: Transaction, name: string): Promise<TrustedIssuerRecord | undefined> {
  await tx.run`SELECT FROM instance FOR NO KEY UPDATE`;
  await tx.run`SELECT FROM trusted_issuer WHERE name = ${name} OR cluster = ${name} ORDER BY id FOR UPDATE`;
  // By a separate statement: what was committed while the lock was waited for is seen now.
  return tx.row<TrustedIssuerRecord>`${recordsOf(name)}`;
}

/** How many issuers instance admins manage. */
export async function countNamedIssuers(tx: Transaction): Promise<number> {
  const row = await tx.row<{ count: number }>`
    SELECT count(*)::int AS count FROM trusted_issuer WHERE name IS NOT NULL`;
  if (row === undefined) throw new Error('an aggregate without GROUP BY returns one row');
  return row.count;
}

/** Adds an issuer that instance admins manage, or that of a cluster. Lock the issuers before. */
export async function insertTrustedIssuer(
  tx: Transaction,
  { id, name, cluster }: Readonly<Pick<TrustedIssuerModel, 'id' | 'name' | 'cluster'>>,
  content: TrustedIssuerContent,
): Promise<void> {
  const { preset, iss, jwksUrl, algorithms, ca, maxAgeSeconds } = content;
  await tx.run`
    INSERT INTO trusted_issuer (id, name, cluster, preset, iss, jwks_url, keys, algorithms, ca, max_age_seconds)
    VALUES (${id}::uuid, ${name}, ${cluster}, ${preset}, ${iss}, ${jwksUrl}, ${keysText(content)}::jsonb,
      ${[...algorithms]}::text[], ${ca}, ${maxAgeSeconds})`;
}

export interface TrustedIssuerChange {
  /** Whether other JWTs may prove its tokens from now on. */
  readonly isNewGeneration: boolean;
  /** Whether the keys that it had count no longer: there are others, or none before the next fetch. */
  readonly replacesKeys: boolean;
}

/** Sets what an issuer is, and enables it. Lock the issuers before. */
export async function updateTrustedIssuer(
  tx: Transaction,
  { id }: Readonly<Pick<TrustedIssuerRecord, 'id'>>,
  content: TrustedIssuerContent,
  { isNewGeneration, replacesKeys }: TrustedIssuerChange,
): Promise<void> {
  const { preset, iss, jwksUrl, algorithms, ca, maxAgeSeconds } = content;
  await tx.run`
    UPDATE trusted_issuer SET preset = ${preset}, iss = ${iss}, jwks_url = ${jwksUrl},
      algorithms = ${[...algorithms]}::text[], ca = ${ca}, max_age_seconds = ${maxAgeSeconds},
      generation = generation + ${isNewGeneration ? 1 : 0}, version = version + 1, disabled_at = NULL,
      changed_at = clock_timestamp()
    WHERE id = ${id}::uuid`;
  if (!replacesKeys) return;
  await tx.run`
    UPDATE trusted_issuer SET keys = ${keysText(content)}::jsonb, keys_version = keys_version + 1, fetched_at = NULL,
      fetch_tried_at = NULL, fetch_fault = NULL, fetch_failed_at = NULL
    WHERE id = ${id}::uuid`;
}

/** Lets an issuer prove nothing any more. Lock the issuers before. */
export async function disableTrustedIssuer(
  tx: Transaction,
  { id }: Readonly<Pick<TrustedIssuerRecord, 'id'>>,
): Promise<void> {
  await tx.run`
    UPDATE trusted_issuer SET disabled_at = coalesce(disabled_at, clock_timestamp()), version = version + 1,
      changed_at = clock_timestamp()
    WHERE id = ${id}::uuid`;
}

/** Removes an issuer. Its federations keep its name. Lock the issuers before. */
export async function deleteTrustedIssuer(
  tx: Transaction,
  { id }: Readonly<Pick<TrustedIssuerRecord, 'id'>>,
): Promise<void> {
  await tx.run`DELETE FROM trusted_issuer WHERE id = ${id}::uuid`;
}

/** A service token that an issuer proves. */
export interface IssuerToken extends Readonly<Pick<ServiceTokenModel, 'id' | 'name' | 'organizationId'>> {
  readonly credentialId: ServiceTokenCredentialModel['id'];
}

/** The tokens of an issuer that are not revoked, at most `limit` after a credential, by credential. */
export async function listIssuerTokens(
  tx: Transaction,
  issuerId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<IssuerToken[]> {
  return tx.rows<IssuerToken>`
    SELECT t.id, t.name, t.organization_id AS "organizationId", c.id AS "credentialId" ${raw(liveFederations)}
    WHERE f.issuer_id = ${issuerId}::uuid AND f.ended_at IS NULL
      ${after === null ? empty : sql`AND c.id > ${after}::uuid`}
    ORDER BY c.id LIMIT ${limit}`;
}

/** Frees the audiences of credentials for others. Their tokens are revoked before. */
export async function endFederations(tx: Transaction, credentialIds: readonly string[]): Promise<void> {
  await tx.run`
    UPDATE service_token_federation SET ended_at = clock_timestamp()
    WHERE credential_id = ANY(${[...credentialIds]}::uuid[]) AND ended_at IS NULL`;
}

/** An organization with tokens of an issuer. */
export interface ConcernedOrganization extends Readonly<Pick<ServiceTokenModel, 'organizationId'>> {
  readonly tokens: number;
}

/** The organizations whose tokens an issuer proves, by id. */
export async function listConcernedOrganizations(tx: Transaction, issuerId: string): Promise<ConcernedOrganization[]> {
  return tx.rows<ConcernedOrganization>`
    SELECT t.organization_id AS "organizationId", count(*)::int AS tokens ${raw(liveFederations)}
    WHERE f.issuer_id = ${issuerId}::uuid AND f.ended_at IS NULL
    GROUP BY t.organization_id ORDER BY t.organization_id`;
}

function keysText({ keys }: TrustedIssuerContent): string | null {
  return keys === null ? null : JSON.stringify(keys);
}
