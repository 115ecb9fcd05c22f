import type { RollbackView } from '../../../wire/versions.ts';
import { apiPath } from '../../../client/api-client.ts';
import { defineCommand } from '../../command.ts';
import { completing, argument, commentOption, integer, scopeOptions } from '../../options.ts';

/** `rollback <secret_key> --version <n>`: docs/interface.md 4.7 and 4.9. */
export const rollbackCommand = defineCommand({
  summary: 'Give a secret the value of an earlier version',
  description: 'The secret gets a new version with the value of the earlier one. Nothing of its history is lost.',
  arguments: { key: completing('key', argument('<secret_key>', 'Key of the secret')) },
  options: {
    version: completing(
      'version',
      integer('--version <n>', 'The version to go back to', { min: 1, max: 2 ** 31 - 1, isRequired: true }),
    ),
    ...scopeOptions,
    ...commentOption,
  },
  examples: [
    { line: 'rollback DATABASE_URL --version 3', note: 'Give a secret the value of its version 3' },
    {
      line: "rollback API_KEY --version 1 -o acme -p shop -e production --comment 'new key was refused'",
      note: 'Say why',
    },
  ],
  async run(context, { args: { key }, options }) {
    const { organization, project, environment } = context.scope(options);
    const { version: targetVersion, comment } = options;
    const answer = await context
      .api()
      .post<RollbackView>(apiPath`/versions/${organization}/${project}/${environment}/${key}/rollback`, {
        targetVersion,
        ...(comment === undefined ? {} : { comment }),
      });
    await context.printer.object({
      value: answer,
      fields: [
        ['Secret', key],
        ['Version', `v${answer.version}, with the value of v${targetVersion}`],
        ['Change', answer.changeType],
        ['Revision', answer.revision],
      ],
      name: String(answer.version),
    });
  },
});
