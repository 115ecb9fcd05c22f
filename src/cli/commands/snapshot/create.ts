import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { scopeOptions, text } from '../../core/options.ts';
import { scopeParams } from '../../settings/scope.ts';
import { shownScope } from '../secret/secrets-api.ts';
import { snapshotFields } from './snapshot-view.ts';

/** `snapshot create`: docs/interface.md 4.1 and 4.9. */
export const snapshotCreateCommand = defineCommand({
  summary: 'Capture the current state of an environment',
  options: {
    name: text('-n, --name <name>', 'Name of the snapshot'),
    description: text('-d, --desc <description>', 'Description of the snapshot'),
    ...scopeOptions,
  },
  examples: [
    {
      line: "snapshot create -n before-release -d 'before version 2.0'",
      note: 'Capture the environment of this directory',
    },
    { line: 'snapshot create -o acme -p shop -e production --output name', note: 'Print only the id' },
  ],
  async run(context, { options }) {
    const scope = await context.scope(options);
    const { name, description } = options;
    const request = { params: scopeParams(scope), body: { name, description } };
    const { body: snapshot } = await call(context.api(), 'POST /snapshots/{org}/{project}/{env}', request);
    const fields = [...snapshotFields(snapshot), ['Environment', shownScope(scope)] as const];
    await context.printer.object({ value: snapshot, fields, name: snapshot.id });
  },
});
