import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { argument, flag, text } from '../../core/options.ts';
import { noteShownOnce } from '../token/shown-once.ts';
import { userFields } from './user-view.ts';

/** `user create <email>`, for administrators of the server. */
export const userCreateCommand = defineCommand({
  summary: 'Create a user; their first token is shown once',
  description:
    'The user is not a member of any organization yet: invite them with keyframe member set or keyframe role set.',
  createsToken: true,
  arguments: { email: argument('<email>', 'E-mail address') },
  options: {
    displayName: text('-n, --name <name>', 'Display name'),
    instanceAdmin: flag('--admin', 'Make the user an administrator of the server'),
  },
  examples: [{ line: "user create ann@example.com -n 'Ann Miller'", note: 'Create a user and print the first token' }],
  async run({ api, io, printer }, { args: { email }, options: { displayName, instanceAdmin } }) {
    const body = { email, displayName, ...(instanceAdmin ? { instanceAdmin } : {}) };
    const { body: created } = await call(api(), 'POST /users', { body });
    const fields = [...userFields(created), ['Token', created.token] as const];
    await printer.object({ value: created, fields, name: created.email, token: created.token });
    noteShownOnce({ io, printer });
  },
});
