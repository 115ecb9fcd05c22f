import { apiPath } from '../../../client/api-client.ts';
import { defineCommand } from '../../command.ts';
import { argument, organizationOption } from '../../options.ts';
import type { DeletionOutput } from '../../output/shapes.ts';

/** `member remove <user>`. */
export const memberRemoveCommand = defineCommand({
  summary: 'Remove a member',
  arguments: { user: argument('<user>', 'E-mail address or id of the user') },
  options: organizationOption,
  examples: [{ line: 'member remove ann@example.com -o acme', note: 'Asks for confirmation' }],
  async run(context, { args: { user }, options }) {
    const organization = context.organization(options);
    await context.confirm(`Remove ${user} from ${organization}?`);
    await context.api().delete(apiPath`/members/${organization}/${user}`);
    const value = { kind: 'member', action: 'removed', id: null, name: user } satisfies DeletionOutput;
    await context.printer.done({ value, sentence: `${user} is no longer a member of ${organization}.`, name: user });
  },
});
