import type { PersonalTokenView } from '../../../wire/personal-tokens.ts';
import { defineCommand } from '../../command.ts';
import { integer, requiredText } from '../../options.ts';
import { noteShownOnce } from './shown-once.ts';

/** `token create`. */
export const tokenCreateCommand = defineCommand({
  summary: 'Create a personal token for yourself; it is shown once',
  description: 'It has your permissions, and expires no later than the token that creates it.',
  options: {
    name: requiredText('-n, --name <name>', 'Name'),
    expiresInDays: integer('--expires-in <days>', 'Days until it expires (default: with the current token)', {
      min: 1,
    }),
  },
  examples: [{ line: 'token create -n laptop --expires-in 90', note: 'A token for another machine' }],
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
    noteShownOnce({ io, printer });
  },
});
