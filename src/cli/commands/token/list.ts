import { call } from '../../../client/call.ts';
import type { PersonalTokenView } from '../../../wire/personal-tokens.ts';
import { defineCommand } from '../../core/command.ts';
import { time } from '../../terminal/time.ts';
import { tokenState } from '../../../wire/token-state.ts';

/** Empty for a token that the user created. */
function creatorText({ createdBy }: PersonalTokenView): string | null {
  if (createdBy === null) return null;
  return createdBy.derived ? `you, with a token of ${createdBy.name}` : createdBy.name;
}

/** `token list`. */
export const tokenListCommand = defineCommand({
  summary: 'List your personal tokens',
  description: 'Newest first, including revoked and expired tokens. CREATED BY is empty for tokens that you created.',
  examples: [{ line: 'token list', note: 'Your own tokens' }],
  async run({ api, printer }) {
    const { body: list } = await call(api(), 'GET /personal-tokens');
    const now = new Date();
    await printer.list({
      value: list,
      rows: list.personalTokens,
      columns: [
        { title: 'ID', cell: ({ id }) => id },
        { title: 'NAME', cell: ({ name }) => name, isCut: true },
        { title: 'STATE', cell: (token) => tokenState(token, now) },
        { title: 'EXPIRES', cell: ({ expiresAt }) => time(expiresAt) ?? 'never' },
        { title: 'LAST USED', cell: ({ lastUsedAt }) => time(lastUsedAt) },
        { title: 'CREATED BY', cell: creatorText },
      ],
      name: ({ id }) => id,
      whenEmpty: 'You have no personal tokens.',
    });
  },
});
