import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { argument, flag } from '../../core/options.ts';
import { findUser, userFields } from './user-view.ts';

/** `user disable <user>`, for administrators of the server. */
export const userDisableCommand = defineCommand({
  summary: 'Disable a user',
  description:
    'All tokens of the user are refused from the next request, until user enable. Sessions of the user end. Service tokens are not affected.',
  arguments: { user: argument('<user>', 'E-mail address or id of the user') },
  options: {
    force: flag('--force', 'Also if an organization is left without an owner who is not disabled'),
  },
  examples: [
    { line: 'user disable ann@example.com', note: 'Asks for confirmation' },
    { line: 'user disable ann@example.com --force', note: 'Then run `member appoint-owner`' },
  ],
  async run(context, { args, options }) {
    const api = context.api();
    const { id, email } = await findUser(api, args.user);
    await context.confirm(`Disable ${email}?`);
    const body = { disabled: true, ...(options.force ? { force: true } : {}) };
    const { body: user } = await call(api, 'PATCH /users/{id}', { params: { id }, body });
    await context.printer.object({ value: user, fields: userFields(user), name: user.email });
  },
});
