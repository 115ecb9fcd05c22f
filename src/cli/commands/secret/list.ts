import { call } from '../../../client/call.ts';
import type { DeletedSecretListView, SecretListView } from '../../../wire/secrets.ts';
import { usageError } from '../../core/cli-error.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import { flag, scopeOptions, text } from '../../core/options.ts';
import type { Column } from '../../terminal/printer.ts';
import { scopeParams } from '../../settings/scope.ts';
import { clusterColumn } from '../vouching-cluster.ts';
import { time } from '../../terminal/time.ts';

type Secret = Omit<SecretListView['secrets'][number], 'value'> & { readonly value?: string };
/** A list of secrets from the server, with or without values. */
export type SecretList = Omit<SecretListView, 'secrets'> & { readonly secrets: readonly Secret[] };

export const listCommand = defineCommand({
  summary: 'List the secrets of an environment, without their values',
  description: 'Without --reveal the values are neither read nor shown.',
  options: {
    ...scopeOptions,
    prefix: text('--prefix <text>', 'Only keys with this prefix'),
    revision: text('--revision <revision>', 'State at this revision (number or id)'),
    reveal: flag('--reveal', 'Read the values and show them'),
    deleted: flag('--deleted', 'List the deleted keys instead, with their last version and who deleted them'),
  },
  examples: [
    { line: 'list', note: 'The keys of the environment of this directory' },
    { line: 'list --prefix DATABASE_ --reveal', note: 'The keys with a prefix, with their values' },
    { line: 'list --deleted', note: 'The keys that were deleted, when and by whom' },
    { line: 'list --output name', note: 'Only keys, one per line' },
  ],
  async run(context, { options }) {
    const { prefix, revision, reveal, deleted } = options;
    if (deleted) {
      if (reveal) throw usageError('--reveal and --deleted cannot be combined: deleted keys are listed without values');
      if (revision !== undefined) throw usageError('--revision and --deleted cannot be combined');
      const params = scopeParams(await context.scope(options));
      const query = { prefix, deleted: 'true' } as const;
      const list = await call(context.api(), 'GET /secrets/{org}/{project}/{env}', { params, query });
      return await printDeletedKeys(context, list.body);
    }
    const params = scopeParams(await context.scope(options));
    const query = { prefix, revision, ...(reveal ? {} : { values: 'false' as const }) };
    const list = await call(context.api(), 'GET /secrets/{org}/{project}/{env}', { params, query });
    await printSecretList(context, list.body);
  },
});

async function printDeletedKeys({ printer }: CommandContext, list: DeletedSecretListView): Promise<void> {
  const columns: Column<DeletedSecretListView['secrets'][number]>[] = [
    { title: 'KEY', cell: ({ key }) => key },
    { title: 'VERSION', cell: ({ version }) => version },
    { title: 'DELETED', cell: ({ deletedAt }) => time(deletedAt) },
    { title: 'BY', cell: ({ deletedByName }) => deletedByName, isCut: true },
    ...clusterColumn(list.secrets, ({ deletedByCluster }) => deletedByCluster),
  ];
  await printer.list({
    value: list,
    rows: list.secrets,
    columns,
    name: ({ key }) => key,
    whenEmpty: 'There are no such deleted keys',
  });
}

/** Prints a list as --output says, with the values that are in it. */
export async function printSecretList({ printer }: CommandContext, list: SecretList): Promise<void> {
  const columns: Column<Secret>[] = [
    { title: 'KEY', cell: ({ key }) => key },
    { title: 'VERSION', cell: ({ version }) => version },
    { title: 'UPDATED', cell: ({ updatedAt }) => time(updatedAt) },
  ];
  if (list.secrets.some(({ value }) => value !== undefined)) {
    columns.push({ title: 'VALUE', cell: ({ value }) => (value === '' ? '""' : value) });
  }
  await printer.list({
    value: list,
    rows: list.secrets,
    columns,
    name: ({ key }) => key,
    whenEmpty: 'There are no such secrets. Write one: keyframe set KEY=VALUE',
  });
}
