import { charsetNames, defaultGeneration, limits, validateSecretKey } from '../../../wire/secret-rules.ts';
import { shownName } from '../../../wire/shown-name.ts';
import { CliError, usageError } from '../../cli-error.ts';
import { defineCommand } from '../../command.ts';
import { exitCodes } from '../../exit-codes.ts';
import { completing, argument, choice, commentOption, flag, integer, scopeOptions } from '../../options.ts';
import { findSecretKey, patchSecrets, shownScope } from './secrets-api.ts';

const { minGeneratedLength: min, maxGeneratedLength: max } = limits;

/** `rotate <key>`: docs/interface.md 4.12. */
export const rotateCommand = defineCommand({
  summary: 'Give a secret a new random value, made up by the server',
  description:
    'The server makes the value up and does not show it: read it where it is needed. The value before stays in the ' +
    'history; once nothing uses it any more, `keyframe destroy` erases it. If another client changes the secret at the same ' +
    'time, nothing is done.',
  arguments: { key: completing('key', argument('<key>', 'Key of the secret')) },
  options: {
    ...scopeOptions,
    length: integer('--length <n>', 'How many characters the value has', {
      min,
      max,
      default: defaultGeneration.length,
    }),
    charset: choice('--charset <name>', 'Which characters', charsetNames, { default: defaultGeneration.charset }),
    isCreated: flag('--create', 'Make the secret where there is none'),
    ...commentOption,
  },
  examples: [
    { line: 'rotate DATABASE_PASSWORD', note: '32 letters and digits' },
    {
      line: 'rotate SESSION_KEY --length 64 --charset hex --comment "after the leak"',
      note: 'Another form, with a reason',
    },
  ],
  async run(context, { args: { key }, options }) {
    const fault = validateSecretKey(key);
    if (fault !== undefined) throw usageError(`the key ${shownName(key)} ${fault}`);
    const { length, charset, isCreated, comment, ...flags } = options;
    const scope = context.scope(flags);
    const api = context.api();
    const present = await findSecretKey(api, scope, key);
    if (present === undefined && !isCreated) throw absent(key, shownScope(scope));
    // Of two that rotate at once, only one must believe that it has done so.
    const generated = { length, charset, expectedVersion: present?.version ?? 0 };
    const answer = await patchSecrets(api, scope, { generate: new Map([[key, generated]]), comment });
    const version = answer.set[0]?.version;
    await context.printer.object({
      value: answer,
      fields: [
        ['Key', key],
        ['Version', version],
        ['Revision', answer.revision],
      ],
      name: key,
    });
    if (context.printer.format !== 'table' || present === undefined) return;
    const { organization, project, environment } = scope;
    const place = `-o ${organization} -p ${project} -e ${environment}`;
    context.io.note('The value before is in the history. Once nothing uses it any more:');
    context.io.note(`  keyframe destroy ${key} --version ${present.version} ${place}`);
  },
});

function absent(key: string, place: string): CliError {
  return new CliError(exitCodes.notFound, `there is no secret ${key} in ${place}, so it cannot get another value`, {
    next: ['To make it with such a value, add --create', 'See the secrets that exist: keyframe list'],
  });
}
