import { call } from '../../../client/call.ts';
import { type CommandDefinition, defineCommand } from '../../core/command.ts';
import { flag, type Option } from '../../core/options.ts';
import type { Column } from '../../terminal/printer.ts';
import { type ListedTenant, type TenantKind, listedTenants, tenantKinds, tenantParams } from './tenant-kinds.ts';
import { time } from '../../terminal/time.ts';

const allOption = flag('--all', 'List every organization with its owners; for administrators of the server');

/** `org list`, `project list`, `env list`. */
export function tenantListCommand(name: TenantKind): CommandDefinition {
  const { endpoints, parents, plural, options: own, flags } = tenantKinds[name];
  const who = name === 'org' ? 'administrators of the server' : 'the roles admin and owner';
  const ofOrganizations: { all?: Option<boolean> } = name === 'org' ? { all: allOption } : {};
  return defineCommand({
    summary: `List ${plural}`,
    options: { ...own, ...ofOrganizations, deleted: flag('--deleted', `List the deleted ones instead; for ${who}`) },
    examples: [
      { line: `${name} list${flags}`, note: `The ${plural} that you may see` },
      ...(name === 'org'
        ? [{ line: 'org list --all', note: 'Also those without an owner, such as a SecretEnvironment creates' }]
        : []),
      { line: `${name} list${flags} --deleted`, note: `What \`keyframe ${name} undelete\` can take back` },
    ],
    async run(context, { options }) {
      const { deleted, all = false, ...place } = options;
      const query = { ...(all ? { all: 'true' as const } : {}), ...(deleted ? { deleted: 'true' as const } : {}) };
      const params = tenantParams(await parents(context, place));
      const { body: list } = await call(context.api(), endpoints.list, { params, query });
      const rows = listedTenants(list);
      const columns: Column<ListedTenant>[] = [
        { title: 'SLUG', cell: ({ slug }) => slug },
        { title: 'NAME', cell: ({ displayName }) => displayName, isCut: true },
        { title: 'ID', cell: ({ id }) => id },
        { title: 'CREATED', cell: ({ createdAt }) => time(createdAt) },
        ...(name === 'env' ? environmentColumns(rows) : []),
        ...(name === 'org' && (all || deleted) ? [{ title: 'OWNERS', cell: shownOwners }] : []),
        ...(deleted ? [{ title: 'DELETED', cell: ({ deletedAt }: ListedTenant) => deletedAt && time(deletedAt) }] : []),
      ];
      await context.printer.list<ListedTenant>({
        value: list,
        rows,
        columns,
        name: ({ slug }) => slug,
        whenEmpty: deleted
          ? `There are no deleted ${plural} here that are not purged`
          : `There are no ${plural} that you may see. Create one: keyframe ${name} create <slug>${flags}`,
      });
    },
  });
}

/** The columns that only environments have. */
function environmentColumns(environments: readonly ListedTenant[]): Column<ListedTenant>[] {
  const isAnyProtected = environments.some((environment) => environment.protected === true);
  return [{ title: 'REVISION', cell: ({ revision }) => revision }, ...(isAnyProtected ? [protectedColumn] : [])];
}

const protectedColumn: Column<ListedTenant> = {
  title: 'PROTECTED',
  cell: (environment) => (environment.protected === true ? 'yes' : 'no'),
};

/** The e-mail addresses of the owners. A disabled one cannot use the organization. */
function shownOwners({ owners = [] }: ListedTenant): string {
  if (owners.length === 0) return 'no owner';
  return owners.map(({ email, disabled }) => (disabled ? `${email} (disabled)` : email)).join(', ');
}
