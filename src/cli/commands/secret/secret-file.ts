import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { CliError, usageError } from '../../core/cli-error.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import type { DotenvWarning } from '../../../wire/formats/dotenv.ts';
import { FormatError } from '../../../wire/formats/format-error.ts';
import type { ManifestNames } from '../../formats/k8s-secret.ts';
import type { SecretTable } from '../../../wire/formats/secret-table.ts';
import { fileFault } from '../../settings/file-fault.ts';
import type { CommandContext } from '../../core/command.ts';

/** Files of secrets: docs/cli-files.md. Each format is loaded when it is used. */

export const readableFormats = ['env', 'json', 'yaml', 'docker', 'k8s-secret'] as const;
export const writableFormats = ['env', 'json', 'yaml', 'shell', 'docker', 'k8s-secret'] as const;
export type ReadableFormat = (typeof readableFormats)[number];
export type WritableFormat = (typeof writableFormats)[number];

/** The format for a file name; undefined if the name shows none. */
export function formatOfName(path: string): ReadableFormat | undefined {
  const name = basename(path).toLowerCase();
  if (/\.ya?ml$/.test(name)) return 'yaml';
  if (name.endsWith('.json')) return 'json';
  return /^\.env(?:\.|$)|\.env$/.test(name) ? 'env' : undefined;
}

/** What a file of secrets holds. */
export interface SecretFile {
  readonly secrets: SecretTable;
  /** Lines that other programs read differently; none in JSON and YAML, which are unambiguous. */
  readonly warnings: readonly DotenvWarning[];
  /** Keys of a Kubernetes Secret whose bytes are not text: their values are base64. */
  readonly base64Keys: readonly string[];
}

/**
 * Reads a file of secrets, `-` for standard input, in the given format or in that of its name (`env` for
 * standard input).
 *
 * @throws CliError usage, with the number of the faulty line and never with its content.
 */
export async function readSecretFile(
  { io, environment }: CommandContext,
  path: string,
  given: ReadableFormat | undefined,
): Promise<SecretFile> {
  const shown = shownFile(path);
  const format = given ?? (path === '-' ? 'env' : formatOfName(path));
  if (format === undefined) {
    throw usageError(
      `the name of ${shown} does not show its format`,
      `Add --format, one of ${readableFormats.join(', ')}; names like .env, .json and .yaml need none`,
    );
  }
  const bytes = path === '-' ? await io.readInput() : readBytes(resolve(environment.workingDirectory, path), shown);
  return await withFileName(
    shown,
    async () => await parseSecrets(decodedFile(bytes), format),
    manifestHint(format, bytes),
  );
}

/** The next step if a manifest of a Kubernetes Secret was read in the format of its name. */
function manifestHint(format: ReadableFormat, bytes: Buffer): string[] {
  const isManifest = /^kind: *Secret *\r?$|^ *"kind": *"Secret"/m.test(bytes.toString('latin1'));
  return isManifest && format !== 'k8s-secret'
    ? ['For the manifest of a Kubernetes Secret, add --format k8s-secret']
    : [];
}

/** Parses the text of a file of secrets. Throws FormatError, with the line and never with a value. */
export async function parseSecrets(text: string, format: ReadableFormat): Promise<SecretFile> {
  return await parsers[format](text);
}

/** A warning as a line for users. */
export function shownWarning({ line, key, message }: DotenvWarning): string {
  return `line ${line}, ${key}: ${message}`;
}

/** The name of a file in messages. */
export function shownFile(path: string): string {
  return path === '-' ? 'standard input' : path;
}

/** Reads a file's bytes. Throws CliError usage if that fails. */
export function readBytes(path: string, shown: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw usageError(`${shown} cannot be read: ${fileFault(error)}`);
  }
}

/** Decodes UTF-8 exactly. Throws FormatError for other bytes. */
export function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new FormatError(hasUtf16Mark(bytes) ? utf16 : 'it is not text in UTF-8; encode binary data as base64');
  }
}

const utf16 = 'it is in UTF-16, which PowerShell 5 writes. Save it as UTF-8, for example with Out-File -Encoding utf8';

function hasUtf16Mark(bytes: Buffer): boolean {
  return ['fffe', 'feff'].includes(bytes.subarray(0, 2).toString('hex'));
}

/** As `decoded`, for a file of secrets. Without its mark, UTF-16 is UTF-8 with a NUL beside each letter. */
function decodedFile(bytes: Buffer): string {
  const [first, second] = bytes;
  if (bytes.length > 1 && (first === 0) !== (second === 0)) throw new FormatError(utf16);
  return decoded(bytes);
}

/** Writes secrets in a format. Throws CliError usage if the format cannot represent them. */
export async function writeSecrets(
  secrets: SecretTable,
  format: WritableFormat,
  names: ManifestNames,
): Promise<string> {
  return await withFileName(`--format ${format}`, async () => await writers[format](secrets, names));
}

const parsers: Readonly<Record<ReadableFormat, (text: string) => Promise<SecretFile>>> = {
  env: async (text) => ({ ...(await import('../../../wire/formats/dotenv.ts')).parseDotenv(text), base64Keys: [] }),
  json: async (text) => unambiguous((await import('../../formats/json.ts')).parseJson(text)),
  yaml: async (text) => unambiguous(await (await import('../../formats/yaml.ts')).parseYaml(text)),
  docker: async (text) => unambiguous((await import('../../formats/docker.ts')).parseDocker(text)),
  'k8s-secret': async (text) => {
    return { ...(await (await import('../../formats/k8s-secret-reader.ts')).parseK8sSecret(text)), warnings: [] };
  },
};

function unambiguous(secrets: SecretTable): SecretFile {
  return { secrets, warnings: [], base64Keys: [] };
}

type Writer = (secrets: SecretTable, names: ManifestNames) => Promise<string>;

const writers: Readonly<Record<WritableFormat, Writer>> = {
  env: async (secrets) => (await import('../../../wire/formats/dotenv.ts')).writeDotenv(secrets),
  json: async (secrets) => (await import('../../formats/json.ts')).writeJson(secrets),
  yaml: async (secrets) => (await import('../../formats/yaml.ts')).writeYaml(secrets),
  shell: async (secrets) => (await import('../../formats/shell.ts')).writeShell(secrets),
  docker: async (secrets) => (await import('../../formats/docker.ts')).writeDocker(secrets),
  'k8s-secret': async (secrets, names) => (await import('../../formats/k8s-secret.ts')).writeK8sSecret(secrets, names),
};

/** Runs work on a file or format; its errors get the name and these next steps, and are errors of usage. */
export async function withFileName<T>(what: string, work: () => Promise<T>, next: string[] = []): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FormatError)
      throw new CliError(exitCodes.usage, `${what}: ${error.message}`, { cause: error, next });
    throw error;
  }
}
