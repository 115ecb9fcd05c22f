import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { usageError } from '../../core/cli-error.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import type { SecretTable } from '../../../wire/formats/secret-table.ts';
import { completing, choice, flag, revealOption, scopeOptions, text } from '../../core/options.ts';
import { fileFault } from '../../settings/file-fault.ts';
import { writePrivateFile } from '../../settings/private-file.ts';
import { printHidden, printValues, warnOfShells } from './formatted-output.ts';
import { printSecretList } from './list.ts';
import { HandedVariables, variableOptions } from './handed-variables.ts';
import { requireNoLoaderVariables } from './loader-refusal.ts';
import { type WritableFormat, formatOfName, writableFormats, writeSecrets } from './secret-file.ts';
import { counted } from '../../../lib/counted.ts';
import { destroyedKeys, readSecrets, shownScope, tableOf } from './secrets-api.ts';

export const pullCommand = defineCommand({
  summary: 'Read all secrets of an environment in one of several formats',
  description:
    'On a terminal values are hidden unless you add --reveal. docs/cli-files.md describes the formats. The formats shell, env and docker are loaded as variables, so keys through which a value can run code, such as PATH or NODE_OPTIONS, are refused unless you add --allow-loader-variables. The format shell is meant for eval: as in keyframe run, new variables need your yes or --allow-new, and a list can name the variables.',
  options: {
    ...scopeOptions,
    format: choice(
      '--format <format>',
      'Format of the output (default: by the name of --file, else env)',
      writableFormats,
    ),
    file: completing('file', text('--file <path>', 'Write to this file, which only its owner can read')),
    revision: text('--revision <revision>', 'State at this revision (number or id)'),
    skipDestroyed: flag(
      '--skip-destroyed',
      'With --revision: leave out secrets whose value at that revision was destroyed',
    ),
    name: text('--name <name>', "Name of the Secret for --format k8s-secret (default: the environment's slug)"),
    namespace: text('--namespace <namespace>', 'Namespace of the Secret for --format k8s-secret'),
    ...variableOptions,
    ...revealOption,
  },
  examples: [
    { line: 'pull --file .env', note: 'Write the environment of this directory to a .env file' },
    { line: 'pull -o acme -p shop -e production --format json | jq keys', note: 'Pipe them to another program' },
    { line: 'pull --format k8s-secret --name app | kubectl apply -f -', note: 'Create a Kubernetes Secret' },
    {
      line: 'pull --format docker --file web.list',
      note: 'For docker run --env-file web.list',
    },
    { line: 'pull --format shell > secrets.sh', note: 'For a shell: . ./secrets.sh' },
  ],
  async run(context, { options }) {
    const { file, revision } = options;
    const format = formatOf(options);
    requireFitting(context, options, format);
    requireFittingVariables(options, format);
    const scope = await context.scope(options);
    const api = context.api();
    const list = await readSecrets(api, scope, revision, options);
    if (options.skipDestroyed) warnOfDestroyed(context, await destroyedKeys(api, scope, list));
    if (context.printer.format !== 'table') return await printAnswer(context, list, options);
    const names = { name: options.name ?? scope.environment, namespace: options.namespace };
    const isPrinted = file === undefined;
    const isHidden = isPrinted && !context.showsValues(options);
    const handed = format === 'shell' && !isHidden ? new HandedVariables(context, scope, options) : undefined;
    const secrets = handedSecrets(tableOf(list), handed);
    const written = await writeSecrets(secrets, format, names);
    if (isHidden) return printHidden(context, secrets.keys(), hiddenHint);
    const place = shownScope(scope);
    await checkDotenv(context, secrets, { format, place, allowed: options.allowLoaderVariables });
    await handed?.admit(secrets);
    if (!isPrinted) return await writeInto(context, { file, written, secrets, place });
    printValues(context, written);
  },
});

const hiddenHint = 'To see them, add --reveal; to write them into a file, --file <path>';

