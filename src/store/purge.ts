import type { TargetIds } from './access.ts';
import { notifyChannel } from './notify.ts';
import type { Transaction } from './transaction.ts';

/**
 * Removes the target, which `holdTenant` holds, with everything beneath it; a project's data keys go with the project.
 * Nothing of it can be in use: it is deleted, and what still waits for a lock on it ends without a commit. The audit is
 * not touched.
 */
export async function purge(tx: Transaction, target: TargetIds): Promise<void> {
  const { organizationId, projectId, environmentId } = target;
  // In whatever order rows go that refer to each other across the tree: it must be whole again at the end alone.
  await tx.run`SET CONSTRAINTS ALL DEFERRED`;
  for (const id of await findEnvironments(tx, target)) await empty(tx, organizationId, id);
  if (environmentId !== undefined) {
    await tx.run`DELETE FROM environment WHERE id = ${environmentId}::uuid`;
  } else if (projectId !== undefined) {
    await tx.run`DELETE FROM project WHERE id = ${projectId}::uuid`;
  } else {
    await tx.run`DELETE FROM organization WHERE id = ${organizationId}::uuid`;
  }
}

// Rows of one statement, with all that goes with them: the database must not be silent for as long as a connection is
// given up for, however long the history.
const secretsAtOnce = 200;
const snapshotsAtOnce = 50;

async function empty(tx: Transaction, organizationId: string, environmentId: string): Promise<void> {
  // Sent at the commit: a request that waits for the slug can have it then.
  await tx.run`
    SELECT pg_notify(${notifyChannel}, json_build_object('o', ${organizationId}::uuid, 'e', id, 'r', revision_id, 'd', true)::text)
    FROM environment WHERE id = ${environmentId}::uuid`;
  const snapshots = (): Promise<number> => tx.run`
    WITH gone AS (
      DELETE FROM snapshot WHERE id IN (
        SELECT id FROM snapshot WHERE environment_id = ${environmentId}::uuid LIMIT ${snapshotsAtOnce})
      RETURNING id
    )
    SELECT pg_notify(${notifyChannel}, json_build_object('o', ${organizationId}::uuid, 's', id)::text) FROM gone`;
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
