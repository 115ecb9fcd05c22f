import type pg from 'pg';
import type { GrantPlace } from '../domain/grants.ts';
import { serviceTokenFault, serviceTokenTables } from './credentials.ts';
import { queryRows, type Statement } from './database.ts';
import type { ResourceClaimModel, ServiceTokenModel } from './generated/models.ts';

/** A custom resource's token that works, with the resource as the database knows it. */
export interface LiveTokenRecord
  extends
    GrantPlace,
    Readonly<Pick<ResourceClaimModel, 'uid' | 'name'>>,
    Readonly<Pick<ServiceTokenModel, 'permission'>> {
  readonly namespace: NonNullable<ResourceClaimModel['namespace']>;
}

export interface LiveTokensWanted {
  readonly cluster: string;
  /** The uid that the page begins after; null begins with the first. */
  readonly after: string | null;
  /** If set, only the tokens of these namespaces, however new they are. */
  readonly namespaces: readonly string[] | null;
  readonly limit: number;
}

const listStatement: Statement = {
  name: 'live-tokens-list',
  text: `SELECT DISTINCT r.uid, r.name, r.namespace, t.permission, o.slug AS organization, p.slug AS project,
      e.slug AS environment
    FROM ${serviceTokenTables}
    JOIN resource_claim r ON r.service_token_id = t.id AND r.operation = 'token' AND r.serial = 1
    WHERE r.cluster = $1 AND ($2::uuid IS NULL OR r.uid > $2) AND r.kind = 'ServiceToken' AND r.namespace IS NOT NULL
      AND (($3::text[] IS NULL AND t.created_at < clock_timestamp() - interval '5 minutes') OR r.namespace = ANY ($3::text[]))
      AND ${serviceTokenFault} IS NULL
    ORDER BY r.uid LIMIT $4`,
};

/**
 * The tokens of a cluster's ServiceTokens that work, by the resource's uid. Without `namespaces`, only those that were
 * created more than 5 minutes ago.
 */
export async function listLiveTokens(
  pool: pg.Pool,
  { cluster, after, namespaces, limit }: LiveTokensWanted,
): Promise<readonly LiveTokenRecord[]> {
  return queryRows<LiveTokenRecord>(pool, listStatement, [cluster, after, namespaces, limit]);
}
