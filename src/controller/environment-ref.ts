import type { EnvironmentSlugs } from '../domain/slugs.ts';

/** A spec, or a part of one, that names an environment. */
export interface NamesEnvironment {
  readonly environmentRef: { readonly organization: string; readonly project: string; readonly name: string };
}

/** The environment in the terms of the backend. */
export function slugsOf({ environmentRef }: NamesEnvironment): EnvironmentSlugs {
  const { organization, project, name: environment } = environmentRef;
  return { organization, project, environment };
}

/** `organization/project/name`, for messages and records. */
export function environmentPath({ environmentRef: { organization, project, name } }: NamesEnvironment): string {
  return `${organization}/${project}/${name}`;
}
