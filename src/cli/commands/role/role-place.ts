import type { ApiClient } from '../../../client/api-client.ts';
import { call } from '../../../client/call.ts';
import { type RoleEndpoints, roleEndpoints } from '../../../client/endpoint-sets.ts';
import { allPages } from '../../../client/pages.ts';
import type { RoleBindingView } from '../../../wire/role-bindings.ts';
import { usageError } from '../../core/cli-error.ts';
import type { CommandContext } from '../../core/command.ts';
import { argument, completing, scopeOptions } from '../../core/options.ts';
import { type ScopeFlags, scopeParams } from '../../settings/scope.ts';

/** Where a role counts: there, and at everything within. */
export interface RolePlace {
  /** `project acme/web` */
  readonly title: string;
  readonly endpoints: RoleEndpoints;
  /** The names in the paths of the endpoints. Those below the place are empty. */
  readonly params: ReturnType<typeof scopeParams>;
  /** The organization, then the project, then the environment. */
  readonly slugs: readonly string[];
}

/**
 * The flags that name the place of a role. The deepest of them decides what the place is: .keyframe.json only says in
 * which organization and project it lies. So no role is given in the environment of a directory that the user did not
 * think of.
 */
export const rolePlaceOptions = {
  organization: {
    ...scopeOptions.organization,
    description: 'Organization; with -p or -e it has the default of all commands',
  },
  project: { ...scopeOptions.project, description: 'Project; with -e it has the default of all commands' },
  environment: {
    ...scopeOptions.environment,
    description: 'Environment; without it, the whole project or organization',
  },
};

/** Who has the role. */
export const subjectArgument = completing(
  'member',
  argument('<subject>', 'E-mail address or id of a user, or group:NAME'),
);

/**
 * The place that the flags name; undefined without any flag.
 *
 * @throws CliError usage, naming what is missing above the place.
 */
export async function namedPlace(context: CommandContext, flags: ScopeFlags): Promise<RolePlace | undefined> {
  if (flags.environment !== undefined) {
    const { organization, project, environment } = await context.scope(flags);
    return {
      title: `environment ${organization}/${project}/${environment}`,
      endpoints: roleEndpoints.environment,
      params: scopeParams({ organization, project, environment }),
      slugs: [organization, project, environment],
    };
  }
  if (flags.project !== undefined) {
    const { organization, project } = await context.project(flags);
    return {
      title: `project ${organization}/${project}`,
      endpoints: roleEndpoints.project,
      params: scopeParams({ organization, project, environment: '' }),
      slugs: [organization, project],
    };
  }
  return flags.organization === undefined ? undefined : wholeOrganization(flags.organization);
}

/** As `namedPlace`, for a change: throws CliError usage without any flag. */
export async function requiredPlace(context: CommandContext, flags: ScopeFlags): Promise<RolePlace> {
  const place = await namedPlace(context, flags);
  if (place !== undefined) return place;
  throw usageError(
    'the place is missing: a role counts in an environment, a project or an organization',
    'Add -e <environment>, -p <project> or -o <organization>; the ones above have the defaults of all commands',
  );
}

export function wholeOrganization(organization: string): RolePlace {
  return {
    title: `organization ${organization}`,
    endpoints: roleEndpoints.organization,
    params: scopeParams({ organization, project: '', environment: '' }),
    slugs: [organization],
  };
}

/** All roles at a place and within it. Throws ClientError. */
export async function allRoles(api: ApiClient, { endpoints, params }: RolePlace): Promise<RoleBindingView[]> {
  const pages = await allPages(async (cursor) => (await call(api, endpoints.list, { params, query: { cursor } })).body);
  return pages.flatMap(({ roles }) => roles);
}

/** Who has a role, as commands take it. */
export function subjectOf({ user, group }: Pick<RoleBindingView, 'user' | 'group'>): string {
  return user?.email ?? `${groupPrefix}${group}`;
}

/** Who has a role, in a sentence: `group platform`, or a user as given. */
export function subjectTitle(subject: string): string {
  const group = groupOf(subject);
  return group === undefined ? subject : `group ${group}`;
}

/** The name of the group; undefined for a user. */
export function groupOf(subject: string): string | undefined {
  return subject.startsWith(groupPrefix) ? subject.slice(groupPrefix.length) : undefined;
}

const groupPrefix = 'group:';
