/** A place by slugs; null for what it is not within. */
interface Place {
  readonly project: string | null;
  readonly environment: string | null;
}

export const wholeOrganization: Place = { project: null, environment: null };

/** Such as "the whole organization", "shop" or "shop / production". */
export function rolePlaceText({ project, environment }: Place): string {
  if (project === null) return 'the whole organization';
  return environment === null ? project : `${project} / ${environment}`;
}

const byPower = ['viewer', 'developer', 'admin', 'owner'];

/** Whether a change to another role gives more. The server asks for a recent sign-in then. */
export function isHigherRole(role: string, than: string): boolean {
  return byPower.indexOf(role) > byPower.indexOf(than);
}

/** The roles that a user may give. Only owners make owners, and only in the organization. */
export function rolesToGive(place: Pick<Place, 'project'>, isOwner: boolean): readonly (readonly [string, string])[] {
  const all = [
    ['viewer', 'Viewer: read'],
    ['developer', 'Developer: read and write'],
    ['admin', 'Admin: also manage roles, tokens and places'],
  ] as const;
  return place.project === null && isOwner ? [...all, ['owner', 'Owner: everything']] : all;
}
