import type { EnvironmentView, OrganizationListView, OrganizationView } from '../../../wire/tenancy.ts';
import type { BodyOf } from '../../../client/call.ts';
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
  readonly endpoints: (typeof endpoints)[TenantKind];
  readonly plural: 'organizations' | 'projects' | 'environments';
  /** The flags that name its parents. */
  readonly options: Partial<typeof projectOptions>;
  /** The slugs of its parents. */
  readonly parents: (context: CommandContext, flags: Partial<ProjectFlags>) => Promise<readonly string[]>;
  /** Flags of its examples. */
  readonly flags: string;
  readonly sample: string;
  /** What is deleted with it. */
  readonly contents: string;
}

const endpoints = {
  org: {
    list: 'GET /organizations',
    create: 'POST /organizations',
    show: 'GET /organizations/{org}',
    rename: 'PATCH /organizations/{org}',
    delete: 'DELETE /organizations/{org}',
    undelete: 'POST /organizations/{org}/undelete',
    purge: 'POST /organizations/{org}/purge',
  },
  project: {
    list: 'GET /projects/{org}',
    create: 'POST /projects/{org}',
    show: 'GET /projects/{org}/{project}',
    rename: 'PATCH /projects/{org}/{project}',
    delete: 'DELETE /projects/{org}/{project}',
    undelete: 'POST /projects/{org}/{project}/undelete',
    purge: 'POST /projects/{org}/{project}/purge',
  },
  env: {
    list: 'GET /environments/{org}/{project}',
    create: 'POST /environments/{org}/{project}',
    show: 'GET /environments/{org}/{project}/{env}',
    rename: 'PATCH /environments/{org}/{project}/{env}',
    delete: 'DELETE /environments/{org}/{project}/{env}',
    undelete: 'POST /environments/{org}/{project}/{env}/undelete',
    purge: 'POST /environments/{org}/{project}/{env}/purge',
  },
} as const;

export const tenantKinds: Readonly<Record<TenantKind, Kind>> = {
  org: {
    word: 'organization',
    completes: 'organization',
    completesDeleted: 'deletedOrganization',
    article: 'an',
    plural: 'organizations',
    options: {},
    endpoints: endpoints.org,
    parents: () => Promise.resolve([]),
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
    endpoints: endpoints.project,
    parents: async (context, { organization }) => [await context.organization({ organization })],
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
    endpoints: endpoints.env,
    parents: async (context, flags) => {
      const { organization, project } = await context.project({
        organization: undefined,
        project: undefined,
        ...flags,
      });
      return [organization, project];
    },
    flags: ' -o acme -p shop',
    sample: 'production',
    contents: 'all its secrets and snapshots, and the tokens for it',
  },
};

/** The names in the path of an endpoint. Those below the last slug are empty. */
export function tenantParams([org = '', project = '', env = '']: readonly string[]): {
  readonly org: string;
  readonly project: string;
  readonly env: string;
} {
  return { org, project, env };
}

/** The flags that name the parents, in full, for a command that is suggested. */
export function parentFlags(parents: readonly string[]): string {
  return parents.map((parent, index) => ` ${['-o', '-p'][index]} ${parent}`).join('');
}

/** The entries of a list of any kind. */
export function listedTenants(list: BodyOf<(typeof endpoints)[TenantKind]['list']>): readonly ListedTenant[] {
  if ('organizations' in list) return list.organizations;
  return 'projects' in list ? list.projects : list.environments;
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
