import { call } from '../../../client/call.ts';
import { type CommandDefinition, defineCommand } from '../../core/command.ts';
import { completing, argument } from '../../core/options.ts';
import type { DeletionOutput } from '../../output/shapes.ts';
import { type TenantKind, parentFlags, tenantKinds, tenantParams } from './tenant-kinds.ts';

/** `org delete`, `project delete`, `env delete`: the user must type the slug. */
export function tenantDeleteCommand(name: TenantKind): CommandDefinition {
  const {
    endpoints,
    parents: parentsOf,
    options: own,
    flags,
    sample,
    word,
    article,
    completes,
    contents,
  } = tenantKinds[name];
  return defineCommand({
    summary: `Delete ${article} ${word} and everything in it`,
    description:
      `Also deletes ${contents}: they are inaccessible immediately. \`keyframe ${name} undelete\` takes it back, but ` +
      `not its service tokens, until an administrator of the server purges it. Until then the slug stays reserved.`,
    arguments: { slug: completing(completes, argument('<slug>', `Slug of the ${word}`)) },
    options: own,
    examples: [
      { line: `${name} delete ${sample}${flags}`, note: 'You must type the slug again to confirm' },
      { line: `${name} delete ${sample}${flags} --yes`, note: 'In a script' },
    ],
    async run(context, { args: { slug }, options }) {
      const api = context.api();
      const parents = await parentsOf(context, options);
      const slugs = [...parents, slug];
      const params = tenantParams(slugs);
      // Reports what does not exist, or what the user may not see, before asking.
      const { id } = (await call(api, endpoints.show, { params })).body;
      const place = slugs.join('/');
      await context.confirmByTyping(`This deletes ${word} ${place} with ${contents}.`, slug);
      await call(api, endpoints.delete, { params });
      const value = { kind: word, action: 'deleted', id, name: slug } satisfies DeletionOutput;
      const sentence =
        `The ${word} ${place} is deleted. To take it back: keyframe ${name} undelete ${slug}${parentFlags(parents)}. ` +
        'The service tokens that the deletion ended stay ended; create new ones then.';
      await context.printer.done({ value, sentence, name: slug });
    },
  });
}
