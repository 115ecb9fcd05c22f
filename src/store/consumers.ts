import type pg from 'pg';
import type { WorkloadState } from '../domain/fleet.ts';
import type { Health, RolloutState, SyncState } from '../domain/sync-health.ts';
import { queryRows, type Statement } from './database.ts';
import type { ClusterStateModel, EnvironmentModel, ProjectModel, SyncStateModel } from './generated/models.ts';
import { seesEnvironment } from './standing.ts';

/** The SecretSyncs that read environments, as their controllers reported them (`store/sync-states.ts`). */

/** A cluster, and whether what it reported is up to date. */
export interface SeenCluster {
  readonly cluster: ClusterStateModel['cluster'];
  /** When the cluster had last reported everything; null if it never did. */
  readonly clusterSeenAt: ClusterStateModel['seenAt'] | null;
  /** Whether the cluster was last seen more than 3 minutes ago. */
  readonly isStale: boolean;
}

/** A source of a SecretSync that reads an environment. */
export interface ConsumerRecord
  extends
    SeenCluster,
    Readonly<
      Pick<
        SyncStateModel,
        | 'environmentId'
        | 'uid'
        | 'namespace'
        | 'name'
        | 'source'
        | 'isPinned'
        | 'reason'
        | 'wantedRevisionId'
        | 'syncedRevisionId'
        | 'syncedAt'
        | 'secretName'
        | 'rolloutReason'
        | 'convergedRevisionId'
        | 'changedAt'
      >
    > {
  /** Slugs. */
  readonly project: ProjectModel['slug'];
  readonly environment: EnvironmentModel['slug'];
  /** Whether the environment, or its project, is deleted. */
  readonly isEnvironmentDeleted: boolean;
  /** The newest revision of the environment. */
  readonly environmentRevision: EnvironmentModel['revisionNumber'];
  readonly environmentRevisionId: EnvironmentModel['revisionId'];
  readonly health: Health;
  readonly state: SyncState;
  /** These are also null if the environment does not know the id beside them. */
  readonly wantedRevision: SyncStateModel['wantedRevision'] | null;
  readonly syncedRevision: SyncStateModel['syncedRevision'] | null;
  readonly convergedRevision: SyncStateModel['convergedRevision'] | null;
  /** Null without spec.rollout. */
  readonly rolloutState: RolloutState | null;
  readonly workloads: readonly WorkloadState[] | null;
}

/** The environments of an organization that a caller sees. */
export interface SeenPlace {
  readonly organizationId: string;
  /** Null for all. */
  readonly projectId: string | null;
  readonly environmentId: string | null;
  readonly includesDeleted: boolean;
  /** The user who sees only environments in which they have a role by a role binding; null for all. */
  readonly visibleTo: string | null;
}

/** The environments whose consumers are listed. */
export type ConsumedPlace = { readonly environmentId: string } | SeenPlace;

/** Null stands for any. */
export interface ConsumerFilter {
  readonly cluster: string | null;
  readonly health: Health | null;
  readonly reason: string | null;
}

/** Where a page begins: after this consumer. */
export type ConsumerPosition = Pick<ConsumerRecord, 'cluster' | 'name' | 'uid' | 'source'>;

export interface ConsumerPage extends ConsumerFilter {
  readonly after: ConsumerPosition | null;
  readonly limit: number;
}

const staleAfter = '3 minutes';

/** The columns of a `SeenCluster`, besides its name; `c` is the row of the cluster. */
export const clusterFacts = `c.seen_at AS "clusterSeenAt",
      coalesce(c.seen_at < clock_timestamp() - interval '${staleAfter}', true) AS "isStale"`;

