import { type CommandDefinition, defineCommand } from '../../core/command.ts';
import { completing, argument } from '../../core/options.ts';
import { setImpersonation } from './impersonation.ts';

/** `org allow-impersonation <slug>`, for owners. */
export const orgAllowImpersonationCommand: CommandDefinition = defineCommand({
  summary: 'Accept tokens that another user created (for owners)',
  description: 'Tokens that an administrator of the server created for a member work again in this organization.',
  arguments: { slug: completing('organization', argument('<slug>', 'Slug of the organization')) },
  examples: [{ line: 'org allow-impersonation acme', note: 'Undo org forbid-impersonation' }],
  run: (context, { args }) => setImpersonation(context, args.slug, false),
});
