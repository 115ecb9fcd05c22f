import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { argument } from '../../core/options.ts';
import type { DeletionOutput } from '../../output/shapes.ts';
import { identityOwner, identityUserOption } from './identity-owner.ts';

/** `identity remove <id>`. */
export const identityRemoveCommand = defineCommand({
  summary: 'Unlink an account of OpenID Connect, and end its sessions',
  description: 'The account signs in no more, and the groups of its sign-ins no longer count.',
  arguments: { id: argument('<id>', 'Id of the linked account, as `identity list` shows it') },
  options: identityUserOption,
  examples: [
    { line: 'identity remove 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e', note: 'Asks for confirmation' },
    {
      line: 'identity remove 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e --user ann@example.com --yes',
      note: 'One of another user, in a script',
    },
  ],
  async run({ api, confirm, printer }, { args: { id }, options: { user } }) {
    const client = api();
    const { userId, whose } = await identityOwner(client, user);
    await confirm(`Unlink account ${id} of ${whose}?`);
    if (userId === undefined) await call(client, 'DELETE /identities/{id}', { params: { id } });
    else await call(client, 'DELETE /users/{id}/identities/{identity}', { params: { id: userId, identity: id } });
    const value = { kind: 'identity', action: 'removed', id, name: null } satisfies DeletionOutput;
    await printer.done({ value, sentence: `Account ${id} is unlinked.`, name: id });
  },
});
