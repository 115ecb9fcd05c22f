import type { ChangeView } from '../../../wire/changes.ts';
import { call } from '../../../client/call.ts';
import { usageError } from '../../core/cli-error.ts';
import { defineCommand } from '../../core/command.ts';
import { integer, scopeOptions, text } from '../../core/options.ts';
import { scopeParams } from '../../settings/scope.ts';
import { time as shownTime } from '../../terminal/time.ts';
import { pastTime } from '../../core/time-option.ts';
import { clusterColumn } from '../vouching-cluster.ts';
import { isId } from '../named-thing.ts';

/** `history`: the changes of an environment. */
export const historyCommand = defineCommand({
  summary: 'List the changes of an environment',
  description: 'Each change of the secrets, newest first: user, time, comment and keys. No values.',
  options: {
    ...scopeOptions,
    limit: integer('--limit <n>', 'Maximum number of changes', { min: 1, max: 1000, default: 20 }),
    since: text(
      '--since <revision>',
      'Only changes after this revision (number or id) or time, such as 2h or 2027-01-31',
    ),
  },
  examples: [
    { line: 'history', note: 'The last 20 changes' },
    { line: 'history --since 1d', note: 'Changes of the last 24 hours' },
    { line: 'history --since 41 --output json', note: 'Changes after revision 41, for a program' },
  ],
  async run(context, { options }) {
    const params = scopeParams(await context.scope(options));
    const { limit, since } = options;
    const time = since === undefined ? undefined : timeOf(since);
    const query = { limit: String(limit), since: time === undefined ? since : undefined };
    const { body: page } = await call(context.api(), 'GET /changes/{org}/{project}/{env}', { params, query });
    const list = time === undefined ? page : changesSince(page, Date.parse(time));
    await context.printer.list({
      value: list,
      rows: list.changes,
      columns: [
        { title: 'REVISION', cell: ({ revision }) => revision },
        { title: 'BY', cell: ({ changedByName }) => changedByName, isCut: true },
        ...clusterColumn(list.changes, ({ changedByCluster }) => changedByCluster),
        { title: 'AT', cell: ({ createdAt }) => shownTime(createdAt) },
        { title: 'KEYS', cell: ({ keys }) => keysText(keys), isCut: true },
        { title: 'COMMENT', cell: ({ comment }) => comment, isCut: true },
      ],
      name: ({ revisionId }) => revisionId,
      whenEmpty: since === undefined ? 'There are no changes yet.' : 'Nothing has changed since then.',
    });
    if (list.nextCursor !== null) context.io.note(`Older changes are not shown; --limit shows more than ${limit}.`);
  },
});

/** The time of --since; undefined for a revision. Throws CliError usage for any other text. */
function timeOf(since: string): string | undefined {
  const time = pastTime(since);
  if (time !== undefined || /^[0-9]+$/.test(since) || isId(since)) return time;
  throw usageError(
    '--since must be a revision (number or id) or a time, such as 2h, 7d, 2027-01-31 (UTC) or 2027-01-31T12:00:00Z',
  );
}

interface ChangePage {
  readonly changes: readonly ChangeView[];
  readonly nextCursor: string | null;
}

/** The newer part of a page; the server compares revisions alone. */
function changesSince({ changes, nextCursor }: ChangePage, ms: number): ChangePage {
  const later = changes.filter(({ createdAt }) => Date.parse(createdAt) >= ms);
  return { changes: later, nextCursor: later.length < changes.length ? null : nextCursor };
}

const maxKeys = 5;

function keysText(keys: ChangeView['keys']): string {
  const shown = keys
    .slice(0, maxKeys)
    .map(({ key, version }) => (version === null ? `${key} deleted` : `${key} v${version}`));
  return keys.length > maxKeys ? `${shown.join(', ')} and ${keys.length - maxKeys} more` : shown.join(', ');
}
