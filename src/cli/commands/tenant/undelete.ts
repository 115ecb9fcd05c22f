import { call } from '../../../client/call.ts';
import { type CommandDefinition, defineCommand } from '../../core/command.ts';
import { completing, argument } from '../../core/options.ts';
import { type TenantKind, printTenant, tenantKinds, tenantParams } from './tenant-kinds.ts';

/** `org undelete`, `project undelete`, `env undelete`. */
export function tenantUndeleteCommand(name: TenantKind): CommandDefinition {
  const { endpoints, parents, options: own, flags, sample, word, article, completesDeleted } = tenantKinds[name];
  const needed =
    name === 'org'
      ? 'Requires an administrator of the server.'
      : 'Requires the role admin or owner in the organization.';
  return defineCommand({
    summary: `Take the deletion of ${article} ${word} back`,
    description:
      `The ${word} has everything that it had, except its service tokens: none is valid again. Those that people made are ` +
      'revoked; create new ones. Those of ServiceTokens in Kubernetes get new values by themselves. What was deleted in ' +
      `it before stays deleted. See what is deleted with \`keyframe ${name} list --deleted\`. ${needed}`,
    arguments: { slug: completing(completesDeleted, argument('<slug>', `Slug of the deleted ${word}`)) },
    options: own,
    examples: [{ line: `${name} undelete ${sample}${flags}`, note: `If it is not deleted, nothing changes` }],
    async run(context, { args: { slug }, options }) {
      const params = tenantParams([...(await parents(context, options)), slug]);
      await printTenant(context, (await call(context.api(), endpoints.undelete, { params })).body);
    },
  });
}
