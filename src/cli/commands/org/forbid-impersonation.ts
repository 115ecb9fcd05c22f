import { type CommandDefinition, defineCommand } from '../../core/command.ts';
import { completing, argument } from '../../core/options.ts';
import { setImpersonation } from './impersonation.ts';

/** `org forbid-impersonation <slug>`, for owners. */
export const orgForbidImpersonationCommand: CommandDefinition = defineCommand({
  summary: 'Refuse tokens that another user created (for owners)',
  description:
    'An administrator of the server can create a token for another user and act as that user. From now on such ' +
    'tokens are refused in this organization, and so are tokens that are created with them. Tokens that the members ' +
    'created for themselves until now keep working.',
  arguments: { slug: completing('organization', argument('<slug>', 'Slug of the organization')) },
  examples: [{ line: 'org forbid-impersonation acme', note: 'Accept only tokens that their users created' }],
  run: (context, { args }) => setImpersonation(context, args.slug, true),
});
