import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { argument, requiredText } from '../../core/options.ts';
import { expiryOf, lifetimeOption } from '../token/lifetime.ts';
import { printNewPersonalToken } from '../token/personal-token-view.ts';
import { findUser } from './user-view.ts';

/** `user token <user>`, for administrators of the server. */
export const userTokenCommand = defineCommand({
  summary: 'Create a personal token for another user; it is shown once',
  description:
    'For a user who has lost all tokens. The audit log names you as its creator. Organizations that forbid impersonation refuse it.',
  arguments: { user: argument('<user>', 'E-mail address or id of the user') },
  createsToken: true,
  options: { name: requiredText('-n, --name <name>', 'Name of the token'), lifetime: lifetimeOption('never') },
  examples: [
    {
      line: 'user token ann@example.com -n recovery --expires-in 1d --output token',
      note: 'A token for one day; print only the token',
    },
  ],
  async run({ api, io, printer }, { args, options: { name, lifetime } }) {
    const client = api();
    const { id } = await findUser(client, args.user);
    const body = { name, ...(await expiryOf(client, lifetime)) };
    const { body: created } = await call(client, 'POST /users/{id}/personal-tokens', { params: { id }, body });
    await printNewPersonalToken({ io, printer }, created);
  },
});
