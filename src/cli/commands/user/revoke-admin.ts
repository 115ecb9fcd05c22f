import { type CommandDefinition, defineCommand } from '../../core/command.ts';
import { argument } from '../../core/options.ts';
import { setInstanceAdmin } from './user-view.ts';

/** `user revoke-admin <user>`, for administrators of the server. */
export const userRevokeAdminCommand: CommandDefinition = defineCommand({
  summary: 'Make an administrator of the server an ordinary user',
  description: 'The user keeps all roles in organizations. The last administrator cannot be revoked.',
  arguments: { user: argument('<user>', 'E-mail address or id of the user') },
  examples: [{ line: 'user revoke-admin ann@example.com', note: 'Asks for confirmation' }],
  run: (context, { args }) => setInstanceAdmin(context, args.user, false),
});
