import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { time } from '../../terminal/time.ts';

/** `user list`, for administrators of the server. */
export const userListCommand = defineCommand({
  summary: 'List all users',
  examples: [{ line: 'user list', note: 'All users, by e-mail address' }],
  async run({ api, printer }) {
    const { body: list } = await call(api(), 'GET /users');
    await printer.list({
      value: list,
      rows: list.users,
      columns: [
        { title: 'EMAIL', cell: ({ email }) => email },
        { title: 'NAME', cell: ({ displayName }) => displayName, isCut: true },
        { title: 'ID', cell: ({ id }) => id },
        { title: 'ADMINISTRATOR', cell: ({ instanceAdmin }) => (instanceAdmin ? 'yes' : 'no') },
        { title: 'DISABLED', cell: ({ disabledAt }) => time(disabledAt) ?? 'no' },
      ],
      name: ({ email }) => email,
      whenEmpty: 'There are no users.',
    });
  },
});
