/** The slugs of an organization, a project or an environment in paths. */

export interface OrganizationSlugs {
  readonly organization: string;
}

export interface ProjectSlugs extends OrganizationSlugs {
  readonly project: string;
}

export interface EnvironmentSlugs extends ProjectSlugs {
  readonly environment: string;
}

/** An environment by its slugs and its id. */
export interface EnvironmentPlace extends EnvironmentSlugs {
  readonly environmentId: string;
}
