import type pg from 'pg';
import type { EnvironmentTarget } from './access.ts';
import type { ClusterCeiling } from '../domain/cluster-ceiling.ts';
import { ceilingColumn, ceilingJoins } from './cluster-ceilings.ts';
import { queryRows, type Statement } from './database.ts';
import type { ServiceTokenModel } from './generated/models.ts';
import { standingOfNoMember } from './standing.ts';
import type { TokenHolder } from './service-tokens.ts';
import { isIn, type TokenHome } from './token-home.ts';
import type { Transaction } from './transaction.ts';

/** An environment by its slugs, and the namespace whose keyless token is to read it. */
export interface AskedKeyless {
  readonly cluster: string;
  readonly namespace: string;
  readonly organization: string;
  readonly project: string;
  readonly environment: string;
}

/** The keyless token of a namespace for an environment. */
export interface KeylessToken extends Readonly<Pick<ServiceTokenModel, 'id' | 'name'>> {
  readonly isRevoked: boolean;
  /** Whether its use was last noted more than a minute ago, or never. */
  readonly useDue: boolean;
}

/** An environment, and the token that there is for it. */
export interface KeylessTarget extends EnvironmentTarget {
  readonly ceiling: ClusterCeiling;
  readonly token: KeylessToken | undefined;
}

type Row = Omit<KeylessTarget, 'token'> & {
  readonly position: number;
  readonly tokenId: ServiceTokenModel['id'] | null;
  readonly tokenName: ServiceTokenModel['name'];
  readonly isRevoked: boolean;
  readonly useDue: boolean;
};

const targets: Statement = {
  name: 'keyless-targets',
  text: `SELECT asked.position::int AS position, o.id AS "organizationId", p.id AS "projectId", e.id AS "environmentId",
      e.protected AS "isProtected", e.revision_number AS revision, e.revision_id AS "revisionId", ${standingOfNoMember},
      t.id AS "tokenId", t.name AS "tokenName", t.revoked_at IS NOT NULL AS "isRevoked",
      (t.last_used_at IS NULL OR t.last_used_at < clock_timestamp() - interval '1 minute') AS "useDue",
      ${ceilingColumn('asked.cluster')}
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) WITH ORDINALITY
      AS asked (cluster, namespace, organization, project, environment, position)
    JOIN organization o ON o.slug = asked.organization AND o.deleted_at IS NULL
    JOIN project p ON p.organization_id = o.id AND p.slug = asked.project AND p.deleted_at IS NULL
    JOIN environment e ON e.project_id = p.id AND e.slug = asked.environment AND e.deleted_at IS NULL
    LEFT JOIN service_token t ON t.cluster = asked.cluster AND t.namespace = asked.namespace
      AND t.environment_id = e.id
    ${ceilingJoins('asked.cluster')}`,
};

/**
 * Looks up environments that are not deleted, nor anything above them, with the keyless token of a namespace for each,
 * by one statement and so at one moment; in the order asked, undefined for those that are not there.
 */
export async function findKeylessTargets(
  pool: pg.Pool,
  asked: readonly AskedKeyless[],
): Promise<(KeylessTarget | undefined)[]> {
  const rows = await queryRows<Row>(pool, targets, [
    asked.map(({ cluster }) => cluster),
    asked.map(({ namespace }) => namespace),
    asked.map(({ organization }) => organization),
    asked.map(({ project }) => project),
    asked.map(({ environment }) => environment),
  ]);
  const found: (KeylessTarget | undefined)[] = asked.map(() => undefined);
  for (const { position, tokenId, tokenName, isRevoked, useDue, ...target } of rows) {
    const token = tokenId === null ? undefined : { id: tokenId, name: tokenName, isRevoked, useDue };
    found[position - 1] = { ...target, token };
  }
  return found;
}

/** A keyless token that is to be made, and the SecretSync that needs it first. */
export interface NewKeylessToken {
  readonly id: string;
  readonly name: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly environmentId: string;
  readonly creator: { readonly id: string; readonly name: string };
  readonly requestId: string;
}

