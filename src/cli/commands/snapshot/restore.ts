import type { RestoreView } from '../../../wire/snapshots.ts';
import { type RequestOf, call } from '../../../client/call.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import {
  commentOption,
  flag,
  keySelection,
  keySelectionOptions,
  type SelectedKeys,
  scopeOptions,
  selectionFlags,
  text,
  planOptions,
} from '../../core/options.ts';
import { scopeParams } from '../../settings/scope.ts';
import { expectedRevisionId, expectedRevisionOption } from '../secret/expected-state.ts';
import { counted } from '../../../lib/counted.ts';
import { shownScope } from '../secret/secrets-api.ts';
import {
  changeLines,
  listedKeys,
  notePlan,
  noteUndo,
  nothingChanged,
  planHashLine,
  printPlan,
} from '../secret/shown-plan.ts';
import { warnIfNoneMatches } from '../secret/unmatched-keys.ts';
import { type PlacedSnapshot, findSnapshot, snapshotArgument, snapshotTitle } from './snapshot-view.ts';

/** `snapshot restore <snapshot>`: docs/interface.md 4.3 and 4.9. */
export const snapshotRestoreCommand = defineCommand({
  summary: 'Restore an environment from a snapshot, after showing the plan',
  description:
    'Shows the plan first: ~ changed, + restored after a deletion, - deleted. Every secret of the snapshot that still exists with a different value gets a new version with the value of the snapshot. Deleted secrets are skipped without --include-deleted, and secrets whose value was destroyed are always skipped. All or nothing. If the environment changes before you confirm, nothing is restored. A backup snapshot of the current state is created.',
  arguments: { given: snapshotArgument },
  options: {
    ...planOptions,
    prune: flag('--prune', 'Delete secrets that were created after the snapshot'),
    includeDeleted: flag('--include-deleted', 'Also restore secrets that were deleted after the snapshot'),
    ...keySelectionOptions,
    backup: flag('--no-backup', 'Do not create a backup snapshot'),
    isUnchangedRewritten: flag('--rewrite-unchanged', 'Also create new versions of secrets that have the same value'),
    planHash: text(
      '--plan-hash <hash>',
      'Apply exactly this plan (planHash of --plan --output json), without confirmation',
    ),
    ...scopeOptions,
    ...expectedRevisionOption,
    ...commentOption,
  },
  examples: [
    { line: 'snapshot restore before-release', note: 'Show the plan and ask for confirmation' },
    { line: 'snapshot restore latest --plan', note: 'Show the plan only' },
    {
      line: "snapshot restore before-release --include-deleted --keys 'DB_*' --exclude DB_TEST",
      note: 'Restore some secrets, also those that were deleted',
    },
    {
      line: 'snapshot restore 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e --prune --yes',
      note: 'Restore the exact state, without confirmation',
    },
    {
      line: 'snapshot restore 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e --plan-hash x7Jq…',
      note: 'Apply exactly the plan that was reviewed',
    },
  ],
  async run(context, { args: { given }, options }) {
    const { isPlan, isDryRun, planHash: givenHash, prune, backup, comment } = options;
    const snapshot = await findSnapshot(context, given, options);
    // What is undefined is not sent. With a hash, a dry run reports whether that plan is still current.
    const expectedRevision = await expectedRevisionId(context.api(), snapshot, options.expectedRevision);
    const body = {
      snapshotId: snapshot.id,
      prune,
      backup,
      skipUnchanged: !options.isUnchangedRewritten,
      includeDeleted: options.includeDeleted,
      keys: keySelection(options),
      comment,
      planHash: givenHash,
      expectedRevision,
    };
    if (isPlan || isDryRun) {
      const plan = await restore(context, snapshot, { ...body, dryRun: true });
      warnOfKeys(context, options, plan);
      const notes = planNotes(snapshot, plan);
      return await printPlan(context, { value: plan, keys: changedKeys(plan), lines: planLines(plan), notes });
    }
    const isAgreed = givenHash !== undefined || context.isConfirmed;
    const planHash = isAgreed ? givenHash : await agreedPlan(context, snapshot, body);
    const done = await restore(context, snapshot, { ...body, planHash });
    warnOfKeys(context, options, done);
    await print(context, snapshot, done);
    if (changedKeys(done).length > 0) noteUndo(context, done.revision, snapshot);
    noteSkipped(context, done, `${snapshot.id} --include-deleted${selectionFlags(options)}`);
  },
});

