import type { MemberStanding } from '../domain/impersonation.ts';

/**
 * How a user stands at a place, as parts of the statements that find the place (docs/internals/authorization.md). The
 * role is the highest of the membership and of the role bindings at the place and above it, of the user and of groups.
 */

/** A standing, and where its role comes from. */
export interface Standing extends MemberStanding {
  /** The role binding that gives the role; null for the membership, and for no role. */
  readonly bindingId: string | null;
}

export type PlaceLevel = 'organization' | 'project' | 'environment';

/** The columns of `Standing`, for statements with `standingJoins`. */
export const standingColumns = `LEAST(m.role, bound.role) AS role,
      CASE WHEN m.role IS NULL OR m.role > bound.role THEN bound.id END AS "bindingId",
      o.impersonation_forbidden AS "impersonationForbidden",
      COALESCE(m.confirmed_at, bound.confirmed_at) AS "confirmedAt"`;

/** The columns of `Standing` of a service token, which has no role. */
export const standingOfNoMember = `NULL AS role, NULL::uuid AS "bindingId",
      o.impersonation_forbidden AS "impersonationForbidden", NULL::timestamptz AS "confirmedAt"`;

/**
 * Joins the membership as m and the highest role binding as bound, to the place: the organization o, and by the level
 * the project p and the environment e. `user` is SQL for the id of the user, which may be null.
 */
export function standingJoins(user: string, level: PlaceLevel): string {
  // The order of the enum is that of power, highest first. Of equal roles the first one counts: a later one confirms no
  // tokens.
  return `LEFT JOIN membership m ON m.organization_id = o.id AND m.user_id = ${user}
    LEFT JOIN LATERAL (
      SELECT b.id, b.role, b.confirmed_at FROM (${bindingsOf(user)}) b
      WHERE ${atOrAbove[level]} ORDER BY b.role, b.confirmed_at, b.id LIMIT 1
    ) bound ON true`;
}

/**
 * A column for a user who has roles only at places beneath the organization o, or beneath its project p: `confirmedAt` of
 * the newest of them. Null for any other user.
 */
export function confirmedBeneathColumn(user: string, level: 'organization' | 'project'): string {
  return `CASE WHEN LEAST(m.role, bound.role) IS NULL
        THEN (SELECT max(b.confirmed_at) FROM (${bindingsOf(user)}) b WHERE ${beneath[level]})
      END AS "confirmedBeneath"`;
}

/** A condition: whether a user has a role at the project p, above it or beneath it; `user` is not null. */
export function seesProject(user: string): string {
  return `EXISTS (SELECT FROM (${bindingsOf(user)}) b WHERE b.project_id = p.id)`;
}

/** A condition: whether a user has a role at the environment e, or above it within the project. */
export function seesEnvironment(user: string): string {
  return `EXISTS (SELECT FROM (${bindingsOf(user)}) b
      WHERE b.project_id = p.id AND (b.environment_id IS NULL OR b.environment_id = e.id))`;
}

/** SELECT of the ids of the organizations in which a user has a role at any place. */
export function organizationsOf(user: string): string {
  return `SELECT organization_id FROM membership WHERE user_id = ${user}
      UNION ALL SELECT organization_id FROM role_binding WHERE user_id = ${user}
      UNION ALL SELECT r.organization_id FROM group_member g JOIN role_binding r ON r.group_name = g.group_name
      WHERE g.user_id = ${user} AND g.expires_at > clock_timestamp()`;
}

const atOrAbove: Readonly<Record<PlaceLevel, string>> = {
  organization: 'b.project_id IS NULL',
  project: 'b.environment_id IS NULL AND (b.project_id IS NULL OR b.project_id = p.id)',
  environment:
    '(b.project_id IS NULL OR b.project_id = p.id) AND (b.environment_id IS NULL OR b.environment_id = e.id)',
};

const beneath = {
  organization: 'b.project_id IS NOT NULL',
  project: 'b.project_id = p.id AND b.environment_id IS NOT NULL',
};

/** The role bindings of a user in the organization o, by two indexes. A group counts until its sign-in is too old. */
function bindingsOf(user: string): string {
  const columns = 'r.id, r.role, r.confirmed_at, r.project_id, r.environment_id';
  return `SELECT ${columns} FROM role_binding r WHERE r.organization_id = o.id AND r.user_id = ${user}
        UNION ALL SELECT ${columns} FROM group_member g
        JOIN role_binding r ON r.organization_id = o.id AND r.group_name = g.group_name
        WHERE g.user_id = ${user} AND g.expires_at > clock_timestamp()`;
}
