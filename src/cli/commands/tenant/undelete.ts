import { apiPath } from '../../../client/api-client.ts';
import { type CommandDefinition, defineCommand } from '../../core/command.ts';
import { completing, argument } from '../../core/options.ts';
import { type Tenant, type TenantKind, printTenant, tenantKinds } from './tenant-kinds.ts';

/** `org undelete`, `project undelete`, `env undelete`. */
export function tenantUndeleteCommand(name: TenantKind): CommandDefinition {
  const { path, options: own, flags, sample, word, article, completesDeleted } = tenantKinds[name];
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
      const target = path(context, options) + apiPath`/${slug}/undelete`;
      await printTenant(context, await context.api().post<Tenant>(target));
    },
  });
}