function warnOfKeys(context: CommandContext, options: SelectedKeys, answer: RestoreView): void {
  const { restored, recreated, unchanged, skipped, destroyed, pruned } = answer;
  const selected = [restored, recreated, unchanged, skipped, destroyed, pruned];
  warnIfNoneMatches(context, options, { place: 'the snapshot', selected });
}

/** How to restore deleted secrets, which a restore skips by default (docs/interface.md 4.3). */
function noteSkipped({ io, printer }: CommandContext, { skipped }: RestoreView, line: string): void {
  if (printer.format !== 'table' || skipped.length === 0) return;
  io.note('The skipped secrets were deleted after the snapshot. To restore them too:');
  io.note(`  keyframe snapshot restore ${line}`);
}

type RestoreBody = RequestOf<'POST /snapshots/{org}/{project}/{env}/restore'>['body'];

/** Shows the plan and asks for confirmation unless it changes nothing; returns the hash of the confirmed plan. */
async function agreedPlan(
  context: CommandContext,
  snapshot: PlacedSnapshot,
  body: RestoreBody,
): Promise<string | undefined> {
  const plan = await restore(context, snapshot, { ...body, dryRun: true });
  const { restored, recreated, pruned, planHash } = plan;
  const place = shownScope(snapshot);
  notePlan(context, `Plan for ${place} from snapshot ${snapshotTitle(snapshot)}`, planLines(plan));
  const count = restored.length + recreated.length;
  if (count + pruned.length === 0) return planHash;
  const deleting = pruned.length === 0 ? '' : ` and delete ${pruned.length}`;
  await context.confirm(`Restore ${counted(count, 'secret')}${deleting} in ${place}?`);
  return planHash;
}

async function restore({ api }: CommandContext, snapshot: PlacedSnapshot, body: RestoreBody): Promise<RestoreView> {
  const request = { params: scopeParams(snapshot), body };
  return (await call(api(), 'POST /snapshots/{org}/{project}/{env}/restore', request)).body;
}

function planLines({ restored, recreated, skipped, destroyed, pruned }: RestoreView): string[] {
  return [
    ...changeLines({ added: recreated, changed: restored, removed: pruned }),
    ...skipped.map((key) => `    ${key}: skipped, because it was deleted since`),
    ...destroyed.map((key) => `    ${key}: skipped, because its value was destroyed`),
  ];
}

function changedKeys({ restored, recreated, pruned }: RestoreView): string[] {
  return [...restored, ...recreated, ...pruned].sort();
}

/** What a table says under the plan. */
function planNotes(snapshot: PlacedSnapshot, plan: RestoreView): string[] {
  const { restored, recreated, pruned, unchanged, skipped, destroyed, planHash } = plan;
  const added = recreated.length === 0 ? [] : [`${recreated.length} recreated`];
  const counts = [`${restored.length} changed`, ...added, `${pruned.length} deleted`, `${unchanged.length} unchanged`];
  const missed = skipped.length + destroyed.length;
  const all = [...counts, ...(missed === 0 ? [] : [`${missed} skipped`])].join(', ');
  return [nothingChanged(shownScope(snapshot), all), planHashLine(planHash)];
}

async function print({ printer }: CommandContext, snapshot: PlacedSnapshot, answer: RestoreView): Promise<void> {
  await printer.object({
    value: answer,
    fields: [
      ['Environment', shownScope(snapshot)],
      ['Restored', listedKeys(answer.restored)],
      ...(answer.recreated.length === 0 ? [] : [['Recreated', listedKeys(answer.recreated)] as const]),
      ['Unchanged', answer.unchanged.length],
      ['Skipped', listedKeys(answer.skipped)],
      ...(answer.destroyed.length === 0 ? [] : [['Destroyed', listedKeys(answer.destroyed)] as const]),
      ['Deleted', listedKeys(answer.pruned)],
      ['Backup', answer.backupSnapshotId],
      ['Revision', answer.revision],
    ],
    name: changedKeys(answer),
  });
}
