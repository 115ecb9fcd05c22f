import { usageError } from '../../cli-error.ts';
import { defineCommand } from '../../command.ts';
import { completing, commentOption, restArguments, scopeOptions } from '../../options.ts';
import { counted, patchSecrets, shownScope } from './secrets-api.ts';

export const unsetCommand = defineCommand({
  summary: 'Delete secrets',
  description: 'Several secrets are deleted in one change: all or none. `keyframe versions` still shows their history.',
  arguments: { keys: completing('key', restArguments('<key...>', 'Keys of the secrets')) },
  options: { ...scopeOptions, ...commentOption },
  examples: [
    { line: 'unset OLD_KEY', note: 'Delete one; asks for confirmation' },
    { line: 'unset OLD_KEY OLDER_KEY --yes', note: 'Delete two without confirmation' },
  ],
  async run(context, { args: { keys }, options }) {
    if (keys.some((key) => key.includes('=')))
      throw usageError('a key cannot contain =; to set a secret use keyframe set');
    const scope = context.scope(options);
    const api = context.api();
    const unique = [...new Set(keys)];
    await context.confirm(`Delete ${unique.join(', ')} from ${shownScope(scope)}?`);
    const answer = await patchSecrets(api, scope, { delete: unique, comment: options.comment });
    await context.printer.lines(answer, answer.deleted);
    if (context.printer.format === 'table') {
      const secrets = counted(answer.deleted.length, 'secret');
      context.io.note(`Deleted ${secrets} from ${shownScope(scope)} (revision ${answer.revision})`);
    }
  },
});
