import { type CommandDefinition, defineCommand } from '../../command.ts';
import { argument, text } from '../../options.ts';
import { type Tenant, type TenantKind, printTenant, tenantKinds } from './tenant-kinds.ts';

/** `org create`, `project create`, `env create`. */
export function tenantCreateCommand(name: TenantKind): CommandDefinition {
  const { path, options: own, flags, sample, word, article } = tenantKinds[name];
  return defineCommand({
    summary: `Create ${article} ${word}`,
    description: 'Addresses and commands use the slug. It is immutable.',
    arguments: { slug: argument('<slug>', 'Lower-case letters, digits and hyphens') },
    options: { ...own, displayName: text('-n, --name <name>', 'Display name (default: the slug)') },
    examples: [{ line: `${name} create ${sample}${flags}`, note: `Create the ${word} ${sample}` }],
    async run(context, { args: { slug }, options }) {
      const { displayName, ...place } = options;
      const body = { slug, ...(displayName === undefined ? {} : { displayName }) };
      await printTenant(context, await context.api().post<Tenant>(path(context, place), body));
    },
  });
}
