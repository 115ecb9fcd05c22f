import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { argument } from '../../core/options.ts';
import { findUser, userFields } from './user-view.ts';

/** `user set-email <user> <address>`, for administrators of the server. */
export const userSetEmailCommand = defineCommand({
  summary: 'Give a disabled user another e-mail address',
  description:
    'The address is the name of a user. The user keeps id, roles and history; entries in the history and in the audit ' +
    'keep the former address. The former address is free for another user. Disable the user before.',
  arguments: {
    user: argument('<user>', 'E-mail address or id of the user'),
    address: argument('<address>', 'New e-mail address'),
  },
  examples: [{ line: 'user set-email ann@example.com ann.lee@example.com', note: 'Then run `user enable`' }],
  async run(context, { args }) {
    const api = context.api();
    const { id } = await findUser(api, args.user);
    const { body: user } = await call(api, 'PATCH /users/{id}', { params: { id }, body: { email: args.address } });
    await context.printer.object({ value: user, fields: userFields(user), name: user.email });
  },
});
