import { call } from '../../../client/call.ts';
import { type CommandDefinition, defineCommand } from '../../core/command.ts';
import { completing, argument, requiredText } from '../../core/options.ts';
import { type TenantKind, printTenant, tenantKinds, tenantParams } from './tenant-kinds.ts';

/** `org rename`, `project rename`, `env rename`. */
export function tenantRenameCommand(name: TenantKind): CommandDefinition {
  const { endpoints, parents, options: own, flags, sample, word, article, completes } = tenantKinds[name];
  return defineCommand({
    summary: `Change the display name of ${article} ${word}; the slug is immutable`,
    arguments: { slug: completing(completes, argument('<slug>', `Slug of the ${word}`)) },
    options: { ...own, displayName: requiredText('-n, --name <name>', 'New display name') },
    examples: [{ line: `${name} rename ${sample}${flags} -n 'New name'`, note: 'The slug does not change' }],
    async run(context, { args: { slug }, options }) {
      const { displayName, ...place } = options;
      const params = tenantParams([...(await parents(context, place)), slug]);
      const changed = await call(context.api(), endpoints.rename, { params, body: { displayName } });
      await printTenant(context, changed.body);
    },
  });
}
