import type { PruneView } from '../../../wire/snapshots.ts';
import { type RequestOf, call } from '../../../client/call.ts';
import { usageError } from '../../core/cli-error.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import { integer, planOptions, scopeOptions, text } from '../../core/options.ts';
import { type Scope, scopeParams } from '../../settings/scope.ts';
import { counted } from '../../../lib/counted.ts';
import { shownScope } from '../secret/secrets-api.ts';
import { nothingChanged, planHashLine } from '../secret/shown-plan.ts';
import { time } from '../../terminal/time.ts';

const kept = { min: 1, max: 10_000 };

/** `snapshot prune`: the retention of docs/resources/snapshot-schedule.md, by hand. */
export const snapshotPruneCommand = defineCommand({
  summary: 'Delete old snapshots of an environment',
  description:
    'Keeps the snapshots that at least one --keep flag selects: the newest ones, and the newest one of each of the last hours, days, weeks or months that have one. Snapshots that custom resources took or refer to are ignored. The plan is shown first, and exactly that is deleted. This cannot be undone.',
  options: {
    keepLast: integer('--keep-last <n>', 'Number of newest snapshots to keep', kept),
    keepHourly: integer('--keep-hourly <n>', 'Number of hours of which to keep the newest', kept),
    keepDaily: integer('--keep-daily <n>', 'Number of days of which to keep the newest', kept),
    keepWeekly: integer('--keep-weekly <n>', 'Number of weeks, from Monday, of which to keep the newest', kept),
    keepMonthly: integer('--keep-monthly <n>', 'Number of months of which to keep the newest', kept),
    timeZone: text('--time-zone <zone>', 'Time zone of the calendar, such as Europe/Berlin (default: UTC)'),
    namePrefix: text('--name-prefix <text>', 'Only snapshots whose name has this prefix'),
    ...planOptions,
    planHash: text(
      '--plan-hash <hash>',
      'Apply exactly this plan (planHash of --dry-run --output json), without confirmation',
    ),
    ...scopeOptions,
  },
  examples: [
    { line: 'snapshot prune --keep-last 10 --dry-run', note: 'Show the plan only' },
    {
      line: 'snapshot prune --keep-daily 7 --keep-weekly 5 --keep-monthly 12',
      note: 'Show the plan and ask for confirmation',
    },
    {
      line: 'snapshot prune --keep-last 20 --name-prefix deploy- --yes -o acme -p shop -e production',
      note: 'In a script: delete all but the newest 20 with the prefix deploy-',
    },
  ],
  async run(context, { options }) {
    const {
      isPlan,
      isDryRun,
      timeZone,
      namePrefix,
      planHash: givenHash,
      organization,
      project,
      environment,
      ...retention
    } = options;
    if (Object.values(retention).every((count) => count === undefined))
      throw usageError('no --keep flag was given; add one, such as --keep-last 10');
    const scope = await context.scope({ organization, project, environment });
    // What is undefined is not sent. With a hash, a dry run reports whether that plan is still current.
    const body = { retention, timeZone, namePrefix, planHash: givenHash };
    if (isPlan || isDryRun)
      return await printPlanned(context, scope, await prune(context, scope, { ...body, dryRun: true }));
    const planHash = givenHash ?? (context.isConfirmed ? undefined : await agreedPlan(context, scope, body));
    await print(context, await prune(context, scope, { ...body, planHash }), false);
  },
});

type PruneBody = RequestOf<'POST /snapshots/{org}/{project}/{env}/prune'>['body'];

/** Shows the plan and asks for confirmation unless it is empty. Returns the hash of the confirmed plan. */
async function agreedPlan(context: CommandContext, scope: Scope, body: PruneBody): Promise<string | undefined> {
  const { pruned, kept: staying, planHash } = await prune(context, scope, { ...body, dryRun: true });
  if (pruned.length === 0) return planHash;
  for (const { id, name, createdAt } of pruned)
    context.io.note(`  delete  ${id}  ${createdAt}  ${name ?? ''}`.trimEnd());
  await context.confirm(
    `Delete ${counted(pruned.length, 'snapshot')} of ${shownScope(scope)} and keep ${staying.length}?`,
  );
  return planHash;
}

async function prune({ api }: CommandContext, scope: Scope, body: PruneBody): Promise<PruneView> {
  return (await call(api(), 'POST /snapshots/{org}/{project}/{env}/prune', { params: scopeParams(scope), body })).body;
}

async function printPlanned(context: CommandContext, scope: Scope, view: PruneView): Promise<void> {
  await print(context, view, true);
  if (context.printer.format !== 'table') return;
  const { pruned, kept: staying, planHash } = view;
  context.io.note(nothingChanged(shownScope(scope), `${pruned.length} to delete, ${staying.length} to keep`));
  context.io.note(planHashLine(planHash));
}

async function print({ printer }: CommandContext, view: PruneView, isDryRun: boolean): Promise<void> {
  const rows = [
    ...view.pruned.map((snapshot) => ({ ...snapshot, action: isDryRun ? 'would delete' : 'deleted', why: '' })),
    ...view.kept.map((snapshot) => ({ ...snapshot, action: 'keep', why: snapshot.reasons.join(', ') })),
  ];
  await printer.list({
    value: view,
    rows,
    columns: [
      { title: 'WHAT', cell: ({ action }) => action },
      { title: 'ID', cell: ({ id }) => id },
      { title: 'NAME', cell: ({ name }) => name },
      { title: 'AT', cell: ({ createdAt }) => time(createdAt) },
      { title: 'WHY', cell: ({ why }) => why },
    ],
    name: ({ id }) => id,
    named: rows.slice(0, view.pruned.length),
    whenEmpty: 'There are no snapshots to prune.',
  });
}
