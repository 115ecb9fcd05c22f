import { call } from '../../../client/call.ts';
import { defineCommand } from '../../core/command.ts';
import { completing, argument, commentOption, flag, scopeOptions, versionNumber } from '../../core/options.ts';
import { scopeParams } from '../../settings/scope.ts';
import { expectedRevisionId, expectedRevisionOption, expectedVersionOption } from './expected-state.ts';
import { shownScope } from './secrets-api.ts';

/** `rollback <secret_key> --version <n>`: docs/interface.md 4.7 and 4.9. */
export const rollbackCommand = defineCommand({
  summary: 'Roll a secret back to an earlier version',
  description:
    'The secret gets a new version with the value of the earlier one. The history is kept. A deleted secret is refused without --undelete.',
  arguments: { key: completing('key', argument('<secret_key>', 'Key of the secret')) },
  options: {
    version: { ...versionNumber('Version to roll back to', { isRequired: true }), field: 'targetVersion' },
    undelete: flag('--undelete', 'Also restore the secret if it is deleted'),
    ...scopeOptions,
    ...expectedRevisionOption,
    expectedVersion: {
      ...expectedVersionOption.expectedVersion,
      description: 'Change nothing unless this is the current version of the key; 0 if it must be deleted',
    },
    ...commentOption,
  },
  examples: [
    { line: 'rollback DATABASE_URL --version 3', note: 'Restore the value of version 3' },
    { line: 'rollback API_KEY --version 4 --undelete', note: 'Restore a deleted secret' },
    {
      line: "rollback API_KEY --version 1 -o acme -p shop -e production --comment 'new key was refused'",
      note: 'With a comment',
    },
  ],
  async run(context, { args: { key }, options }) {
    const scope = await context.scope(options);
    const { version: targetVersion, undelete, comment, expectedVersion } = options;
    const expectedRevision = await expectedRevisionId(context.api(), scope, options.expectedRevision);
    const request = {
      params: { ...scopeParams(scope), key },
      body: { targetVersion, undelete, comment, expectedVersion, expectedRevision },
    };
    const { body: answer } = await call(context.api(), 'POST /versions/{org}/{project}/{env}/{key}/rollback', request);
    await context.printer.object({
      value: { key, ...answer },
      fields: [
        ['Secret', key],
        ['Environment', shownScope(scope)],
        ['Version', `v${answer.version}, with the value of v${targetVersion}`],
        ['Change', answer.changeType],
        ['Revision', answer.revision],
      ],
      name: key,
    });
  },
});
