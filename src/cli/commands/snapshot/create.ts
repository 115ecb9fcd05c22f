import type { SnapshotView } from '../../../wire/snapshots.ts';
import { apiPath } from '../../../client/api-client.ts';
import { defineCommand } from '../../command.ts';
import { scopeOptions, text } from '../../options.ts';
import { snapshotFields } from './snapshot-view.ts';

/** `snapshot create`: docs/interface.md 4.1 and 4.9. */
export const snapshotCreateCommand = defineCommand({
  summary: 'Capture the present state of an environment',
  options: {
    name: text('-n, --name <name>', 'A name for people'),
    description: text('-d, --desc <description>', 'What it is for'),
    ...scopeOptions,
  },
  examples: [
    { line: "snapshot create -n before-release -d 'before version 2.0'", note: "Capture the folder's environment" },
    { line: 'snapshot create -o acme -p shop -e production --output name', note: 'Print the id alone' },
  ],
  async run(context, { options }) {
    const { organization, project, environment } = context.scope(options);
    const { name, description } = options;
    const snapshot = await context
      .api()
      .post<SnapshotView>(apiPath`/snapshots/${organization}/${project}/${environment}`, {
        ...(name === undefined ? {} : { name }),
        ...(description === undefined ? {} : { description }),
      });
    await context.printer.object({ value: snapshot, fields: snapshotFields(snapshot), name: snapshot.id });
  },
});
