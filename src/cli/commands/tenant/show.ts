import { call } from '../../../client/call.ts';
import { type CommandDefinition, defineCommand } from '../../core/command.ts';
import { completing, argument } from '../../core/options.ts';
import { type TenantKind, printTenant, tenantKinds, tenantParams } from './tenant-kinds.ts';

/** `org show`, `project show`, `env show`. */
export function tenantShowCommand(name: TenantKind): CommandDefinition {
  const { endpoints, parents, options: own, flags, sample, word, article, completes } = tenantKinds[name];
  return defineCommand({
    summary: `Show ${article} ${word}`,
    arguments: { slug: completing(completes, argument('<slug>', `Slug of the ${word}`)) },
    options: own,
    examples: [{ line: `${name} show ${sample}${flags}`, note: 'Its id and display name' }],
    async run(context, { args: { slug }, options }) {
      const params = tenantParams([...(await parents(context, options)), slug]);
      await printTenant(context, (await call(context.api(), endpoints.show, { params })).body);
    },
  });
}
