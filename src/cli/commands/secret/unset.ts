import type { ApiClient } from '../../../client/api-client.ts';
import { CliError, usageError } from '../../core/cli-error.ts';
import { defineCommand } from '../../core/command.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { completing, commentOption, restArguments, scopeOptions, text } from '../../core/options.ts';
import type { Scope } from '../../settings/scope.ts';
import { expectedRevisionId, expectedRevisionOption, requireRevision } from './expected-state.ts';
import { counted } from '../../../lib/counted.ts';
import { patchSecrets, readKeys, scopeFlags, shownScope } from './secrets-api.ts';
import { noteUndo } from './shown-plan.ts';

export const unsetCommand = defineCommand({
  summary: 'Delete secrets',
  description: 'Several secrets are deleted in one change: all or none. `keyframe versions` still shows their history.',
  arguments: { keys: completing('key', restArguments('[key...]', 'Keys of the secrets')) },
  options: {
    ...scopeOptions,
    prefix: text('--prefix <text>', 'Delete all secrets whose keys have this prefix'),
    ...expectedRevisionOption,
    ...commentOption,
  },
  examples: [
    { line: 'unset OLD_KEY', note: 'Delete one; asks for confirmation' },
    { line: 'unset OLD_KEY OLDER_KEY --yes', note: 'Delete two without confirmation' },
    { line: 'unset --prefix OLD_', note: 'Delete all with a prefix; lists them and asks for confirmation' },
  ],
  async run(context, { args: { keys }, options }) {
    if (keys.some((key) => key.includes('=')))
      throw usageError('a key cannot contain =; to set a secret use keyframe set');
    const scope = await context.scope(options);
    const api = context.api();
    const wanted = await wantedKeys(api, scope, { keys, ...options });
    await context.confirm(`Delete ${wanted.keys.join(', ')} from ${shownScope(scope)}?`);
    const { expectedRevision } = wanted;
    const answer = await patchSecrets(api, scope, { delete: wanted.keys, comment: options.comment, expectedRevision });
    await context.printer.lines(answer, answer.deleted);
    if (context.printer.format === 'table') {
      const secrets = counted(answer.deleted.length, 'secret');
      context.io.note(`Deleted ${secrets} from ${shownScope(scope)} (revision ${answer.revision})`);
    }
    noteUndo(context, answer.revision, scope);
  },
});

interface Wanted {
  readonly keys: readonly string[];
  readonly expectedRevision: string | undefined;
}

/** The keys to delete. Those of a prefix hold for the revision at which they were listed, which the user confirms. */
async function wantedKeys(
  api: ApiClient,
  scope: Scope,
  options: Wanted & { readonly prefix: string | undefined },
): Promise<Wanted> {
  const { prefix, expectedRevision } = options;
  if ((prefix === undefined) === (options.keys.length === 0)) {
    const message = prefix === undefined ? 'no key is given, and no --prefix' : 'keys and --prefix cannot be combined';
    throw usageError(message, 'For example: keyframe unset OLD_KEY, or keyframe unset --prefix OLD_');
  }
  if (prefix === undefined) {
    const keys = [...new Set(options.keys)];
    return { keys, expectedRevision: await expectedRevisionId(api, scope, expectedRevision) };
  }
  const list = await readKeys(api, scope, { prefix });
  requireRevision(scope, list, expectedRevision);
  const keys = list.secrets.map(({ key }) => key);
  if (keys.length > 0) return { keys, expectedRevision: list.revisionId };
  throw new CliError(exitCodes.notFound, `no secret of ${shownScope(scope)} has the prefix ${prefix}`, {
    next: [`See the secrets: keyframe list ${scopeFlags(scope)}`],
  });
}