/** All secrets, or those that a shell gets. */
function handedSecrets(all: SecretTable, handed: HandedVariables | undefined): SecretTable {
  handed?.requireNamed(all);
  return handed?.listed(all) ?? all;
}

/** Shells load a dotenv file too: `set -a; . ./.env`, as direnv and Compose do in their way. */
async function checkDotenv(
  context: CommandContext,
  secrets: SecretTable,
  { format, ...loader }: { readonly format: WritableFormat; readonly place: string; readonly allowed: boolean },
): Promise<void> {
  if (format !== 'env' && format !== 'docker') return;
  requireNoLoaderVariables(secrets, loader);
  // docker reads its file itself.
  if (format === 'env') await warnOfShells(context, secrets);
}

function formatOf({ format, file }: { format: WritableFormat | undefined; file: string | undefined }): WritableFormat {
  if (format !== undefined || file === undefined) return format ?? 'env';
  const found = formatOfName(file);
  if (found !== undefined) return found;
  throw usageError(
    `the name of ${file} does not show its format`,
    `Add --format, one of ${writableFormats.join(', ')}; names like .env, .json and .yaml need none`,
  );
}

interface Flags {
  readonly file: string | undefined;
  readonly format: string | undefined;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  readonly reveal: boolean;
  readonly revision: string | undefined;
  readonly skipDestroyed: boolean;
  readonly only: readonly string[];
  readonly allowsNew: boolean;
}

/** Refuses flags that would have no effect. */
function requireFitting(
  { printer }: CommandContext,
  { file, format: given, name, namespace, revision, skipDestroyed }: Flags,
  format: string,
): void {
  if (skipDestroyed && revision === undefined) {
    throw usageError('--skip-destroyed is for --revision: no current value is destroyed');
  }
  if (printer.format !== 'table' && (given !== undefined || file !== undefined)) {
    throw usageError("--output prints the server's answer, and does not go with --format or --file");
  }
  if (format !== 'k8s-secret' && (name !== undefined || namespace !== undefined)) {
    throw usageError('--name and --namespace belong to --format k8s-secret');
  }
}

function requireFittingVariables({ only, allowsNew }: Flags, format: string): void {
  if (format === 'shell' || (only.length === 0 && !allowsNew)) return;
  throw usageError('--only and --allow-new belong to --format shell');
}

function warnOfDestroyed({ io }: CommandContext, keys: readonly string[]): void {
  if (keys.length === 0) return;
  io.warn(`left out, because the values of that revision were destroyed: ${keys.join(', ')}`);
}

/** The server's answer in the form of --output; on a terminal without the values. */
async function printAnswer(
  context: CommandContext,
  list: Awaited<ReturnType<typeof readSecrets>>,
  options: Flags,
): Promise<void> {
  if (context.showsValues(options)) return await printSecretList(context, list);
  const secrets = list.secrets.map(({ key, version, updatedAt }) => ({ key, version, updatedAt }));
  await printSecretList(context, { ...list, secrets });
}

interface FileToWrite {
  readonly file: string;
  readonly written: string;
  readonly secrets: SecretTable;
  readonly place: string;
}

async function writeInto(context: CommandContext, { file, written, secrets, place }: FileToWrite): Promise<void> {
  try {
    const path = writablePath(resolve(context.environment.workingDirectory, file));
    // No confirmation if the file already has this content.
    if (existsSync(path) && readFileSync(path, 'utf8') !== written) {
      await context.confirm(`${file} exists with different content. Replace it?`);
    }
    writePrivateFile(path, written);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    const fault = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'its folder does not exist' : fileFault(error);
    throw usageError(`${file} cannot be written: ${fault}`);
  }
  context.io.note(`Wrote ${counted(secrets.size, 'secret')} of ${place} to ${file} (mode 600)`);
}

/** The real path of a file. Only a regular file is replaced, never a link to it or a device. */
function writablePath(path: string): string {
  if (!existsSync(path)) return path;
  if (statSync(path).isFile()) return realpathSync(path);
  throw usageError(`${path} is not a file`, 'To print the secrets instead, leave out --file');
}
