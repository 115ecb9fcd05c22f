import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { scopeOptions } from '../../core/options.ts';
import type { DeletionOutput } from '../../output/shapes.ts';
import { shownScope } from '../secret/secrets-api.ts';
import { findSnapshot, snapshotArgument, snapshotParams, snapshotTitle } from './snapshot-view.ts';

/** `snapshot delete <snapshot>`. */
export const snapshotDeleteCommand = defineCommand({
  summary: 'Delete a snapshot; secrets are not affected',
  description: 'This cannot be undone.',
  arguments: { given: snapshotArgument },
  options: scopeOptions,
  examples: [
    { line: 'snapshot delete before-release', note: 'Asks for confirmation' },
    { line: 'snapshot delete 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e --yes', note: 'In a script' },
  ],
  async run(context, { args: { given }, options }) {
    const snapshot = await findSnapshot(context, given, options);
    await context.confirm(`Delete snapshot ${snapshotTitle(snapshot)} of ${shownScope(snapshot)}?`);
    await call(context.api(), 'DELETE /snapshots/{org}/{project}/{env}/{id}', { params: snapshotParams(snapshot) });
    const { id, name } = snapshot;
    const value = { kind: 'snapshot', action: 'deleted', id, name } satisfies DeletionOutput;
    await context.printer.done({ value, sentence: `Snapshot ${snapshotTitle(snapshot)} is deleted.`, name: id });
  },
});
