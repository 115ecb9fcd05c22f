import type { PruneView } from '../../../wire/snapshots.ts';
import { apiPath } from '../../../client/api-client.ts';
import { usageError } from '../../cli-error.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { flag, integer, scopeOptions, text } from '../../options.ts';
import type { Scope } from '../../settings/scope.ts';
import { counted } from '../secret/secrets-api.ts';

const kept = { min: 1, max: 10_000 };

/** `snapshot prune`: the retention of docs/resources/snapshot-schedule.md, by hand. */
export const snapshotPruneCommand = defineCommand({
  summary: 'Delete the snapshots of an environment but for those to keep',
  description:
    'What one of the --keep flags keeps is kept: the newest snapshots, and the newest one of each of the newest hours, ' +
    'days, weeks or months that have one. Snapshots that a custom resource took or stands for are left alone, and fill no ' +
    'place. What would be deleted is shown first, and just that is deleted; nothing can bring it back.',
  options: {
    keepLast: integer('--keep-last <n>', 'Keep the newest so many', kept),
    keepHourly: integer('--keep-hourly <n>', 'Keep the newest of each of so many hours', kept),
    keepDaily: integer('--keep-daily <n>', 'Keep the newest of each of so many days', kept),
    keepWeekly: integer('--keep-weekly <n>', 'Keep the newest of each of so many weeks, from Monday on', kept),
    keepMonthly: integer('--keep-monthly <n>', 'Keep the newest of each of so many months', kept),
    timeZone: text('--time-zone <zone>', 'By whose calendar, such as Europe/Berlin (default: UTC)'),
    namePrefix: text('--name-prefix <text>', 'Look only at snapshots whose name begins so'),
    isDryRun: flag('--dry-run', 'Show what would be kept, and why, and deleted, and delete nothing'),
    planHash: text(
      '--plan-hash <hash>',
      'Delete just what this plan says (planHash of --dry-run --output json), unasked',
    ),
    ...scopeOptions,
  },
  examples: [
    { line: 'snapshot prune --keep-last 10 --dry-run', note: 'Only look' },
    { line: 'snapshot prune --keep-daily 7 --keep-weekly 5 --keep-monthly 12', note: 'Shows what goes, and asks' },
    {
      line: 'snapshot prune --keep-last 20 --name-prefix deploy- --yes -o acme -p shop -e production',
      note: 'In a script: of those whose name begins with deploy-, all but the newest 20',
    },
  ],
  async run(context, { options }) {
    const {
      isDryRun,
      timeZone,
      namePrefix,
      planHash: givenHash,
      organization,
      project,
      environment,
      ...counts
    } = options;
    const retention = Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined));
    if (Object.keys(retention).length === 0) throw usageError('say what to keep, such as --keep-last 10');
    const scope = context.scope({ organization, project, environment });
    // What is undefined is not sent. With a hash, a dry run shows whether that plan still holds.
    const body = { retention, timeZone, namePrefix, planHash: givenHash };
    if (isDryRun) return await print(context, await prune(context, scope, { ...body, dryRun: true }), true);
    const planHash = givenHash ?? (context.isConfirmed ? undefined : await agreedPlan(context, scope, body));
    await print(context, await prune(context, scope, { ...body, planHash }), false);
  },
});

/**
 * Shows what would go, and asks; where nothing would, there is nothing to ask. Answers the hash of what was agreed to,
 * which a server of an earlier release does not return.
 */
async function agreedPlan(context: CommandContext, scope: Scope, body: object): Promise<string | undefined> {
  const { pruned, kept: staying, planHash } = await prune(context, scope, { ...body, dryRun: true });
  if (pruned.length === 0) return planHash;
  for (const { id, name, createdAt } of pruned)
    context.io.note(`  delete  ${id}  ${createdAt}  ${name ?? ''}`.trimEnd());
  const { organization, project, environment } = scope;
  const place = `${organization}/${project}/${environment}`;
  await context.confirm(`Delete ${counted(pruned.length, 'snapshot')} of ${place} and keep ${staying.length}?`);
  return planHash;
}

async function prune({ api }: CommandContext, scope: Scope, body: object): Promise<PruneView> {
  const { organization, project, environment } = scope;
  return await api().post<PruneView>(apiPath`/snapshots/${organization}/${project}/${environment}/prune`, body);
}

async function print({ printer }: CommandContext, view: PruneView, isDryRun: boolean): Promise<void> {
  const rows = [
    ...view.pruned.map((snapshot) => ({ ...snapshot, fate: isDryRun ? 'would delete' : 'deleted', why: '' })),
    ...view.kept.map((snapshot) => ({ ...snapshot, fate: 'keep', why: snapshot.reasons.join(', ') })),
  ];
  await printer.list({
    value: view,
    rows,
    columns: [
      { title: 'WHAT', cell: ({ fate }) => fate },
      { title: 'ID', cell: ({ id }) => id },
      { title: 'NAME', cell: ({ name }) => name },
      { title: 'AT', cell: ({ createdAt }) => createdAt },
      { title: 'WHY', cell: ({ why }) => why },
    ],
    name: ({ id }) => id,
    whenEmpty: 'There are no snapshots to prune.',
  });
}
