import type { SecretView } from '../../../wire/secrets.ts';
import { call } from '../../../client/call.ts';
import { usageError } from '../../core/cli-error.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import {
  choice,
  completing,
  restArguments,
  revealOption,
  scopeOptions,
  text,
  versionNumber,
} from '../../core/options.ts';
import { type Scope, scopeParams } from '../../settings/scope.ts';
import { type WritableFormat, writableFormats } from './secret-file.ts';
import { pastSecret } from './secrets-api.ts';
import { terminalText } from '../../terminal/terminal-text.ts';
import { time } from '../../terminal/time.ts';

export const getCommand = defineCommand({
  summary: 'Print the values of secrets',
  description:
    'In a pipe or file, the output for one key is exactly the value. Several keys are read in one request, so their values belong to the same revision, and they are printed as KEY=value lines or in another --format. If one of them is missing, nothing is printed. On a terminal values are hidden unless you add --reveal.',
  arguments: { keys: completing('key', restArguments('<key...>', 'Keys of the secrets')) },
  options: {
    ...scopeOptions,
    version: versionNumber('Value of this version of the one key; also works for a deleted secret'),
    revision: text('--revision <revision>', 'Value at this revision (number or id)'),
    format: choice(
      '--format <format>',
      'Format of the output (default: the value alone for one key, else env)',
      writableFormats,
    ),
    ...revealOption,
  },
  examples: [
    { line: 'get API_KEY --reveal', note: 'Show a value' },
    { line: 'get TLS_KEY > tls.key', note: 'Write the exact value to a file' },
    { line: 'get DB_USER DB_PASSWORD --format json', note: 'Two values of the same revision, for a program' },
    { line: 'get API_KEY --version 3 --output json', note: 'An earlier version with its metadata' },
  ],
  async run(context, { args: { keys }, options }) {
    requireFitting(context, keys, options);
    const scope = await context.scope(options);
    const { version, revision, format } = options;
    const [key = ''] = keys;
    if (version !== undefined)
      return await printSecret(context, await readVersion(context, scope, key, version), options);
    if (keys.length === 1 && format === undefined) {
      const request = { params: { ...scopeParams(scope), key }, query: { revision } };
      const secret = await call(context.api(), 'GET /secrets/{org}/{project}/{env}/{key}', request);
      return await printSecret(context, secret.body, options);
    }
    const { printKeys } = await import('./several-keys.ts');
    await printKeys(context, scope, { ...options, keys });
  },
});

interface Flags {
  readonly version: number | undefined;
  readonly revision: string | undefined;
  readonly format: WritableFormat | undefined;
  readonly reveal: boolean;
}

/** Refuses flags and keys that contradict each other. */
function requireFitting(
  { printer }: CommandContext,
  keys: readonly string[],
  { version, revision, format }: Flags,
): void {
  // An argument with = may hold a value, which is not repeated.
  if (keys.some((key) => key.includes('='))) throw usageError('a key cannot contain =');
  const twice = keys.find((key, index) => keys.indexOf(key) !== index);
  if (twice !== undefined) throw usageError(`${twice} is given twice`);
  if (version !== undefined && keys.length > 1) throw usageError('--version is for one key');
  if (version !== undefined && revision !== undefined) throw usageError('--version and --revision cannot be combined');
  if (format === undefined) return;
  if (version !== undefined) throw usageError('--version and --format cannot be combined');
  if (printer.format !== 'table')
    throw usageError("--output prints the server's answer, and does not go with --format");
}

async function readVersion(context: CommandContext, scope: Scope, key: string, version: number): Promise<SecretView> {
  const params = { ...scopeParams(scope), key, version };
  const { body } = await call(context.api(), 'GET /versions/{org}/{project}/{env}/{key}/{version}', { params });
  return pastSecret(key, body);
}

async function printSecret(
  context: CommandContext,
  found: SecretView,
  flags: { readonly reveal: boolean },
): Promise<void> {
  const { io, printer } = context;
  const isShown = context.showsValues(flags);
  if (printer.format === 'table' && isShown) {
    io.write(io.isOutputTerminal ? `${terminalText(found.value)}\n` : found.value);
    return;
  }
  const { value: _value, ...withoutValue } = found;
  await printer.object({
    value: isShown ? found : withoutValue,
    name: found.key,
    fields: [
      ['Key', found.key],
      ['Version', found.version],
      ['Changed', time(found.updatedAt)],
    ],
  });
  if (!isShown && printer.format !== 'name') io.note('The value is hidden on a terminal. To see it, add --reveal');
}
