import { type CommandDefinition, defineCommand } from '../../command.ts';
import type { Column } from '../../terminal/printer.ts';
import { type Tenant, type TenantKind, tenantKinds } from './tenant-kinds.ts';
import { time } from '../../terminal/time.ts';

/** `org list`, `project list`, `env list`. */
export function tenantListCommand(name: TenantKind): CommandDefinition {
  const { path, plural, options: own, flags } = tenantKinds[name];
  return defineCommand({
    summary: `List ${plural}`,
    options: own,
    examples: [{ line: `${name} list${flags}`, note: `The ${plural} that you may see` }],
    async run(context, { options }) {
      const list = await context.api().get<Record<typeof plural, Tenant[]>>(path(context, options));
      const columns: Column<Tenant>[] = [
        { title: 'SLUG', cell: ({ slug }) => slug },
        { title: 'NAME', cell: ({ displayName }) => displayName, isCut: true },
        { title: 'ID', cell: ({ id }) => id },
        { title: 'CREATED', cell: ({ createdAt }) => time(createdAt) },
      ];
      await context.printer.list<Tenant>({
        value: list,
        rows: list[plural],
        columns: name === 'env' ? [...columns, { title: 'REVISION', cell: ({ revision }) => revision }] : columns,
        name: ({ slug }) => slug,
        whenEmpty: `There are no ${plural} that you may see. Create one: keyframe ${name} create <slug>${flags}`,
      });
    },
  });
}
