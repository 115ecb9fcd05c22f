import type { PersonalTokenView } from '../../wire/personal-tokens.ts';
import { defineCommand } from '../command.ts';
import { tokenState } from '../token-state.ts';

/** `token list`. */
export const tokenListCommand = defineCommand({
  description: 'The newest comes first. Revoked and expired ones are listed too.',
  examples: [{ line: 'token list', note: 'Your own tokens' }],
  async run({ api, printer }) {
    const list = await api().get<{ personalTokens: PersonalTokenView[] }>('/personal-tokens');
    const now = new Date();
    await printer.list({
      value: list,
      rows: list.personalTokens,
      columns: [
        { title: 'ID', cell: ({ id }) => id },
        { title: 'NAME', cell: ({ name }) => name },
        { title: 'STATE', cell: (token) => tokenState(token, now) },
        { title: 'EXPIRES', cell: ({ expiresAt }) => expiresAt ?? 'never' },
        { title: 'LAST USED', cell: ({ lastUsedAt }) => lastUsedAt },
      ],
      name: ({ id }) => id,
      whenEmpty: 'You have no personal tokens.',
    });
  },
});
