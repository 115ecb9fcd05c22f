import { defineCommand } from '../../command.ts';
import { completing, argument } from '../../options.ts';
import { findSnapshot, snapshotFields } from './snapshot-view.ts';

/** `snapshot show <id>`. */
export const snapshotShowCommand = defineCommand({
  summary: 'Show a snapshot and its environment',
  arguments: { id: completing('snapshot', argument('<snapshot-id>', 'Id of the snapshot')) },
  examples: [{ line: 'snapshot show 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e', note: 'Its details and its environment' }],
  async run(context, { args: { id } }) {
    const snapshot = await findSnapshot(context, id);
    const { organization, project, environment } = snapshot;
    const place = `${organization}/${project}/${environment}`;
    const fields = [...snapshotFields(snapshot), ['Environment', place] as const];
    await context.printer.object({ value: snapshot, fields, name: snapshot.id });
  },
});
