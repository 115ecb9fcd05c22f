import { empty, type Sql, sql } from './sql.ts';

/** Where tokens are looked for: in an organization, or only among those for one of its projects and its environments. */
export interface TokenHome {
  readonly organizationId: string;
  readonly projectId: string | null;
}

/** SQL: whether the service token t is in its home. */
export function isIn({ organizationId, projectId }: TokenHome): Sql {
  const inProject = projectId === null ? empty : sql`AND t.project_id = ${projectId}::uuid`;
  return sql`t.organization_id = ${organizationId}::uuid ${inProject}`;
}
