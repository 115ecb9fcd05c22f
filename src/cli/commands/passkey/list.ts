import { defineCommand } from '../../core/command.ts';
import { time } from '../../terminal/time.ts';
import { listPasskeys, passkeyState, passkeyUserOption } from './passkey-view.ts';

/** `passkey list`. */
export const passkeyListCommand = defineCommand({
  summary: 'List the passkeys with which you sign in to a browser',
  description:
    'Newest first. HOST is the one that a passkey is for. CREATED BY names another person with whose token or link a passkey was registered. To register a passkey, open /sign-in-methods of the server in a browser.',
  options: passkeyUserOption,
  examples: [
    { line: 'passkey list', note: 'Your own passkeys' },
    { line: 'passkey list --user ann@example.com', note: 'Those of another user' },
  ],
  async run({ api, printer }, { options: { user } }) {
    const { list } = await listPasskeys(api(), user);
    await printer.list({
      value: list,
      rows: list.passkeys,
      columns: [
        { title: 'ID', cell: ({ id }) => id },
        { title: 'NAME', cell: ({ name }) => name, isCut: true },
        { title: 'STATE', cell: passkeyState },
        { title: 'REGISTERED', cell: ({ createdAt }) => time(createdAt) },
        { title: 'LAST USED', cell: ({ lastUsedAt }) => time(lastUsedAt) ?? 'never' },
        { title: 'HOST', cell: ({ rpId }) => rpId },
        { title: 'CREATED BY', cell: ({ createdBy }) => createdBy?.name },
      ],
      name: ({ id }) => id,
      whenEmpty: 'There are no passkeys. To register one, open /sign-in-methods of the server in a browser.',
    });
  },
});
