import type { RestoreView } from '../../../wire/snapshots.ts';
import { apiPath } from '../../../client/api-client.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { completing, argument, commentOption, flag, text } from '../../options.ts';
import { counted } from '../secret/secrets-api.ts';
import { type PlacedSnapshot, findSnapshot, snapshotTitle } from './snapshot-view.ts';

/** `snapshot restore <id>`: docs/interface.md 4.3 and 4.9. The server finds the environment by the snapshot's id. */
export const snapshotRestoreCommand = defineCommand({
  summary: 'Bring an environment back to a snapshot, after showing the plan',
  description:
    'Every secret that is in the snapshot and still exists gets the value it had then, as a new version; deleted ones are ' +
    'skipped, and so are those whose value of then was destroyed. All or nothing. The plan is shown first, and if the environment changes between the plan and the answer ' +
    'to it, nothing is done. The present state is kept as a snapshot of its own. Where there is no terminal to ask at, it ' +
    'goes on unasked, but for --prune and --no-backup, which then need --yes.',
  arguments: { id: completing('snapshot', argument('<snapshot-id>', 'Id of the snapshot')) },
  options: {
    isPlan: flag('--plan', 'Show the plan and change nothing'),
    isDryRun: flag('--dry-run', 'The same as --plan'),
    prune: flag('--prune', 'Delete the secrets that came after the snapshot'),
    backup: flag('--no-backup', 'Make no snapshot of the present state first'),
    skipUnchanged: flag('--skip-unchanged', 'Make no new version where the value is the same already'),
    planHash: text('--plan-hash <hash>', 'Do just what this plan says (planHash of --plan --output json), unasked'),
    ...commentOption,
  },
  examples: [
    { line: 'snapshot restore 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e', note: 'Shows the plan and asks' },
    { line: 'snapshot restore 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e --prune --yes', note: 'Exactly as it was, unasked' },
    { line: 'snapshot restore 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e --plan', note: 'Only look' },
    {
      line: 'snapshot restore 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e --plan-hash x7Jq…',
      note: 'Exactly what another user has reviewed',
    },
  ],
  async run(context, { args: { id }, options }) {
    const { isPlan, isDryRun, planHash: givenHash, prune, backup, skipUnchanged, comment } = options;
    const snapshot = await findSnapshot(context, id);
    // What is undefined is not sent. With a hash, a dry run shows whether that plan still holds.
    const body = { snapshotId: snapshot.id, prune, backup, skipUnchanged, comment, planHash: givenHash };
    if (isPlan || isDryRun) return await print(context, await restore(context, snapshot, { ...body, dryRun: true }));
    // In a script the command alone does what it says (docs/interface.md 4.9): the backup and the history keep all there was.
    const isAsked = givenHash === undefined && !context.isConfirmed && (context.io.canAsk || prune || !backup);
    const planHash = isAsked ? await agreedPlan(context, snapshot, body) : givenHash;
    const done = await restore(context, snapshot, { ...body, planHash });
    await print(context, done);
    tellSkipped(context, snapshot, done);
  },
});

/** How to have back what a restore leaves alone, by docs/interface.md 4.3: the past state, written again. */
function tellSkipped(
  { io, printer }: CommandContext,
  snapshot: PlacedSnapshot,
  { skipped, destroyed }: RestoreView,
): void {
  // A state that lacks a value cannot be had whole.
  if (printer.format !== 'table' || skipped.length === 0 || destroyed.length > 0) return;
  const { organization, project, environment, revision } = snapshot;
  const place = `-o ${organization} -p ${project} -e ${environment}`;
  io.note('What was skipped has been deleted since. To have that back as well:');
  io.note(`  keyframe pull ${place} --revision ${revision} | keyframe push - ${place} --yes`);
}

/** Shows the plan and asks; answers the hash of what was agreed to. */
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
  // A server of an earlier release does not name what was destroyed.
  type Answer = Omit<RestoreView, 'destroyed'> & Partial<RestoreView>;
  const answer = await api().post<Answer>(path, body);
  return { ...answer, destroyed: answer.destroyed ?? [] };
}

function planLines({ restored, unchanged, skipped, destroyed, pruned }: RestoreView): string[] {
  return [
    ...restored.map((key) => `restore  ${key}`),
    ...pruned.map((key) => `delete   ${key}`),
    ...skipped.map((key) => `skip     ${key} (deleted since)`),
    ...destroyed.map((key) => `skip     ${key} (its value of then was destroyed)`),
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
    name: answer.revisionId,
  });
}
