import { validateSecretKey } from '../../../wire/secret-rules.ts';
import type { SecretListView, SecretView } from '../../../wire/secrets.ts';
import type { VersionWithValueView } from '../../../wire/versions.ts';
import { apiPath } from '../../../client/api-client.ts';
import { CliError, usageError } from '../../cli-error.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { SecretTable } from '../../formats/secret-table.ts';
import { choice, completing, restArguments, revealOption, scopeOptions, text, versionNumber } from '../../options.ts';
import type { Scope } from '../../settings/scope.ts';
import { printHidden, printValues, warnOfShells } from './formatted-output.ts';
import { printSecretList } from './list.ts';
import { type WritableFormat, writableFormats, writeSecrets } from './secret-file.ts';
import { destroyedKeys, pastSecret, scopeFlags, secretsPath, shownScope, tableOf } from './secrets-api.ts';
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
    const scope = context.scope(options);
    const { version, revision, format } = options;
    const [key = ''] = keys;
    if (version !== undefined)
      return await printSecret(context, await readVersion(context, scope, key, version), options);
    if (keys.length === 1 && format === undefined) {
      const secret = await context
        .api()
        .get<SecretView>(`${secretsPath(scope)}${apiPath`/${key}`}`, { query: { revision } });
      return await printSecret(context, secret, options);
    }
    const list = await readKeys(context, scope, { keys, revision });
    if (context.printer.format !== 'table') return await printList(context, list, options);
    await printFormatted(context, tableOf(list), { ...options, format: format ?? 'env', name: scope.environment });
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

async function readVersion(
  context: CommandContext,
  { organization, project, environment }: Scope,
  key: string,
  version: number,
): Promise<SecretView> {
  const path = apiPath`/versions/${organization}/${project}/${environment}/${key}/${version}`;
  return pastSecret(key, await context.api().get<VersionWithValueView>(path));
}

/**
 * The secrets with these keys, in this order, all of one revision. The request reads no more than the keys with their
 * common prefix. Throws CliError notFound, which names all keys that do not exist.
 */
async function readKeys(
  context: CommandContext,
  scope: Scope,
  { keys, revision }: { readonly keys: readonly string[]; readonly revision: string | undefined },
): Promise<SecretListView> {
  for (const [index, key] of keys.entries()) requireValidKey(key, index + 1);
  const prefix = commonPrefix(keys);
  // Another key with this prefix may have lost its value of then.
  const query = {
    revision,
    prefix: prefix === '' ? undefined : prefix,
    skipDestroyed: revision !== undefined || undefined,
  };
  const api = context.api();
  const list = await api.get<SecretListView>(secretsPath(scope), { query });
  const found = new Map(list.secrets.map((secret) => [secret.key, secret]));
  const absent = keys.filter((key) => !found.has(key));
  if (absent.length === 0) return { ...list, secrets: keys.flatMap((key) => found.get(key) ?? []) };
  const destroyed = revision === undefined ? [] : await destroyedKeys(api, scope, list);
  throw absentKeys(scope, list.revision, {
    missing: absent.filter((key) => !destroyed.includes(key)),
    destroyed: absent.filter((key) => destroyed.includes(key)),
  });
}

/** The argument is not repeated: it may be a value in the wrong place. */
function requireValidKey(key: string, place: number): void {
  const fault = validateSecretKey(key);
  if (fault !== undefined) throw usageError(`argument ${place} is not a key: it ${fault}`);
}

function absentKeys(
  scope: Scope,
  revision: number,
  { missing, destroyed }: { readonly missing: readonly string[]; readonly destroyed: readonly string[] },
): CliError {
  const place = `${shownScope(scope)} at revision ${revision}`;
  const faults = [
    ...(missing.length === 0 ? [] : [`${place} has no ${missing.join(', ')}`]),
    ...(destroyed.length === 0 ? [] : [`the values of ${destroyed.join(', ')} in ${place} were destroyed`]),
  ];
  return new CliError(exitCodes.notFound, faults.join('; '), {
    next: [`See its keys: keyframe list ${scopeFlags(scope)}`],
  });
}

function commonPrefix([first = '', ...others]: readonly string[]): string {
  let length = first.length;
  while (others.some((other) => !other.startsWith(first.slice(0, length)))) length -= 1;
  return first.slice(0, length);
}

/** The form that --output asks for; on a terminal without the values. */
async function printList(context: CommandContext, list: SecretListView, flags: Flags): Promise<void> {
  if (context.showsValues(flags)) return await printSecretList(context, list);
  const secrets = list.secrets.map(({ value: _value, ...rest }) => rest);
  await printSecretList(context, { ...list, secrets });
}

async function printFormatted(
  context: CommandContext,
  secrets: SecretTable,
  { format, name, reveal }: { readonly format: WritableFormat; readonly name: string; readonly reveal: boolean },
): Promise<void> {
  // The user has named the keys, so keys that a shell or loader acts on are not refused as they are in pull.
  const written = await writeSecrets(secrets, format, { name, namespace: undefined });
  if (!context.showsValues({ reveal })) return printHidden(context, secrets.keys(), 'To see them, add --reveal');
  if (format === 'env') await warnOfShells(context, secrets);
  printValues(context, written);
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
