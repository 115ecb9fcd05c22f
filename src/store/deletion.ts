import type { TargetIds } from './access.ts';
import { Prisma } from './generated/client.ts';
import { notifyChannel } from './notify.ts';
import type { Transaction } from './transaction.ts';

/** Deleting organizations, projects and environments so that they can be reported and purged later. */

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
  const { organizationId, projectId, environmentId } = target;
  await tx.run`
    SELECT pg_notify(${notifyChannel}, json_build_object('e', e.id, 'r', e.revision_id, 'd', true)::text)
    FROM environment e JOIN project p ON p.id = e.project_id
    WHERE p.organization_id = ${organizationId}::uuid ${ofScope(target)}`;
  await tx.run`
    SELECT pg_notify(${notifyChannel}, json_build_object('t', t.id)::text) FROM service_token t
    WHERE t.organization_id = ${organizationId}::uuid AND t.revoked_at IS NULL
      ${projectId === undefined ? Prisma.empty : Prisma.sql`AND t.project_id = ${projectId}::uuid`}
      ${environmentId === undefined ? Prisma.empty : Prisma.sql`AND t.environment_id = ${environmentId}::uuid`}`;
}

/** Narrows a statement over `environment e` and `project p` to a target below the organization. */
function ofScope({ projectId, environmentId }: TargetIds): Prisma.Sql {
  if (environmentId !== undefined) return Prisma.sql`AND e.id = ${environmentId}::uuid`;
  return projectId === undefined ? Prisma.empty : Prisma.sql`AND p.id = ${projectId}::uuid`;
}
