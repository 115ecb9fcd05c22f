import type { ApiClient } from '../../../client/api-client.ts';
import { charsetNames, defaultGeneration, limits, validateSecretKey } from '../../../wire/secret-rules.ts';
import { CliError, usageError } from '../../core/cli-error.ts';
import { defineCommand } from '../../core/command.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import { nearest } from '../../core/nearest.ts';
import { completing, argument, choice, commentOption, flag, integer, scopeOptions } from '../../core/options.ts';
import type { Scope } from '../../settings/scope.ts';
import { expectedRevisionId, expectedRevisionOption, expectedVersionOption } from './expected-state.ts';
import { findSecretKey, patchSecrets, readKeys, scopeFlags, shownScope } from './secrets-api.ts';

const { minGeneratedLength: min, maxGeneratedLength: max } = limits;

/** `rotate <key>`: docs/interface.md 4.12. */
export const rotateCommand = defineCommand({
  summary: 'Replace the value of a secret with a random one from the server',
  description:
    'The server generates the value, and the command does not show it. The old value stays in the history; once nothing uses it, erase it with `keyframe destroy`. If another user changes the secret at the same time, nothing is changed.',
  arguments: { key: completing('key', argument('<key>', 'Key of the secret')) },
  options: {
    ...scopeOptions,
    length: integer('--length <n>', 'Length of the value in characters', {
      min,
      max,
      default: defaultGeneration.length,
    }),
    charset: choice('--charset <name>', 'Character set of the value', charsetNames, {
      default: defaultGeneration.charset,
    }),
    isCreated: flag('--create', 'Create the secret if it does not exist'),
    ...expectedRevisionOption,
    ...expectedVersionOption,
    ...commentOption,
  },
  examples: [
    { line: 'rotate DATABASE_PASSWORD', note: '32 letters and digits' },
    {
      line: 'rotate SESSION_KEY --length 64 --charset hex --comment "after the leak"',
      note: 'Another length and character set, with a comment',
    },
  ],
  async run(context, { args: { key }, options }) {
    const fault = validateSecretKey(key);
    if (fault !== undefined) throw usageError(`the key ${JSON.stringify(key)} ${fault}`);
    const { length, charset, isCreated, comment, expectedVersion, ...flags } = options;
    const scope = await context.scope(flags);
    const api = context.api();
    const present = await findSecretKey(api, scope, key);
    if (present === undefined && !isCreated) throw await absent(api, scope, key);
    // If two users rotate at the same time, only one must succeed.
    const generated = { length, charset, expectedVersion: expectedVersion ?? present?.version ?? 0 };
    const expectedRevision = await expectedRevisionId(api, scope, options.expectedRevision);
    const generate = new Map([[key, generated]]);
    const answer = await patchSecrets(api, scope, { generate, comment, expectedRevision });
    const version = answer.set[0]?.version;
    await context.printer.object({
      value: answer,
      fields: [
        ['Key', key],
        ['Environment', shownScope(scope)],
        ['Version', version],
        ['Revision', answer.revision],
      ],
      name: key,
    });
    if (context.printer.format !== 'table' || present === undefined) return;
    context.io.note('The old value is in the history. Once nothing uses it:');
    context.io.note(`  keyframe destroy ${key} --version ${present.version} ${scopeFlags(scope)}`);
  },
});

async function absent(api: ApiClient, scope: Scope, key: string): Promise<CliError> {
  const { secrets } = await readKeys(api, scope);
  const similar = nearest(
    key,
    secrets.map((secret) => secret.key),
  );
  return new CliError(exitCodes.notFound, `secret ${key} does not exist in ${shownScope(scope)}`, {
    next: [
      ...(similar === undefined ? [] : [`Did you mean ${similar}?`]),
      'To create it with a random value, add --create',
      `See the secrets: keyframe list ${scopeFlags(scope)}`,
    ],
  });
}
