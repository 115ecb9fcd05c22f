import { apiPath } from '../../../client/api-client.ts';
import { defineCommand } from '../../command.ts';
import { completing, argument } from '../../options.ts';
import type { DeletionOutput } from '../../output/shapes.ts';

/** `token revoke <id>`. No confirmation: a leaked token must be revoked immediately. */
export const tokenRevokeCommand = defineCommand({
  summary: 'Revoke one of your personal tokens',
  description: 'The next request with the token is refused. There is no confirmation, and it cannot be undone.',
  arguments: { id: completing('personalToken', argument('<id>', 'Id of the token, from token list')) },
  examples: [{ line: 'token revoke 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e', note: 'Revoke it immediately' }],
  async run({ api, printer }, { args: { id } }) {
    await api().delete(apiPath`/personal-tokens/${id}`);
    const value = { kind: 'personal_token', action: 'revoked', id, name: null } satisfies DeletionOutput;
    await printer.done({ value, sentence: `Personal token ${id} is revoked.`, name: id });
  },
});
