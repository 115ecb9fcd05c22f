/** What `/me` says of the roles of a user. */
interface Roles {
  readonly organizations: readonly { readonly slug: string; readonly role: string }[];
  readonly rolesByPlace?: readonly {
    readonly organization: string;
    readonly project: string | null;
    readonly environment: string | null;
    readonly role: string;
  }[];
}

/** What of an organization a user administers. */
export interface AdminOf {
  /** Whether all of it. */
  readonly isAdmin: boolean;
  /** The slugs of single projects. */
  readonly projects: readonly string[];
}

const admins = new Set(['admin', 'owner']);

/** By the roles of the user and of their groups. The server decides; the page only leaves out what it would refuse. */
export function adminOf(organization: string, { organizations, rolesByPlace = [] }: Roles): AdminOf {
  const bound = rolesByPlace.filter((held) => held.organization === organization && admins.has(held.role));
  const isMember = organizations.some(({ slug, role }) => slug === organization && admins.has(role));
  return {
    isAdmin: isMember || bound.some(({ project }) => project === null),
    projects: [
      ...new Set(
        bound.flatMap(({ project, environment }) => (project === null || environment !== null ? [] : [project])),
      ),
    ],
  };
}

/** What a user may do with the members of an organization. */
export interface HeldRole {
  /** Whether the user has a role in the whole of it. */
  readonly isMember: boolean;
  readonly isAdmin: boolean;
  readonly isOwner: boolean;
}

/** By the roles of the user and of their groups in the whole organization. */
export function heldIn(organization: string, user: Roles): HeldRole {
  const role = user.organizations.find(({ slug }) => slug === organization)?.role;
  const isBound = user.rolesByPlace?.some((held) => held.organization === organization && held.project === null);
  return {
    isMember: role !== undefined || isBound === true,
    isAdmin: adminOf(organization, user).isAdmin,
    isOwner: role === 'owner',
  };
}
