import { defineCommand } from '../../command.ts';
import { completing, argument } from '../../options.ts';
import type { DeletionOutput } from '../../output/shapes.ts';
import { findSnapshot, snapshotPath, snapshotTitle } from './snapshot-view.ts';

/** `snapshot delete <id>`. */
export const snapshotDeleteCommand = defineCommand({
  summary: 'Delete a snapshot; secrets are not affected',
  arguments: { id: completing('snapshot', argument('<snapshot-id>', 'Id of the snapshot')) },
  examples: [
    { line: 'snapshot delete 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e', note: 'Asks for confirmation' },
    { line: 'snapshot delete 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e --yes', note: 'In a script' },
  ],
  async run(context, { args }) {
    const snapshot = await findSnapshot(context, args.id);
    const { organization, project, environment } = snapshot;
    await context.confirm(`Delete snapshot ${snapshotTitle(snapshot)} of ${organization}/${project}/${environment}?`);
    await context.api().delete(snapshotPath(snapshot));
    const { id, name } = snapshot;
    const value = { kind: 'snapshot', action: 'deleted', id, name } satisfies DeletionOutput;
    await context.printer.done({ value, sentence: `Snapshot ${snapshotTitle(snapshot)} is deleted.`, name: id });
  },
});
