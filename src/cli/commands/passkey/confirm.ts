import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { time } from '../../terminal/time.ts';
import { findPasskey, passkeyArgument, passkeyState, passkeyTitle, passkeyUserOption } from './passkey-view.ts';

/** `passkey confirm <passkey>`. */
export const passkeyConfirmCommand = defineCommand({
  summary: 'Make a passkey usable after a restore from a backup',
  description:
    'A restore brings back passkeys that were removed since the backup, so none works until it is confirmed. Confirm only passkeys that their user still has.',
  arguments: { given: passkeyArgument },
  options: passkeyUserOption,
  examples: [
    { line: 'passkey confirm Laptop', note: 'Asks for confirmation' },
    { line: 'passkey confirm Phone --user ann@example.com --yes', note: 'One of another user, in a script' },
  ],
  async run({ api, confirm, printer }, { args: { given }, options: { user } }) {
    const client = api();
    const found = await findPasskey(client, given, user);
    const { id, passkey, userId, whose } = found;
    await confirm(`Let passkey ${passkeyTitle(found)} of ${whose} sign in again?`);
    if (userId === undefined) await call(client, 'POST /passkeys/{id}/confirm', { params: { id } });
    else await call(client, 'POST /users/{id}/passkeys/{passkey}/confirm', { params: { id: userId, passkey: id } });
    // The server has refused an id that the list lacks.
    if (passkey === undefined) return;
    const confirmed = { ...passkey, unusableSince: null };
    await printer.object({
      value: confirmed,
      fields: [
        ['Name', confirmed.name],
        ['Id', id],
        ['State', passkeyState(confirmed)],
        ['Registered', time(confirmed.createdAt)],
        ['Host', confirmed.rpId],
      ],
      name: id,
    });
  },
});
