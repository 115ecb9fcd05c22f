import type { PersonalTokenView } from '../../../wire/personal-tokens.ts';
import type { CommandContext } from '../../core/command.ts';
import { time } from '../../terminal/time.ts';
import { noteShownOnce } from './shown-once.ts';

/** A personal token with its value, which no later answer holds. */
type NewPersonalToken = PersonalTokenView & { readonly token: string };

export async function printNewPersonalToken(
  { io, printer }: Pick<CommandContext, 'io' | 'printer'>,
  created: NewPersonalToken,
): Promise<void> {
  const { id, name, expiresAt, token } = created;
  await printer.object({
    value: created,
    fields: [
      ['Id', id],
      ['Name', name],
      ['Expires', time(expiresAt) ?? 'never'],
      ['Token', token],
    ],
    name: id,
    token,
  });
  noteShownOnce({ io, printer });
}
