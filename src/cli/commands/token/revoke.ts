import { apiPath } from '../../../client/api-client.ts';
import { defineCommand } from '../../command.ts';
import { completing, argument } from '../../options.ts';

/** `token revoke <id>`. It does not ask: a leaked token has to end now. */
export const tokenRevokeCommand = defineCommand({
  summary: 'Revoke one of your personal tokens',
  description: 'The token is refused from the next request on. It does not ask first, and cannot be undone.',
  arguments: { id: completing('personalToken', argument('<id>', 'Id of the token, as token list shows it')) },
  examples: [{ line: 'token revoke 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e', note: 'It ends at once' }],
  async run({ api, io }, { args: { id } }) {
    await api().delete(apiPath`/personal-tokens/${id}`);
    io.note(`Personal token ${id} is revoked.`);
  },
});
