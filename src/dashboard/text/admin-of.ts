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

/** A place within an organization, by slugs; `environment` is null for all of the project. */
export interface HeldPlace {
  readonly project: string;
  readonly environment: string | null;
}

/** What a user may do with the members of an organization, and with the roles within it. */
export interface HeldRole {
  /** Whether the user has a role in the whole of it. */
  readonly isMember: boolean;
  readonly isAdmin: boolean;
  readonly isOwner: boolean;
  /** Where within it the user has a role, without places in a project that is one of them. */
  readonly places: readonly HeldPlace[];
  /** Whether the user gives roles anywhere in it. */
  readonly givesRoles: boolean;
  /** Whether the user gives roles at a place. */
  readonly administers: (place: { readonly project: string | null; readonly environment: string | null }) => boolean;
}

/** By the roles of the user and of their groups. */
export function heldIn(organization: string, user: Roles): HeldRole {
  const role = user.organizations.find(({ slug }) => slug === organization)?.role;
  const bound = user.rolesByPlace?.filter((held) => held.organization === organization) ?? [];
  const { isAdmin } = adminOf(organization, user);
  const places = placesOf(bound);
  const administers: HeldRole['administers'] = ({ project, environment }) =>
    isAdmin ||
    bound.some(
      (held) =>
        admins.has(held.role) &&
        held.project !== null &&
        held.project === project &&
        (held.environment === null || held.environment === environment),
    );
  return {
    isMember: role !== undefined || bound.some(({ project }) => project === null),
    isAdmin,
    isOwner: role === 'owner',
    places,
    administers,
    givesRoles: isAdmin || places.some(administers),
  };
}

function placesOf(bound: NonNullable<Roles['rolesByPlace']>): readonly HeldPlace[] {
  const projects = new Set(bound.flatMap(({ project, environment }) => (environment === null ? [project] : [])));
  const within = bound.flatMap(({ project, environment }) =>
    project === null || (environment !== null && projects.has(project)) ? [] : [{ project, environment }],
  );
  // Several groups may have a role at one place.
  return [...new Map(within.map((place) => [`${place.project}/${place.environment ?? ''}`, place])).values()];
}
