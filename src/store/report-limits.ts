import { type Sql, sql } from './sql.ts';

/** Limits of what a cluster reports of its SecretSyncs, as a part of the statement that stores it (`sync-states.ts`). */

/** Which limit a source of a SecretSync exceeds. */
export type ReportLimit = 'sources' | 'namespaces';

/** A source that was not stored. */
export interface ExceedingReport {
  readonly uid: string;
  readonly limit: ReportLimit;
}

/** What a cluster may have: sources in an organization, and namespaces for an environment. */
export interface ReportLimits {
  readonly sources: number;
  readonly namespaces: number;
}

/**
 * The parts of the statement that count, from `added` to `exceeding`, which has what must not be stored. They read `asked`,
 * `places` and `dropped` of the statement. What the cluster has is counted only if a row takes a new place, and rows are
 * ranked only if they do not fit all together. A row that moves counts where it was, until it is stored.
 */
export function countedParts(cluster: string, limits: ReportLimits): Sql {
  return sql`
    added AS MATERIALIZED (
      SELECT a.uid, a.source, a.namespace, a.environment_id, to_place.organization_id,
        to_place.organization_id IS DISTINCT FROM from_place.organization_id AS is_new_source
      FROM asked a JOIN places to_place ON to_place.environment_id = a.environment_id AND to_place.is_allowed
      LEFT JOIN places from_place ON from_place.environment_id = (a.present).environment_id
      WHERE (a.present).uid IS NULL
        OR ((a.present).environment_id, (a.present).namespace) <> (a.environment_id, a.namespace)
    ), used AS MATERIALIZED (
      SELECT p.organization_id, e.id AS environment_id, s.namespace, s.sources
      FROM (SELECT DISTINCT organization_id FROM added) o
      JOIN project p ON p.organization_id = o.organization_id JOIN environment e ON e.project_id = p.id
      CROSS JOIN LATERAL (
        SELECT namespace, count(*) AS sources FROM sync_state s
        WHERE s.cluster = ${cluster} AND s.environment_id = e.id AND (uid, source) NOT IN (SELECT uid, source FROM dropped)
        GROUP BY namespace OFFSET 0
      ) s
    ), full_organizations AS MATERIALIZED (
      SELECT organization_id, coalesce(u.sources, 0) AS sources
      FROM (SELECT organization_id, count(*) AS sources FROM added WHERE is_new_source GROUP BY organization_id) a
      LEFT JOIN (SELECT organization_id, sum(sources) AS sources FROM used GROUP BY organization_id) u
        USING (organization_id)
      WHERE coalesce(u.sources, 0) + a.sources > ${limits.sources}::int
    ), full_environments AS MATERIALIZED (
      SELECT environment_id, count(*) FILTER (WHERE is_used) AS namespaces
      FROM (
        SELECT environment_id, namespace, bool_or(is_used) AS is_used FROM (
          SELECT DISTINCT environment_id, namespace, false AS is_used FROM added
          UNION ALL SELECT environment_id, namespace, true FROM used
        ) both_of GROUP BY environment_id, namespace
      ) a GROUP BY environment_id HAVING count(*) > ${limits.namespaces}::int
    ), exceeding AS MATERIALIZED (
      SELECT uid, source, 'sources' AS "limit" FROM (
        SELECT a.uid, a.source,
          o.sources + row_number() OVER (PARTITION BY organization_id ORDER BY a.uid, a.source) AS sources
        FROM added a JOIN full_organizations o USING (organization_id) WHERE a.is_new_source
      ) a WHERE sources > ${limits.sources}::int
      UNION ALL
      SELECT uid, source, 'namespaces' FROM (
        SELECT a.uid, a.source,
          e.namespaces + dense_rank() OVER (PARTITION BY environment_id ORDER BY namespace) AS namespaces
        FROM added a JOIN full_environments e USING (environment_id) LEFT JOIN used u USING (environment_id, namespace)
        WHERE u.namespace IS NULL
      ) a WHERE namespaces > ${limits.namespaces}::int
    )`;
}
