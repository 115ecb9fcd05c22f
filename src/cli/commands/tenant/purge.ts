import { call } from '../../../client/call.ts';
import { type CommandDefinition, defineCommand } from '../../core/command.ts';
import { completing, argument } from '../../core/options.ts';
import type { DeletionOutput } from '../../output/shapes.ts';
import { type TenantKind, tenantKinds, tenantParams } from './tenant-kinds.ts';

/** `org purge`, `project purge`, `env purge`: the user must type the slug. */
export function tenantPurgeCommand(name: TenantKind): CommandDefinition {
  const { endpoints, parents, options: own, flags, sample, word, completesDeleted, contents } = tenantKinds[name];
  return defineCommand({
    summary: `Remove a deleted ${word} permanently`,
    description:
      `Removes the ${word} with ${contents}, and its history. The audit stays, and the slug is free again. This cannot ` +
      `be undone. The ${word} must be deleted before. Requires an administrator of the server.`,
    arguments: { slug: completing(completesDeleted, argument('<slug>', `Slug of the deleted ${word}`)) },
    options: own,
    examples: [
      { line: `${name} purge ${sample}${flags}`, note: 'You must type the slug again to confirm' },
      { line: `${name} purge ${sample}${flags} --yes`, note: 'In a script' },
    ],
    async run(context, { args: { slug }, options }) {
      const slugs = [...(await parents(context, options)), slug];
      const place = slugs.join('/');
      await context.confirmByTyping(
        `This permanently removes ${word} ${place} with ${contents}, and cannot be undone.`,
        slug,
      );
      await call(context.api(), endpoints.purge, { params: tenantParams(slugs) });
      const value = { kind: word, action: 'purged', id: null, name: slug } satisfies DeletionOutput;
      await context.printer.done({ value, sentence: `The ${word} ${place} is purged.`, name: slug });
    },
  });
}
