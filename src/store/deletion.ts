import type { TargetIds } from './access.ts';
import { notifyChannel } from './notify.ts';
import { empty, raw, type Sql, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** Deleting organizations, projects and environments so that they can be reported and purged, or taken back, later. */

/** What a purge or an undeletion is asked for: slugs from the organization down to the level of the thing itself. */
export interface TenantSlugs {
  readonly organization: string;
  readonly project?: string;
  readonly environment?: string;
}

/** Which of a thing and of what lies above it is deleted. False for a level below the thing. */
export interface Deletions {
  readonly organizationDeleted: boolean;
  readonly projectDeleted: boolean;
  readonly environmentDeleted: boolean;
}

/** Something that exists, deleted or not. */
export interface Tenant extends TargetIds, Deletions {}

/** Looks up by slugs, deleted things too: a slug stays taken until the purge, so it names one thing. */
async function findTenant(tx: Transaction, slugs: TenantSlugs): Promise<Tenant | undefined> {
  const { organization, project, environment } = slugs;
  const projectPart = sql`JOIN project p ON p.organization_id = o.id AND p.slug = ${project}`;
  const environmentPart = sql`JOIN environment e ON e.project_id = p.id AND e.slug = ${environment}`;
  const columns = [
    'o.id AS "organizationId", o.deleted_at IS NOT NULL AS "organizationDeleted"',
    ...(project === undefined ? [] : ['p.id AS "projectId", p.deleted_at IS NOT NULL AS "projectDeleted"']),
    ...(environment === undefined ? [] : ['e.id AS "environmentId", e.deleted_at IS NOT NULL AS "environmentDeleted"']),
  ];
  const found = await tx.row<TargetIds & Partial<Deletions>>`
    SELECT ${raw(columns.join(', '))} FROM organization o
    ${project === undefined ? empty : projectPart}
    ${environment === undefined ? empty : environmentPart}
    WHERE o.slug = ${organization}`;
  if (found === undefined) return undefined;
  return { organizationDeleted: false, projectDeleted: false, environmentDeleted: false, ...found };
}

/**
 * Looks up by slugs, deleted things too, and locks as a deletion does. What it returns stays so until the end of the
 * transaction: a purge, a deletion and an undeletion of the same thing come one after the other. Undefined for what does
 * not exist, or was purged meanwhile.
 */
export async function holdTenant(tx: Transaction, slugs: TenantSlugs): Promise<Tenant | undefined> {
  const found = await findTenant(tx, slugs);
  if (found === undefined) return undefined;
  await lockForDeletion(tx, found);
  // Under the locks, by a separate statement: what was committed while they were waited for is seen now.
  const held = await findTenant(tx, slugs);
  const idOf = ({ organizationId, projectId, environmentId }: Tenant): string =>
    environmentId ?? projectId ?? organizationId;
  return held !== undefined && idOf(held) === idOf(found) ? held : undefined;
}

/**
 * Locks what a deletion is about. Each writer of secrets locks its environment first and what lies above it last, so
 * does this: a write under way beneath is committed before it, or finds everything gone.
 */
export async function lockForDeletion(tx: Transaction, target: TargetIds): Promise<void> {
  const { organizationId, projectId, environmentId } = target;
  await tx.run`
    SELECT FROM environment e JOIN project p ON p.id = e.project_id
    WHERE p.organization_id = ${organizationId}::uuid ${ofScope(target)}
    ORDER BY e.id FOR NO KEY UPDATE OF e`;
  if (environmentId !== undefined) return;
  if (projectId === undefined) {
    await tx.run`SELECT FROM organization WHERE id = ${organizationId}::uuid FOR NO KEY UPDATE`;
  } else {
    await tx.run`SELECT FROM project WHERE id = ${projectId}::uuid FOR NO KEY UPDATE`;
  }
}

/** Notes the deletion of the target itself. What lies beneath keeps its rows: it is judged by what is above it. */
export async function markDeleted(tx: Transaction, target: TargetIds): Promise<void> {
  const { organizationId, projectId, environmentId } = target;
  if (environmentId !== undefined) {
    await tx.run`UPDATE environment SET deleted_at = clock_timestamp() WHERE id = ${environmentId}::uuid`;
  } else if (projectId !== undefined) {
    await tx.run`UPDATE project SET deleted_at = clock_timestamp() WHERE id = ${projectId}::uuid`;
  } else {
    await tx.run`UPDATE organization SET deleted_at = clock_timestamp() WHERE id = ${organizationId}::uuid`;
  }
}

/**
 * Notifies every listener, at the commit, of each environment that a deletion ended and each service token tied to it.
 */
export async function notifyDeletion(tx: Transaction, target: TargetIds): Promise<void> {
  await tx.run`
    SELECT pg_notify(${notifyChannel}, json_build_object('o', p.organization_id, 'e', e.id, 'r', e.revision_id, 'd', true)::text)
    FROM environment e JOIN project p ON p.id = e.project_id
    WHERE p.organization_id = ${target.organizationId}::uuid ${ofScope(target)}`;
  await notifyTokens(tx, target);
}

/** Takes the deletion of the target itself back. */
export async function unmarkDeleted(tx: Transaction, target: TargetIds): Promise<void> {
  const { organizationId, projectId, environmentId } = target;
  if (environmentId !== undefined) {
    await tx.run`UPDATE environment SET deleted_at = NULL WHERE id = ${environmentId}::uuid`;
  } else if (projectId !== undefined) {
    await tx.run`UPDATE project SET deleted_at = NULL WHERE id = ${projectId}::uuid`;
  } else {
    await tx.run`UPDATE organization SET deleted_at = NULL WHERE id = ${organizationId}::uuid`;
  }
}

/**
 * Notifies every listener, at the commit, of each environment that exists again because the target does, and of each
 * service token tied to it. Before `endTokens`, which leaves no token to find.
 */
export async function notifyUndeletion(tx: Transaction, target: TargetIds): Promise<void> {
  await tx.run`
    SELECT pg_notify(${notifyChannel}, json_build_object('o', p.organization_id, 'e', e.id, 'r', e.revision_id, 'a', true)::text)
    FROM environment e JOIN project p ON p.id = e.project_id
    WHERE p.organization_id = ${target.organizationId}::uuid AND e.deleted_at IS NULL AND p.deleted_at IS NULL
      ${ofScope(target)}`;
  await notifyTokens(tx, target);
}

/** How many service tokens an undeletion ended. */
export interface EndedTokens {
  /** Tokens that people made: they are revoked for good. */
  readonly revokedServiceTokens: number;
  /** Tokens of custom resources: each gets a new secret string from its resource. */
  readonly endedResourceTokens: number;
}

/**
 * Ends each secret string of the service tokens tied to the target or to something beneath it, as a recovery does: a
 * token that a person made is revoked. That of a custom resource keeps its id and loses its strings: its resource makes
 * the next serial. Keyless tokens have no string and stay. Locks credentials before tokens, as a change under way does.
 */
export async function endTokens(tx: Transaction, target: TargetIds): Promise<EndedTokens> {
  const isLive = sql`t.revoked_at IS NULL AND t.cluster IS NULL AND ${tiedTo(target)}`;
  await tx.run`
    SELECT FROM service_token_credential c JOIN service_token t ON t.id = c.service_token_id
    WHERE ${isLive} AND t.created_by_type = 'resource' AND c.revoked_at IS NULL
    ORDER BY c.service_token_id, c.serial FOR NO KEY UPDATE OF c`;
  await tx.run`SELECT FROM service_token t WHERE ${isLive} ORDER BY t.id FOR NO KEY UPDATE`;
  const ended = await tx.row<EndedTokens>`
    WITH strings AS (
      UPDATE service_token_credential c SET revoked_at = clock_timestamp()
      FROM service_token t
      WHERE t.id = c.service_token_id AND ${isLive} AND t.created_by_type = 'resource' AND c.revoked_at IS NULL
      RETURNING c.service_token_id
    ), tokens AS (
      UPDATE service_token t SET revoked_at = clock_timestamp()
      WHERE ${isLive} AND t.created_by_type <> 'resource'
      RETURNING t.id
    )
    SELECT (SELECT count(*) FROM tokens)::int AS "revokedServiceTokens",
      (SELECT count(DISTINCT service_token_id) FROM strings)::int AS "endedResourceTokens"`;
  if (ended === undefined) throw new Error('a SELECT without FROM returned no row');
  return ended;
}

async function notifyTokens(tx: Transaction, target: TargetIds): Promise<void> {
  await tx.run`
    SELECT pg_notify(${notifyChannel}, json_build_object('o', t.organization_id, 't', t.id)::text) FROM service_token t
    WHERE t.revoked_at IS NULL AND ${tiedTo(target)}`;
}

/** SQL over `service_token t`: whether it is tied to the target or to something beneath it. */
function tiedTo({ organizationId, projectId, environmentId }: TargetIds): Sql {
  return sql`t.organization_id = ${organizationId}::uuid
      ${projectId === undefined ? empty : sql`AND t.project_id = ${projectId}::uuid`}
      ${environmentId === undefined ? empty : sql`AND t.environment_id = ${environmentId}::uuid`}`;
}

/** Narrows a statement over `environment e` and `project p` to a target below the organization. */
function ofScope({ projectId, environmentId }: TargetIds): Sql {
  if (environmentId !== undefined) return sql`AND e.id = ${environmentId}::uuid`;
  return projectId === undefined ? empty : sql`AND p.id = ${projectId}::uuid`;
}