/** The condition of a `SeenPlace`, whose values begin at a parameter; `p` is a project and `e` an environment. */
export function placeText(first: number): string {
  const [organization, project, environment, deleted, user] = [0, 1, 2, 3, 4].map((index) => `$${first + index}`);
  return `p.organization_id = ${organization} AND (${project}::uuid IS NULL OR p.id = ${project})
      AND (${environment}::uuid IS NULL OR e.id = ${environment})
      AND (${deleted} OR (e.deleted_at IS NULL AND p.deleted_at IS NULL))
      AND (${user}::uuid IS NULL OR ${seesEnvironment(user ?? '')})`;
}

/** The values for `placeText`. */
export function placeValues(place: SeenPlace): readonly unknown[] {
  const { organizationId, projectId, environmentId, includesDeleted, visibleTo } = place;
  return [organizationId, projectId, environmentId, includesDeleted, visibleTo];
}

// A number that the environment does not know under its id is of a history that a recovery of the database took back.
const known = (name: string): string => `CASE WHEN s.${name}_revision = 0 OR EXISTS (
        SELECT FROM environment_revision r WHERE r.id = s.${name}_revision_id AND r.environment_id = s.environment_id
      ) THEN s.${name}_revision END AS "${name}Revision", s.${name}_revision_id AS "${name}RevisionId"`;

const health = `CASE WHEN s.state = 'suspended' THEN 'suspended'
        WHEN s.state = 'stalled' OR s.rollout_state = 'stalled' THEN 'stalled'
        WHEN s.state = 'ready' AND coalesce(s.rollout_state, 'converged') = 'converged' THEN 'healthy'
        ELSE 'progressing' END`;

const order = 's.cluster COLLATE "C", s.name COLLATE "C", s.uid, s.source COLLATE "C"';

// Without the namespace in the order, because cursors must not reveal it.
function listStatement(name: string, place: string): Statement {
  return {
    name,
    text: `SELECT s.environment_id AS "environmentId", p.slug AS project, e.slug AS environment,
      e.deleted_at IS NOT NULL OR p.deleted_at IS NOT NULL AS "isEnvironmentDeleted",
      e.revision_number AS "environmentRevision", e.revision_id AS "environmentRevisionId", s.cluster,
      ${clusterFacts},
      s.uid, s.namespace, s.name, s.source, s.is_pinned AS "isPinned", ${health} AS health, s.state, s.reason,
      ${known('wanted')}, ${known('synced')}, s.synced_at AS "syncedAt", s.secret_name AS "secretName",
      s.rollout_state AS "rolloutState", s.rollout_reason AS "rolloutReason", ${known('converged')}, s.workloads,
      s.changed_at AS "changedAt"
    FROM sync_state s
    JOIN environment e ON e.id = s.environment_id
    JOIN project p ON p.id = e.project_id
    JOIN organization o ON o.id = p.organization_id
    LEFT JOIN cluster_state c ON c.cluster = s.cluster
    WHERE ($2::text IS NULL OR s.cluster = $2) AND ($3::text IS NULL OR ${health} = $3)
      AND ($4::text IS NULL OR s.reason = $4)
      AND ($5::text IS NULL OR (${order}) > ($5, $6::text, $7::uuid, $8::text))
      AND ${place}
    ORDER BY ${order} LIMIT $1`,
  };
}

const ofEnvironment = listStatement('consumers-of-environment', 's.environment_id = $9');

const ofOrganization = listStatement('consumers-of-organization', placeText(9));

/** A page of the consumers of one environment, or of an organization's, by cluster, name, uid and source. */
export async function listConsumers(
  pool: pg.Pool,
  place: ConsumedPlace,
  { cluster, health: wanted, reason, after, limit }: ConsumerPage,
): Promise<ConsumerRecord[]> {
  const position = [after?.cluster ?? null, after?.name ?? null, after?.uid ?? null, after?.source ?? null];
  const values = [limit, cluster, wanted, reason, ...position];
  if (!('organizationId' in place)) return queryRows(pool, ofEnvironment, [...values, place.environmentId]);
  return queryRows(pool, ofOrganization, [...values, ...placeValues(place)]);
}
