import type pg from 'pg';
import type { CredentialFault } from '../domain/credential-faults.ts';
import type { FederationFault } from '../domain/jwt-faults.ts';
import type { ServiceTokenPrincipal } from '../domain/principal.ts';
import type { IssuerAlgorithm, KeyFetchFault } from '../domain/trusted-issuers.ts';
import {
  federatedFault,
  federatedTables,
  serviceTokenColumns,
  serviceTokenPrincipal,
  type ServiceTokenRow,
} from './credentials.ts';
import { queryRows, type Statement } from './database.ts';
import type { ServiceTokenFederationModel, TrustedIssuerModel } from './generated/models.ts';
import { raw, sql } from './sql.ts';

/** The issuer that a federation names, with the age of its keys. */
export interface FederationIssuer extends Readonly<
  Pick<TrustedIssuerModel, 'id' | 'generation' | 'iss' | 'maxAgeSeconds'>
> {
  readonly algorithms: readonly IssuerAlgorithm[];
  /** Another text for other keys. */
  readonly keysVersion: string;
  /** Undefined for keys that are given by value. */
  readonly fetched: KeyFetches | undefined;
}

/** When keys were fetched from a URL, by the database's clock. */
export interface KeyFetches {
  /** How old the keys are; null before the first fetch. */
  readonly ageSeconds: number | null;
  /** Since a server last took the right to fetch them; null for never. */
  readonly triedSecondsAgo: number | null;
  /** Why the last fetch failed, and when; null if it did not. */
  readonly fetchFault: KeyFetchFault | null;
  readonly fetchFailedAt: TrustedIssuerModel['fetchFailedAt'];
}

/** A federated service token, which a JWT with its audience can prove. */
export interface FoundFederation {
  readonly principal: ServiceTokenPrincipal;
  /** Judged by the database's clock. */
  readonly fault: CredentialFault | FederationFault | null;
  /** Whether its time of use was last noted more than a minute ago, or never. */
  readonly useDue: boolean;
  readonly issuer: FederationIssuer;
  /** The values that a JWT may have for each claim. */
  readonly claims: Readonly<Record<string, readonly string[]>>;
  readonly now: Date;
}

/** The columns of an issuer. */
export type IssuerRow = Readonly<Pick<TrustedIssuerModel, 'generation' | 'iss' | 'maxAgeSeconds'>> & {
  readonly issuerId: TrustedIssuerModel['id'];
  readonly algorithms: readonly IssuerAlgorithm[];
  readonly keysVersion: string;
  readonly hasUrl: boolean;
} & KeyFetches;

type FederationRow = Omit<ServiceTokenRow, 'fault' | 'tokenHash'> &
  Pick<FoundFederation, 'fault' | 'claims' | 'now'> &
  Readonly<Pick<ServiceTokenFederationModel, 'audience'>> &
  IssuerRow;

// After a recovery of the database its numbers may repeat, so the version is a number and times.
const keysVersion = `concat_ws('/', i.keys_version, extract(epoch FROM i.changed_at), extract(epoch FROM i.fetched_at))`;
const fetchColumns = `extract(epoch FROM clock_timestamp() - i.fetched_at)::float8 AS "ageSeconds",
    extract(epoch FROM clock_timestamp() - i.fetch_tried_at)::float8 AS "triedSecondsAgo",
    i.fetch_fault AS "fetchFault", i.fetch_failed_at AS "fetchFailedAt"`;
/** SQL: the columns of the issuer i. */
export const issuerColumns = `i.id AS "issuerId", i.generation, i.iss, i.algorithms, i.max_age_seconds AS "maxAgeSeconds",
      ${keysVersion} AS "keysVersion", i.jwks_url IS NOT NULL AS "hasUrl", ${fetchColumns}`;

// By the unique index of the audiences of federations that have not ended.
const findStatement: Statement = {
  name: 'federations-find',
  text: `SELECT ${serviceTokenColumns(federatedFault)}, f.audience, f.claims, ${issuerColumns},
      clock_timestamp() AS now
    FROM ${federatedTables} WHERE f.audience = ANY($1::text[]) AND f.ended_at IS NULL`,
};

/** Finds the federations with these audiences with one statement; in their order, undefined for what does not exist. */
export async function findFederations(
  pool: pg.Pool,
  audiences: readonly string[],
): Promise<(FoundFederation | undefined)[]> {
  const rows = await queryRows<FederationRow>(pool, findStatement, [audiences]);
  const byAudience = new Map(rows.map((row) => [row.audience, row]));
  return audiences.map((audience) => {
    const row = byAudience.get(audience);
    return row && foundFederation(row);
  });
}

