import type { EnvironmentView, OrganizationListView, OrganizationView } from '../../../wire/tenancy.ts';
import { apiPath } from '../../../client/api-client.ts';
import type { CommandContext } from '../../core/command.ts';
import { type CompletionKind, organizationOption, projectOptions } from '../../core/options.ts';
import type { ProjectFlags } from '../../settings/scope.ts';
import type { ObjectView } from '../../terminal/printer.ts';
import { time } from '../../terminal/time.ts';

/** What the commands of `org`, `project` and `env` do not have in common. */

export type TenantKind = 'org' | 'project' | 'env';

/** One of the three. Only an environment has a revision, and only an organization a rule on impersonation. */
export type Tenant = Omit<OrganizationView, 'impersonationForbidden'> &
  Partial<Pick<OrganizationView, 'impersonationForbidden'>> &
  Partial<Pick<EnvironmentView, 'revision' | 'revisionId' | 'protected'>>;

/** One in a list: `deletedAt` is in the list of those that are deleted, `owners` in the lists of all organizations. */
export type ListedTenant = Tenant & Pick<OrganizationListView['organizations'][number], 'deletedAt' | 'owners'>;

interface Kind {
  readonly word: 'organization' | 'project' | 'environment';
  readonly completes: CompletionKind;
  /** Completes the slugs of deleted ones. */
  readonly completesDeleted: CompletionKind;
  readonly article: 'a' | 'an';
  /** The field of the list's answer. */
  readonly plural: 'organizations' | 'projects' | 'environments';
  /** The flags that name its parents. */
  readonly options: Partial<typeof projectOptions>;
  /** The path of the list. */
  readonly path: (context: CommandContext, flags: Partial<ProjectFlags>) => string;
  /** The flags that name its parents, in full, for a command that is suggested. */
  readonly parents: (context: CommandContext, flags: Partial<ProjectFlags>) => string;
  /** Flags of its examples. */
  readonly flags: string;
  readonly sample: string;
  /** What is deleted with it. */
  readonly contents: string;
}

export const tenantKinds: Readonly<Record<TenantKind, Kind>> = {
  org: {
    word: 'organization',
    completes: 'organization',
    completesDeleted: 'deletedOrganization',
    article: 'an',
    plural: 'organizations',
    options: {},
    path: () => '/organizations',
    parents: () => '',
    flags: '',
    sample: 'acme',
    contents: 'all its projects, environments, secrets and tokens',
  },
  project: {
    word: 'project',
    completes: 'project',
    completesDeleted: 'deletedProject',
    article: 'a',
    plural: 'projects',
    options: organizationOption,
    path: (context, { organization }) => apiPath`/projects/${context.organization({ organization })}`,
    parents: (context, { organization }) => ` -o ${context.organization({ organization })}`,
    flags: ' -o acme',
    sample: 'shop',
    contents: 'all its environments, their secrets, and the tokens for them',
  },
  env: {
    word: 'environment',
    completes: 'environment',
    completesDeleted: 'deletedEnvironment',
    article: 'an',
    plural: 'environments',
    options: projectOptions,
    path: (context, flags) => {
      const { organization, project } = context.project({ organization: undefined, project: undefined, ...flags });
      return apiPath`/environments/${organization}/${project}`;
    },
    parents: (context, flags) => {
      const { organization, project } = context.project({ organization: undefined, project: undefined, ...flags });
      return ` -o ${organization} -p ${project}`;
    },
    flags: ' -o acme -p shop',
    sample: 'production',
    contents: 'all its secrets and snapshots, and the tokens for it',
  },
};

/** What the path of a request names, as users write it: `acme/shop/production`. */
export function shownTenant(path: string): string {
  return path.split('/').slice(2).join('/');
}

export async function printTenant({ printer }: CommandContext, tenant: Tenant): Promise<void> {
  const fields: ObjectView['fields'] = [
    ['Slug', tenant.slug],
    ['Name', tenant.displayName],
    ['Id', tenant.id],
    ['Created', time(tenant.createdAt)],
    ...(tenant.revision === undefined ? [] : [['Revision', tenant.revision] as const]),
    ...(tenant.protected === true ? [['Protected', 'yes'] as const] : []),
    ...(tenant.impersonationForbidden === true ? [['Impersonation', 'forbidden'] as const] : []),
  ];
  await printer.object({ value: tenant, fields, name: tenant.slug });
}
