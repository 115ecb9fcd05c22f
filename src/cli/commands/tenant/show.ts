import { apiPath } from '../../../client/api-client.ts';
import { type CommandDefinition, defineCommand } from '../../core/command.ts';
import { completing, argument } from '../../core/options.ts';
import { type Tenant, type TenantKind, printTenant, tenantKinds } from './tenant-kinds.ts';

/** `org show`, `project show`, `env show`. */
export function tenantShowCommand(name: TenantKind): CommandDefinition {
  const { path, options: own, flags, sample, word, article, completes } = tenantKinds[name];
  return defineCommand({
    summary: `Show ${article} ${word}`,
    arguments: { slug: completing(completes, argument('<slug>', `Slug of the ${word}`)) },
    options: own,
    examples: [{ line: `${name} show ${sample}${flags}`, note: 'Its id and display name' }],
    async run(context, { args: { slug }, options }) {
      await printTenant(context, await context.api().get<Tenant>(path(context, options) + apiPath`/${slug}`));
    },
  });
}