/** The name of the issuer whose JWTs prove a credential; undefined for a credential with a value. */
export async function findIssuerName(pool: pg.Pool, credentialId: string): Promise<string | undefined> {
  const [row] = await queryRows<Pick<ServiceTokenFederationModel, 'issuerName'>>(
    pool,
    sql`SELECT f.issuer_name AS "issuerName" FROM service_token_federation f WHERE f.credential_id = ${credentialId}`,
  );
  return row?.issuerName;
}

/** The keys of one version of an issuer. */
export interface IssuerKeysRow extends KeyFetches {
  readonly version: string;
  readonly triedAt: TrustedIssuerModel['fetchTriedAt'];
  /** A JSON Web Key Set; null before the first fetch. */
  readonly keys: unknown;
}

/**
 * The present keys of an issuer; undefined for one that was deleted, or that an admin changed after this generation: whether
 * a token accepts that was not judged.
 */
export async function readIssuerKeys(
  pool: pg.Pool,
  { id, generation }: Pick<FederationIssuer, 'id' | 'generation'>,
): Promise<IssuerKeysRow | undefined> {
  const [row] = await queryRows<IssuerKeysRow>(
    pool,
    sql`SELECT ${raw(keysVersion)} AS version, i.keys, i.fetch_tried_at AS "triedAt", ${raw(fetchColumns)}
      FROM trusted_issuer i
      WHERE i.id = ${id} AND i.generation = ${generation}::int`,
  );
  return row;
}

/** The right of one server to fetch the keys of an issuer now. */
export interface KeyFetch {
  readonly url: string;
  /** Authorities of its server in PEM; null for the public ones. */
  readonly ca: TrustedIssuerModel['ca'];
  readonly generation: TrustedIssuerModel['generation'];
  readonly triedAt: Date;
}

/** Takes the right to fetch the keys of an issuer; undefined if a server took it within the last minute. */
export async function takeKeyFetch(pool: pg.Pool, issuerId: string): Promise<KeyFetch | undefined> {
  // Also after a fetch that failed.
  const [taken] = await queryRows<KeyFetch>(
    pool,
    sql`UPDATE trusted_issuer i SET fetch_tried_at = clock_timestamp()
      WHERE i.id = ${issuerId} AND i.jwks_url IS NOT NULL AND i.disabled_at IS NULL
        AND (i.fetch_tried_at IS NULL OR i.fetch_tried_at <= clock_timestamp() - interval '1 minute')
      RETURNING i.jwks_url AS url, i.ca, i.generation, i.fetch_tried_at AS "triedAt"`,
  );
  return taken;
}

/** Stores the keys that were fetched, unless an admin changed the issuer meanwhile. */
export async function storeFetchedKeys(
  pool: pg.Pool,
  issuerId: string,
  { url, generation }: KeyFetch,
  keys: readonly object[],
): Promise<void> {
  const fetched = JSON.stringify({ keys });
  // The keys are as old as the beginning of their fetch.
  await queryRows(
    pool,
    sql`UPDATE trusted_issuer i SET fetched_at = fetch_tried_at, fetch_fault = NULL, fetch_failed_at = NULL, keys = ${fetched}::jsonb,
        keys_version = keys_version + CASE WHEN keys IS DISTINCT FROM ${fetched}::jsonb THEN 1 ELSE 0 END
      WHERE i.id = ${issuerId} AND i.jwks_url = ${url} AND i.generation = ${generation}::int`,
  );
}

/** Notes why a fetch failed, unless an admin changed the issuer meanwhile. */
export async function storeFetchFault(
  pool: pg.Pool,
  issuerId: string,
  { url, triedAt }: KeyFetch,
  fault: KeyFetchFault,
): Promise<void> {
  await queryRows(
    pool,
    sql`UPDATE trusted_issuer i SET fetch_fault = ${fault}, fetch_failed_at = clock_timestamp()
      WHERE i.id = ${issuerId} AND i.jwks_url = ${url} AND i.fetch_tried_at = ${triedAt}`,
  );
}

function foundFederation(row: FederationRow): FoundFederation {
  const { fault, useDue, claims, now } = row;
  return { principal: serviceTokenPrincipal(row), fault, useDue, issuer: issuerOf(row), claims, now };
}

/** The issuer of a row with `issuerColumns`. */
export function issuerOf(row: IssuerRow): FederationIssuer {
  const { issuerId: id, generation, iss, algorithms, maxAgeSeconds, keysVersion: version, hasUrl } = row;
  const { ageSeconds, triedSecondsAgo, fetchFault, fetchFailedAt } = row;
  const fetched = hasUrl ? { ageSeconds, triedSecondsAgo, fetchFault, fetchFailedAt } : undefined;
  return { id, generation, iss, algorithms, maxAgeSeconds, keysVersion: version, fetched };
}
