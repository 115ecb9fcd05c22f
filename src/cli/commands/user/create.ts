import type { UserView } from '../../../wire/users.ts';
import { defineCommand } from '../../command.ts';
import { argument, flag, text } from '../../options.ts';
import { tellShownOnce } from '../token/shown-once.ts';
import { userFields } from './user-view.ts';

/** `user create <email>`, for administrators of the server. */
export const userCreateCommand = defineCommand({
  summary: 'Add a person; their first token is shown once',
  description: 'They belong to no organization yet: keyframe member set adds them to one.',
  arguments: { email: argument('<email>', 'Their e-mail address') },
  options: {
    displayName: text('-n, --name <name>', 'Their name, for people'),
    instanceAdmin: flag('--admin', 'They administer the whole server too'),
  },
  examples: [{ line: "user create ann@example.com -n 'Ann Miller'", note: 'Prints the first token, this once' }],
  async run({ api, io, printer }, { args: { email }, options: { displayName, instanceAdmin } }) {
    const created = await api().post<UserView & { readonly token: string }>('/users', {
      email,
      ...(displayName === undefined ? {} : { displayName }),
      ...(instanceAdmin ? { instanceAdmin } : {}),
    });
    const fields = [...userFields(created), ['Token', created.token] as const];
    await printer.object({ value: created, fields, name: created.id });
    tellShownOnce({ io, printer });
  },
});
