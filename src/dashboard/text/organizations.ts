/** What `/me` says of the places of a user. */
export interface PlacesOfUser {
  readonly organizations: readonly { readonly slug: string }[];
  readonly rolesByPlace?: readonly { readonly organization: string }[];
}

/** The slugs of the organizations in which a user has a role, or in whose projects or environments: by slug. */
export function organizationsOf({ organizations, rolesByPlace = [] }: PlacesOfUser): readonly string[] {
  const slugs = [...organizations.map(({ slug }) => slug), ...rolesByPlace.map(({ organization }) => organization)];
  return [...new Set(slugs)].toSorted();
}
