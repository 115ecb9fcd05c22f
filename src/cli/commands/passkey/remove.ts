import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import type { DeletionOutput } from '../../output/shapes.ts';
import { findPasskey, passkeyArgument, passkeyTitle, passkeyUserOption } from './passkey-view.ts';

/** `passkey remove <passkey>`. */
export const passkeyRemoveCommand = defineCommand({
  summary: 'Remove a passkey, and end its sessions',
  description: 'The passkey signs in no more. To undo this, register it again in a browser.',
  arguments: { given: passkeyArgument },
  options: passkeyUserOption,
  examples: [
    { line: 'passkey remove "Old laptop"', note: 'Asks for confirmation' },
    { line: 'passkey remove latest --user ann@example.com --yes', note: 'The newest one of another user' },
  ],
  async run({ api, confirm, printer }, { args: { given }, options: { user } }) {
    const client = api();
    const found = await findPasskey(client, given, user);
    const { id, passkey, userId, whose } = found;
    await confirm(`Remove passkey ${passkeyTitle(found)} of ${whose}?`);
    if (userId === undefined) await call(client, 'DELETE /passkeys/{id}', { params: { id } });
    else await call(client, 'DELETE /users/{id}/passkeys/{passkey}', { params: { id: userId, passkey: id } });
    const name = passkey?.name ?? null;
    const value = { kind: 'passkey', action: 'removed', id, name } satisfies DeletionOutput;
    await printer.done({ value, sentence: `Passkey ${passkeyTitle(found)} is removed.`, name: id });
  },
});
