import { defineCommand } from '../../core/command.ts';
import { scopeOptions } from '../../core/options.ts';
import { shownScope } from '../secret/secrets-api.ts';
import { findSnapshot, snapshotArgument, snapshotFields } from './snapshot-view.ts';

/** `snapshot show <snapshot>`. */
export const snapshotShowCommand = defineCommand({
  summary: 'Show a snapshot and its environment',
  arguments: { given: snapshotArgument },
  options: scopeOptions,
  examples: [
    { line: 'snapshot show latest', note: 'The newest snapshot of the environment of this directory' },
    { line: 'snapshot show 5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e', note: 'A snapshot of any environment' },
  ],
  async run(context, { args: { given }, options }) {
    const snapshot = await findSnapshot(context, given, options);
    const fields = [...snapshotFields(snapshot), ['Environment', shownScope(snapshot)] as const];
    await context.printer.object({ value: snapshot, fields, name: snapshot.id });
  },
});
