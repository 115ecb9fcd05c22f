import { type CommandDefinition, defineCommand } from '../../core/command.ts';
import { argument } from '../../core/options.ts';
import { setInstanceAdmin } from './user-view.ts';

/** `user grant-admin <user>`, for administrators of the server. */
export const userGrantAdminCommand: CommandDefinition = defineCommand({
  summary: 'Make a user an administrator of the server',
  description:
    'An administrator manages all users and can create tokens for them, and can therefore act as any user. An organization can forbid that: org forbid-impersonation.',
  arguments: { user: argument('<user>', 'E-mail address or id of the user') },
  examples: [{ line: 'user grant-admin ann@example.com', note: 'Asks for confirmation' }],
  run: (context, { args }) => setInstanceAdmin(context, args.user, true),
});
