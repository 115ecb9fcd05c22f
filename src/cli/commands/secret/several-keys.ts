import { validateSecretKey } from '../../../wire/secret-rules.ts';
import { call } from '../../../client/call.ts';
import type { SecretListView } from '../../../wire/secrets.ts';
import { CliError, usageError } from '../../core/cli-error.ts';
import type { CommandContext } from '../../core/command.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import type { SecretTable } from '../../../wire/formats/secret-table.ts';
import { type Scope, scopeParams } from '../../settings/scope.ts';
import { printHidden, printValues, warnOfShells } from './formatted-output.ts';
import { printSecretList } from './list.ts';
import { type WritableFormat, writeSecrets } from './secret-file.ts';
import { destroyedKeys, scopeFlags, shownScope, tableOf } from './secrets-api.ts';

interface Wanted {
  readonly keys: readonly string[];
  readonly revision: string | undefined;
  /** Default: env. */
  readonly format: WritableFormat | undefined;
  readonly reveal: boolean;
}

/**
 * Prints the values of these keys, read in one request, in the form that --output or `format` asks for. Throws CliError if
 * one of them does not exist; then it prints none.
 */
export async function printKeys(context: CommandContext, scope: Scope, wanted: Wanted): Promise<void> {
  const list = await readKeys(context, scope, wanted);
  if (context.printer.format !== 'table') return await printList(context, list, wanted);
  const { format = 'env', reveal } = wanted;
  await printFormatted(context, tableOf(list), { format, reveal, name: scope.environment });
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
    ...(revision === undefined ? {} : { skipDestroyed: 'true' as const }),
  };
  const api = context.api();
  const { body: list } = await call(api, 'GET /secrets/{org}/{project}/{env}', { params: scopeParams(scope), query });
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
async function printList(
  context: CommandContext,
  list: SecretListView,
  flags: { readonly reveal: boolean },
): Promise<void> {
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
