import type { TargetIds } from './access.ts';
import { Prisma } from './generated/client.ts';
import { notifyChannel } from './notify.ts';
import type { Transaction } from './transaction.ts';

/** What a purge is asked for: slugs from the organization down to the level of the thing itself. */
export interface PurgeSlugs {
  readonly organization: string;
  readonly project?: string;
  readonly environment?: string;
}

/** A thing that may be purged, and which of it and what lies above it are deleted. */
export interface PurgeTarget extends TargetIds {
  readonly organizationDeleted: boolean;
  readonly projectDeleted: boolean;
  readonly environmentDeleted: boolean;
}

/** Looks up by slugs, deleted things too: a slug stays taken until the purge, so it names one thing. */
export async function findPurgeTarget(tx: Transaction, slugs: PurgeSlugs): Promise<PurgeTarget | undefined> {
  const { organization, project, environment } = slugs;
  const projectPart = Prisma.sql`JOIN project p ON p.organization_id = o.id AND p.slug = ${project}`;
  const environmentPart = Prisma.sql`JOIN environment e ON e.project_id = p.id AND e.slug = ${environment}`;
  const columns = [
    'o.id AS "organizationId", o.deleted_at IS NOT NULL AS "organizationDeleted"',
    ...(project === undefined ? [] : ['p.id AS "projectId", p.deleted_at IS NOT NULL AS "projectDeleted"']),
    ...(environment === undefined ? [] : ['e.id AS "environmentId", e.deleted_at IS NOT NULL AS "environmentDeleted"']),
  ];
  const found = await tx.row<TargetIds & Partial<PurgeTarget>>`
    SELECT ${Prisma.raw(columns.join(', '))} FROM organization o
    ${project === undefined ? Prisma.empty : projectPart}
    ${environment === undefined ? Prisma.empty : environmentPart}
    WHERE o.slug = ${organization}`;
  if (found === undefined) return undefined;
  return { organizationDeleted: false, projectDeleted: false, environmentDeleted: false, ...found };
}

/**
 * Removes the target with everything beneath it; a project's data keys go with the project. Nothing of it can be in
 * use: it is deleted, and what still holds a lock on it ends without a commit. The audit is not touched. Returns
 * whether it was still there.
 */
export async function purge(tx: Transaction, target: TargetIds): Promise<boolean> {
  const { organizationId, projectId, environmentId } = target;
  // In whatever order rows go that refer to each other across the tree: it must be whole again at the end alone.
  await tx.run`SET CONSTRAINTS ALL DEFERRED`;
  for (const id of await findEnvironments(tx, target)) await empty(tx, id);
  if (environmentId !== undefined) {
    return (await tx.run`DELETE FROM environment WHERE id = ${environmentId}::uuid`) > 0;
  }
  if (projectId !== undefined) {
    return (await tx.run`DELETE FROM project WHERE id = ${projectId}::uuid`) > 0;
  }
  return (await tx.run`DELETE FROM organization WHERE id = ${organizationId}::uuid`) > 0;
}

// Rows of one statement, with all that goes with them: the database must not be silent for as long as a connection is
// given up for, however long the history.
const secretsAtOnce = 200;
const snapshotsAtOnce = 50;

async function empty(tx: Transaction, environmentId: string): Promise<void> {
  // Sent at the commit: a request that waits for the slug can have it then.
  await tx.run`
    SELECT pg_notify(${notifyChannel}, json_build_object('e', id, 'r', revision_id, 'd', true)::text)
    FROM environment WHERE id = ${environmentId}::uuid`;
  const snapshots = (): Promise<number> => tx.run`
    WITH gone AS (
      DELETE FROM snapshot WHERE id IN (
        SELECT id FROM snapshot WHERE environment_id = ${environmentId}::uuid LIMIT ${snapshotsAtOnce})
      RETURNING id
    )
    SELECT pg_notify(${notifyChannel}, json_build_object('s', id)::text) FROM gone`;
  const secrets = (): Promise<number> => tx.run`
    DELETE FROM secret WHERE id IN (
      SELECT id FROM secret WHERE environment_id = ${environmentId}::uuid LIMIT ${secretsAtOnce})`;
  for (const step of [snapshots, secrets]) while ((await step()) > 0);
}

async function findEnvironments(tx: Transaction, target: TargetIds): Promise<string[]> {
  const { organizationId, projectId = null, environmentId = null } = target;
  const rows = await tx.rows<{ id: string }>`
    SELECT e.id FROM environment e JOIN project p ON p.id = e.project_id
    WHERE p.organization_id = ${organizationId}::uuid
      AND (${projectId}::uuid IS NULL OR p.id = ${projectId}::uuid)
      AND (${environmentId}::uuid IS NULL OR e.id = ${environmentId}::uuid)`;
  return rows.map(({ id }) => id);
}
