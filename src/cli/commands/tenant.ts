import type { EnvironmentView, OrganizationView } from '../../wire/tenancy.ts';
import { apiPath } from '../../client/api-client.ts';
import { type CommandContext, type CommandDefinition, defineCommand } from '../command.ts';
import { argument, organizationOption, projectOptions, requiredText, text } from '../options.ts';
import type { Column, ObjectView } from '../printer.ts';
import type { ProjectFlags } from '../scope.ts';

/** The commands of `org`, `project` and `env`, which differ in what they stand in alone. */

export type TenantKind = 'org' | 'project' | 'env';

/** One of the three; only an environment has a revision, and only an organization a rule on impersonation. */
type Tenant = Omit<OrganizationView, 'impersonationForbidden'> &
  Partial<Pick<OrganizationView, 'impersonationForbidden'>> &
  Partial<Pick<EnvironmentView, 'revision' | 'revisionId'>>;

interface Kind {
  readonly word: string;
  /** The field of the list's answer. */
  readonly plural: 'organizations' | 'projects' | 'environments';
  /** The flags that say what it stands in; those that do not belong to the kind are absent. */
  readonly options: Partial<typeof projectOptions>;
  /** The path of the list. */
  readonly path: (context: CommandContext, flags: Partial<ProjectFlags>) => string;
  /** Flags of its examples. */
  readonly flags: string;
  readonly sample: string;
  /** What goes with it, told before it is deleted. */
  readonly contents: string;
}

const kinds: Readonly<Record<TenantKind, Kind>> = {
  org: {
    word: 'organization',
    plural: 'organizations',
    options: {},
    path: () => '/organizations',
    flags: '',
    sample: 'acme',
    contents: 'all its projects, environments, secrets and tokens',
  },
  project: {
    word: 'project',
    plural: 'projects',
    options: organizationOption,
    path: (context, { organization }) => apiPath`/projects/${context.organization({ organization })}`,
    flags: ' -o acme',
    sample: 'shop',
    contents: 'all its environments, their secrets, and the tokens for them',
  },
  env: {
    word: 'environment',
    plural: 'environments',
    options: projectOptions,
    path: (context, flags) => {
      const { organization, project } = context.project({ organization: undefined, project: undefined, ...flags });
      return apiPath`/environments/${organization}/${project}`;
    },
    flags: ' -o acme -p shop',
    sample: 'production',
    contents: 'all its secrets and snapshots, and the tokens for it',
  },
};

/** `org list`, `project list`, `env list`. */
export function tenantListCommand(name: TenantKind): CommandDefinition {
  const { path, plural, options: own, flags } = kinds[name];
  return defineCommand({
    options: own,
    examples: [{ line: `${name} list${flags}`, note: `The ${plural} that you may see` }],
    async run(context, { options }) {
      const list = await context.api().get<Record<Kind['plural'], Tenant[]>>(path(context, options));
      const columns: Column<Tenant>[] = [
        { title: 'SLUG', cell: ({ slug }) => slug },
        { title: 'NAME', cell: ({ displayName }) => displayName },
        { title: 'ID', cell: ({ id }) => id },
        { title: 'CREATED', cell: ({ createdAt }) => createdAt },
      ];
      await context.printer.list<Tenant>({
        value: list,
        rows: list[plural],
        columns: name === 'env' ? [...columns, { title: 'REVISION', cell: ({ revision }) => revision }] : columns,
        name: ({ slug }) => slug,
        whenEmpty: `There are no ${plural} that you may see. Make one: keyframe ${name} create <slug>${flags}`,
      });
    },
  });
}

/** `org create`, `project create`, `env create`. */
export function tenantCreateCommand(name: TenantKind): CommandDefinition {
  const { path, options: own, flags, sample } = kinds[name];
  return defineCommand({
    description: 'The slug stands in addresses and commands. It can never be changed.',
    arguments: { slug: argument('<slug>', 'Lower-case letters, digits and hyphens') },
    options: { ...own, displayName: text('-n, --name <name>', 'A name for people (default: the slug)') },
    examples: [{ line: `${name} create ${sample}${flags}`, note: 'Make it' }],
    async run(context, { args: { slug }, options }) {
      const { displayName, ...place } = options;
      const body = { slug, ...(displayName === undefined ? {} : { displayName }) };
      await print(context, await context.api().post<Tenant>(path(context, place), body));
    },
  });
}

/** `org show`, `project show`, `env show`. */
export function tenantShowCommand(name: TenantKind): CommandDefinition {
  const { path, options: own, flags, sample } = kinds[name];
  return defineCommand({
    arguments: { slug: argument('<slug>', 'Its slug') },
    options: own,
    examples: [{ line: `${name} show ${sample}${flags}`, note: 'Its id and name' }],
    async run(context, { args: { slug }, options }) {
      await print(context, await context.api().get<Tenant>(path(context, options) + apiPath`/${slug}`));
    },
  });
}

/** `org rename`, `project rename`, `env rename`. */
export function tenantRenameCommand(name: TenantKind): CommandDefinition {
  const { path, options: own, flags, sample } = kinds[name];
  return defineCommand({
    arguments: { slug: argument('<slug>', 'Its slug') },
    options: { ...own, displayName: requiredText('-n, --name <name>', 'The new name for people') },
    examples: [{ line: `${name} rename ${sample}${flags} -n 'New name'`, note: 'The slug stays as it is' }],
    async run(context, { args: { slug }, options }) {
      const { displayName, ...place } = options;
      const changed = await context.api().patch<Tenant>(path(context, place) + apiPath`/${slug}`, { displayName });
      await print(context, changed);
    },
  });
}

/** `org delete`, `project delete`, `env delete`: the slug has to be typed. */
export function tenantDeleteCommand(name: TenantKind): CommandDefinition {
  const { path, options: own, flags, sample, word, contents } = kinds[name];
  return defineCommand({
    description:
      `With it goes ${contents}: they are out of reach at once. The slug stays taken until an administrator of the ` +
      'server purges it.',
    arguments: { slug: argument('<slug>', 'Its slug') },
    options: own,
    examples: [
      { line: `${name} delete ${sample}${flags}`, note: 'Asks for the slug once more' },
      { line: `${name} delete ${sample}${flags} --yes`, note: 'In a script' },
    ],
    async run(context, { args: { slug }, options }) {
      const api = context.api();
      const target = path(context, options) + apiPath`/${slug}`;
      // What is not there, or not theirs to see, is told before anybody is asked.
      await api.get<Tenant>(target);
      await context.confirmByTyping(`This deletes ${word} ${slug} with ${contents}.`, slug);
      await api.delete(target);
      context.io.note(`The ${word} ${slug} is deleted.`);
    },
  });
}

async function print({ printer }: CommandContext, tenant: Tenant): Promise<void> {
  const fields: ObjectView['fields'] = [
    ['Slug', tenant.slug],
    ['Name', tenant.displayName],
    ['Id', tenant.id],
    ['Created', tenant.createdAt],
    ...(tenant.revision === undefined ? [] : [['Revision', tenant.revision] as const]),
    ...(tenant.impersonationForbidden === true ? [['Impersonation', 'forbidden'] as const] : []),
  ];
  await printer.object({ value: tenant, fields, name: tenant.slug });
}
