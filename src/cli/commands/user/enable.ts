import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { argument } from '../../core/options.ts';
import { findUser, userFields } from './user-view.ts';

/** `user enable <user>`, for administrators of the server. */
export const userEnableCommand = defineCommand({
  summary: 'Enable a disabled user',
  arguments: { user: argument('<user>', 'E-mail address or id of the user') },
  examples: [{ line: 'user enable ann@example.com', note: 'The tokens of the user are valid again' }],
  async run(context, { args }) {
    const api = context.api();
    const { id } = await findUser(api, args.user);
    const { body: user } = await call(api, 'PATCH /users/{id}', { params: { id }, body: { disabled: false } });
    await context.printer.object({ value: user, fields: userFields(user), name: user.email });
  },
});
