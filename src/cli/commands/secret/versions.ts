import type { VersionListView, VersionView } from '../../../wire/versions.ts';
import { call } from '../../../client/call.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import { completing, argument, integer, revealOption, scopeOptions, versionNumber } from '../../core/options.ts';
import type { Column } from '../../terminal/printer.ts';
import { type Scope, scopeParams } from '../../settings/scope.ts';
import { clusterColumn, clusterField } from '../vouching-cluster.ts';
import { pastSecret } from './secrets-api.ts';
import { time } from '../../terminal/time.ts';

// The longest page that the server gives. Without a limit it gives the whole list.
const maxPage = 1000;

/** `versions <secret_key>`: docs/interface.md 4.6 and 4.9. */
export const versionsCommand = defineCommand({
  summary: 'List the versions of a secret, or show one',
  description: 'Newest first. A deleted secret keeps its history.',
  arguments: { key: completing('key', argument('<secret_key>', 'Key of the secret')) },
  options: {
    ...scopeOptions,
    limit: integer('--limit <n>', 'Maximum number of versions', { min: 1, default: 20 }),
    version: versionNumber('Show only this version, with its value'),
    ...revealOption,
  },
  examples: [
    { line: 'versions DATABASE_URL', note: 'The last 20 versions of a secret' },
    { line: 'versions DATABASE_URL -o acme -p shop -e production --limit 5', note: 'In another environment' },
    { line: 'versions DATABASE_URL --version 3 --reveal', note: 'The value of version 3' },
  ],
  async run(context, { args: { key }, options }) {
    const scope = await context.scope(options);
    if (options.version !== undefined) return await showVersion(context, { ...scope, key }, options.version, options);
    const { limit } = options;
    const { body: list } = await call(context.api(), 'GET /versions/{org}/{project}/{env}/{key}', {
      params: { ...scopeParams(scope), key },
      query: { limit: limit <= maxPage ? String(limit) : undefined },
    });
    const versions = list.versions.slice(0, limit);
    const rows: readonly Row[] = [...deletionOf(list), ...versions];
    await context.printer.list<Row>({
      value: { ...list, versions },
      rows,
      columns: [
        { title: 'VERSION', cell: ({ version }) => (version === null ? null : `v${version}`) },
        { title: 'CHANGE', cell: ({ changeType }) => changeType },
        { title: 'BY', cell: ({ changedByName }) => changedByName, isCut: true },
        ...clusterColumn(rows, ({ changedByCluster }) => changedByCluster),
        { title: 'AT', cell: ({ createdAt }) => time(createdAt) },
        ...(versions.some(isDestroyed) ? [destroyedColumn] : []),
        { title: 'COMMENT', cell: ({ comment }) => comment, isCut: true },
      ],
      name: ({ version }) => String(version),
      named: versions,
      whenEmpty: 'It has no versions.',
    });
    if (versions.length < list.versions.length || list.nextCursor !== null) {
      context.io.note(`Older versions are not shown; --limit shows more than ${limit}.`);
    }
  },
});

/** A version, or the deletion above the newest one. */
type Row =
  | VersionView
  | (Pick<VersionView, 'changedByName' | 'changedByCluster' | 'createdAt' | 'comment' | 'destroyedAt'> & {
      readonly version: null;
      readonly changeType: 'deleted';
    });

/** The deletion of a key that is deleted. A server of the former release does not say it. */
function deletionOf({ deletedAt, deletedByName, deletedByCluster = null }: VersionListView): Row[] {
  if (typeof deletedAt !== 'string') return [];
  const by = { changedByName: deletedByName ?? '', changedByCluster: deletedByCluster };
  return [{ version: null, changeType: 'deleted', ...by, createdAt: deletedAt, comment: null, destroyedAt: null }];
}

const destroyedColumn: Column<Row> = { title: 'DESTROYED', cell: ({ destroyedAt }) => time(destroyedAt) };

function isDestroyed({ destroyedAt }: VersionView): boolean {
  return destroyedAt !== null;
}

async function showVersion(
  { api, printer, showsValues }: CommandContext,
  { key, ...scope }: Scope & { readonly key: string },
  version: number,
  flags: { readonly reveal: boolean },
): Promise<void> {
  const params = { ...scopeParams(scope), key, version };
  const found = await call(api(), 'GET /versions/{org}/{project}/{env}/{key}/{version}', { params });
  const answer = pastSecret(key, found.body);
  const { value, ...withoutValue } = answer;
  const isShown = showsValues(flags);
  await printer.object({
    value: isShown ? answer : withoutValue,
    fields: [
      ['Version', `v${answer.version}`],
      ['Change', answer.changeType],
      ['By', answer.changedByName],
      ...clusterField(answer.changedByCluster),
      ['At', time(answer.createdAt)],
      ['Comment', answer.comment],
      ['Value', isShown ? value : '(hidden; --reveal shows it)'],
    ],
    name: String(answer.version),
  });
}