// In the order of the unique index, so that two statements that make the same tokens wait for each other at one place.
// The rows above are held, so that a purge at this moment fails no other token of the group.
const creation: Statement = {
  name: 'keyless-create',
  text: `WITH place AS (
      SELECT asked.*, o.id AS organization_id, p.id AS project_id, o.slug AS organization, p.slug AS project,
        e.slug AS environment
      FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::uuid[], $6::uuid[], $7::text[], $8::uuid[])
        AS asked (id, name, cluster, namespace, environment_id, creator_id, creator_name, request_id)
      JOIN environment e ON e.id = asked.environment_id AND e.deleted_at IS NULL
      JOIN project p ON p.id = e.project_id AND p.deleted_at IS NULL
      JOIN organization o ON o.id = p.organization_id AND o.deleted_at IS NULL
      ORDER BY asked.cluster, asked.namespace, asked.environment_id
      FOR KEY SHARE OF o, p, e
    ), known AS (
      INSERT INTO served_cluster (name) SELECT DISTINCT cluster FROM place ORDER BY cluster ON CONFLICT DO NOTHING
    ), created AS (
      INSERT INTO service_token (id, organization_id, name, scope, project_id, environment_id, permission, created_by_id,
        created_by_type, created_by_name, cluster, namespace)
      SELECT id, organization_id, name, 'environment', project_id, environment_id, 'read', creator_id, 'resource',
        creator_name, cluster, namespace
      FROM place
      ON CONFLICT (cluster, namespace, environment_id) DO NOTHING
      RETURNING id
    )
    INSERT INTO audit_entry (organization_id, actor_type, actor_id, actor_name, action, target, outcome, request_id, label,
      cluster)
    SELECT organization_id, 'resource', creator_id, creator_name, 'service_token.create',
      jsonb_build_object('organization', organization, 'project', project, 'environment', environment,
        'serviceTokenId', id, 'name', name, 'scope', 'environment', 'permission', 'read', 'cluster', cluster,
        'namespace', namespace),
      'success', request_id, '[Service Token]', cluster
    FROM place JOIN created USING (id)`,
};

/**
 * Makes keyless tokens with their audit rows, by one statement: none if there is one already, revoked or not, and none
 * for an environment that is deleted. Without a NOTIFY: no read rests on a token that did not exist.
 */
export async function createKeylessTokens(pool: pg.Pool, tokens: readonly NewKeylessToken[]): Promise<void> {
  await queryRows(pool, creation, [
    tokens.map(({ id }) => id),
    tokens.map(({ name }) => name),
    tokens.map(({ cluster }) => cluster),
    tokens.map(({ namespace }) => namespace),
    tokens.map(({ environmentId }) => environmentId),
    tokens.map(({ creator }) => creator.id),
    tokens.map(({ creator }) => creator.name),
    tokens.map(({ requestId }) => requestId),
  ]);
}

/** What became of a reinstatement. */
export type Reinstated =
  { readonly outcome: 'reinstated' | 'was_live'; readonly holder: TokenHolder } | { readonly outcome: 'not_keyless' };

/**
 * Lifts the revocation of a keyless token. A revocation at the same moment comes before or after it. Undefined if the
 * organization has no such token.
 */
export async function reinstateKeylessToken(
  tx: Transaction,
  home: TokenHome,
  id: string,
): Promise<Reinstated | undefined> {
  const held = await tx.row<{ isRevoked: boolean } & Pick<ServiceTokenModel, 'cluster' | 'namespace'>>`
    SELECT revoked_at IS NOT NULL AS "isRevoked", cluster, namespace FROM service_token t
    WHERE id = ${id}::uuid AND ${isIn(home)} FOR NO KEY UPDATE`;
  if (held === undefined) return undefined;
  const { isRevoked, cluster, namespace } = held;
  if (cluster === null || namespace === null) return { outcome: 'not_keyless' };
  await tx.run`UPDATE service_token SET revoked_at = NULL WHERE id = ${id}::uuid AND revoked_at IS NOT NULL`;
  return { outcome: isRevoked ? 'reinstated' : 'was_live', holder: { cluster, namespace } };
}

// SKIP LOCKED: noting a use never waits for a revocation under way.
const touch: Statement = {
  name: 'keyless-touch',
  text: `UPDATE service_token AS t SET last_used_at = clock_timestamp()
    FROM (SELECT id FROM service_token WHERE id = ANY($1::uuid[]) FOR NO KEY UPDATE SKIP LOCKED) AS used
    WHERE t.id = used.id`,
};

/** Notes that keyless tokens were used just now. One that is being changed at this moment is passed over. */
export async function touchKeylessTokens(pool: pg.Pool, ids: readonly string[]): Promise<void> {
  await queryRows(pool, touch, [ids]);
}
