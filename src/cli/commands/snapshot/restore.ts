import type { RestoreView } from '../../../wire/snapshots.ts';
import { apiPath } from '../../../client/api-client.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { completing, argument, commentOption, flag, text } from '../../options.ts';
import { counted } from '../secret/secrets-api.ts';
import { type PlacedSnapshot, findSnapshot, snapshotTitle } from './snapshot-view.ts';

/** `snapshot restore <id>`: docs/interface.md 4.3 and 4.9. The server finds the environment by the snapshot's id. */
export const snapshotRestoreCommand = defineCommand({
  summary: 'Restore an environment from a snapshot, after showing the plan',
  description:
    'Every secret in the snapshot that still exists gets its value from then, as a new version. Deleted secrets are skipped, and so are secrets whose value was destroyed. All or nothing. The plan is shown first. If the environment changes before you confirm, nothing is restored. A backup snapshot of the current state is created. Without a terminal the restore runs without confirmation, but --prune and --no-backup then require --yes.',
  arguments: { id: completing('snapshot', argument('<snapshot-id>', 'Id of the snapshot')) },
  options: {
    isPlan: flag('--plan', 'Show the plan only'),
    isDryRun: flag('--dry-run', 'Same as --plan'),
    prune: flag('--prune', 'Delete secrets that were created after the snapshot'),
    backup: flag('--no-backup', 'Do not create a backup snapshot'),
    skipUnchanged: flag('--skip-unchanged', 'Create no new version if the value is the same'),
    planHash: text(
      '--plan-hash <hash>',
      'Apply exactly this plan (planHash of --plan --output json), without confirmation',
    ),
    ...commentOption,
  },
  examples: [
    { line: 'snapshot restore 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e', note: 'Show the plan and ask for confirmation' },
    {
      line: 'snapshot restore 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e --prune --yes',
      note: 'Restore the exact state, without confirmation',
    },
    { line: 'snapshot restore 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e --plan', note: 'Show the plan only' },
    {
      line: 'snapshot restore 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e --plan-hash x7Jq…',
      note: 'Apply exactly the plan that was reviewed',
    },
  ],
  async run(context, { args: { id }, options }) {
    const { isPlan, isDryRun, planHash: givenHash, prune, backup, skipUnchanged, comment } = options;
    const snapshot = await findSnapshot(context, id);
    // What is undefined is not sent. With a hash, a dry run reports whether that plan is still current.
    const body = { snapshotId: snapshot.id, prune, backup, skipUnchanged, comment, planHash: givenHash };
    if (isPlan || isDryRun) return await print(context, await restore(context, snapshot, { ...body, dryRun: true }));
    // A script needs no confirmation (docs/interface.md 4.9): the backup and the history keep the current state.
    const isAsked = givenHash === undefined && !context.isConfirmed && (context.io.canAsk || prune || !backup);
    const planHash = isAsked ? await agreedPlan(context, snapshot, body) : givenHash;
    const done = await restore(context, snapshot, { ...body, planHash });
    await print(context, done);
    noteSkipped(context, snapshot, done);
  },
});

/** How to get back deleted secrets, which a restore skips (docs/interface.md 4.3): write the past state again. */
function noteSkipped(
  { io, printer }: CommandContext,
  snapshot: PlacedSnapshot,
  { skipped, destroyed }: RestoreView,
): void {
  // A state with a destroyed value cannot be written completely.
  if (printer.format !== 'table' || skipped.length === 0 || destroyed.length > 0) return;
  const { organization, project, environment, revision } = snapshot;
  const place = `-o ${organization} -p ${project} -e ${environment}`;
  io.note('The skipped secrets were deleted after the snapshot. To get them back too:');
  io.note(`  keyframe pull ${place} --revision ${revision} | keyframe push - ${place} --yes`);
}

/** Shows the plan and asks for confirmation; returns the hash of the confirmed plan. */
async function agreedPlan(
  context: CommandContext,
  snapshot: PlacedSnapshot,
  body: object,
): Promise<string | undefined> {
  const plan = await restore(context, snapshot, { ...body, dryRun: true });
  const { organization, project, environment } = snapshot;
  const place = `${organization}/${project}/${environment}`;
  context.io.note(`Plan for ${place} from snapshot ${snapshotTitle(snapshot)}:`);
  for (const line of planLines(plan)) context.io.note(`  ${line}`);
  await context.confirm(
    `Restore ${counted(plan.restored.length, 'secret')} and delete ${plan.pruned.length} in ${place}?`,
  );
  return plan.planHash;
}

async function restore({ api }: CommandContext, snapshot: PlacedSnapshot, body: object): Promise<RestoreView> {
  const { organization, project, environment } = snapshot;
  const path = apiPath`/snapshots/${organization}/${project}/${environment}/restore`;
  // A server of an earlier release does not return `destroyed`.
  type Answer = Omit<RestoreView, 'destroyed'> & Partial<RestoreView>;
  const answer = await api().post<Answer>(path, body);
  return { ...answer, destroyed: answer.destroyed ?? [] };
}

function planLines({ restored, unchanged, skipped, destroyed, pruned }: RestoreView): string[] {
  return [
    ...restored.map((key) => `restore  ${key}`),
    ...pruned.map((key) => `delete   ${key}`),
    ...skipped.map((key) => `skip     ${key} (deleted since)`),
    ...destroyed.map((key) => `skip     ${key} (its value was destroyed)`),
    ...(unchanged.length === 0 ? [] : [`leave    ${unchanged.length} that have not changed`]),
  ];
}

async function print({ printer }: CommandContext, answer: RestoreView): Promise<void> {
  const listed = (keys: readonly string[]): string => (keys.length === 0 ? '0' : `${keys.length}: ${keys.join(', ')}`);
  await printer.object({
    value: answer,
    fields: [
      [answer.planHash === undefined ? 'Restored' : 'Would restore', listed(answer.restored)],
      ['Unchanged', listed(answer.unchanged)],
      ['Skipped', listed(answer.skipped)],
      ...(answer.destroyed.length === 0 ? [] : [['Destroyed', listed(answer.destroyed)] as const]),
      ['Pruned', listed(answer.pruned)],
      ['Backup', answer.backupSnapshotId],
      ['Revision', answer.revision],
      ...(answer.planHash === undefined ? [] : [['Plan', answer.planHash] as const]),
    ],
    name: [...answer.restored, ...answer.pruned].sort(),
  });
}
