import type { ChangeView } from '../../../wire/changes.ts';
import { apiPath } from '../../../client/api-client.ts';
import { defineCommand } from '../../command.ts';
import { integer, scopeOptions, text } from '../../options.ts';

/** `history`: the changes of an environment. */
export const historyCommand = defineCommand({
  summary: 'List the changes of an environment',
  description: 'Each change of the secrets, newest first: user, time, comment and keys. No values.',
  options: {
    ...scopeOptions,
    limit: integer('--limit <n>', 'Maximum number of changes', { min: 1, max: 1000, default: 20 }),
    since: text('--since <revision>', 'Only changes after this revision (number or id)'),
  },
  examples: [
    { line: 'history', note: 'The last 20 changes' },
    { line: 'history --since 41 --output json', note: 'Changes after revision 41, for a program' },
  ],
  async run(context, { options }) {
    const { organization, project, environment } = context.scope(options);
    const { limit, since } = options;
    const list = await context
      .api()
      .get<{ changes: ChangeView[]; nextCursor: string | null }>(
        apiPath`/changes/${organization}/${project}/${environment}`,
        { query: { limit, since } },
      );
    await context.printer.list({
      value: list,
      rows: list.changes,
      columns: [
        { title: 'REVISION', cell: ({ revision }) => revision },
        { title: 'BY', cell: ({ changedByName }) => changedByName },
        { title: 'AT', cell: ({ createdAt }) => createdAt },
        { title: 'KEYS', cell: ({ keys }) => keysText(keys) },
        { title: 'COMMENT', cell: ({ comment }) => comment },
      ],
      name: ({ revisionId }) => revisionId,
      whenEmpty: since === undefined ? 'There are no changes yet.' : 'Nothing has changed since then.',
    });
    if (list.nextCursor !== null) context.io.note(`Older changes are not shown; --limit shows more than ${limit}.`);
  },
});

const maxKeys = 5;

function keysText(keys: ChangeView['keys']): string {
  const shown = keys
    .slice(0, maxKeys)
    .map(({ key, version }) => (version === null ? `${key} deleted` : `${key} v${version}`));
  return keys.length > maxKeys ? `${shown.join(', ')} and ${keys.length - maxKeys} more` : shown.join(', ');
}
