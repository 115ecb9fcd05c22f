/** An environment, by slugs. */
export interface Place {
  readonly organization: string;
  readonly project: string;
  readonly environment: string;
}

/** Its names in the path of an endpoint. */
export function paramsOf({ organization, project, environment }: Place): {
  readonly org: string;
  readonly project: string;
  readonly env: string;
} {
  return { org: organization, project, env: environment };
}

/** Its slugs as one text, for keys. */
export function pathOf({ organization, project, environment }: Place): string {
  return `${organization}/${project}/${environment}`;
}

interface Roles {
  readonly organizations: readonly { readonly slug: string; readonly role: string }[];
  readonly rolesByPlace?: readonly {
    readonly organization: string;
    readonly project: string | null;
    readonly environment: string | null;
    readonly role: string;
  }[];
}

const writers = new Set(['developer', 'admin', 'owner']);
const admins = new Set(['admin', 'owner']);

/** What a user may do at a place. The server decides; the page only leaves out what it would refuse. */
export interface Rights {
  readonly mayWrite: boolean;
  /** A protected environment too. */
  readonly mayTakeSnapshots: boolean;
  readonly mayDestroy: boolean;
}

/** By the roles of the user at the place and above it. A protected environment is written by admins alone. */
export function rightsAt(
  place: Place,
  { organizations, rolesByPlace = [] }: Roles,
  { isProtected }: { readonly isProtected: boolean },
): Rights {
  const roles = [
    ...organizations.filter(({ slug }) => slug === place.organization),
    ...rolesByPlace.filter(
      ({ organization, project, environment }) =>
        organization === place.organization &&
        (project === null || project === place.project) &&
        (environment === null || environment === place.environment),
    ),
  ].map(({ role }) => role);
  const mayDestroy = roles.some((role) => admins.has(role));
  const mayTakeSnapshots = roles.some((role) => writers.has(role));
  return { mayDestroy, mayTakeSnapshots, mayWrite: isProtected ? mayDestroy : mayTakeSnapshots };
}
