import type { PersonalTokenView } from '../../../wire/personal-tokens.ts';
import { defineCommand } from '../../command.ts';
import { integer, requiredText } from '../../options.ts';
import { tellShownOnce } from './shown-once.ts';

/** `token create`. */
export const tokenCreateCommand = defineCommand({
  summary: 'Make a personal token for yourself; it is shown once',
  description: 'It can do what you can do, and lives no longer than the token that it is made with.',
  options: {
    name: requiredText('-n, --name <name>', 'What the token is for'),
    expiresInDays: integer('--expires-in <days>', 'Days until it ends (default: with the present token)', { min: 1 }),
  },
  examples: [{ line: 'token create -n laptop --expires-in 90', note: 'A token for another machine of yours' }],
  async run({ api, io, printer }, { options: { name, expiresInDays } }) {
    const created = await api().post<PersonalTokenView & { readonly token: string }>('/personal-tokens', {
      name,
      ...(expiresInDays === undefined ? {} : { expiresInDays }),
    });
    await printer.object({
      value: created,
      fields: [
        ['Id', created.id],
        ['Name', created.name],
        ['Expires', created.expiresAt ?? 'never'],
        ['Token', created.token],
      ],
      name: created.id,
    });
    tellShownOnce({ io, printer });
  },
});
