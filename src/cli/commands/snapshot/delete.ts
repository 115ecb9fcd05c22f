import { defineCommand } from '../../command.ts';
import { completing, argument } from '../../options.ts';
import { findSnapshot, snapshotPath, snapshotTitle } from './snapshot-view.ts';

/** `snapshot delete <id>`. */
export const snapshotDeleteCommand = defineCommand({
  summary: 'Delete a snapshot; secrets are not affected',
  arguments: { id: completing('snapshot', argument('<snapshot-id>', 'Id of the snapshot')) },
  examples: [
    { line: 'snapshot delete 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e', note: 'Asks for confirmation' },
    { line: 'snapshot delete 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e --yes', note: 'In a script' },
  ],
  async run(context, { args: { id } }) {
    const snapshot = await findSnapshot(context, id);
    const { organization, project, environment } = snapshot;
    await context.confirm(`Delete snapshot ${snapshotTitle(snapshot)} of ${organization}/${project}/${environment}?`);
    await context.api().delete(snapshotPath(snapshot));
    context.io.note(`Snapshot ${snapshotTitle(snapshot)} is deleted.`);
  },
});
