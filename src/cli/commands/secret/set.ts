import { resolve } from 'node:path';
import { validateSecretKey, validateSecretValue } from '../../../wire/secret-rules.ts';
import type { SecretPatchView } from '../../../wire/secrets.ts';
import type { ApiClient } from '../../../client/api-client.ts';
import { call } from '../../../client/call.ts';
import { usageError } from '../../core/cli-error.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import { completing, commentOption, flag, restArguments, scopeOptions } from '../../core/options.ts';
import type { SecretTable } from '../../../wire/formats/secret-table.ts';
import { type Scope, scopeParams } from '../../settings/scope.ts';
import { expectedRevisionId, expectedRevisionOption, expectedVersionOption } from './expected-state.ts';
import { rememberWritten } from './handed-variables.ts';
import { warnOfLoaderVariables } from './loader-refusal.ts';
import { decoded, readBytes, withFileName } from './secret-file.ts';
import { counted } from '../../../lib/counted.ts';
import { patchSecrets, shownScope } from './secrets-api.ts';

export const setCommand = defineCommand({
  summary: 'Set secrets: KEY=VALUE, from standard input or from a file',
  description:
    'Several secrets are set in one change, all or none, after you confirm. A secret that has this value already gets no new version. Other users of this machine can see a command line, and the shell stores it in its history. Pass confidential values with -, @ or the hidden prompt.',
  arguments: {
    pairs: completing(
      'key',
      restArguments(
        '<pair...>',
        'KEY=VALUE; KEY=@FILE takes the value from a file, KEY=- from standard input; KEY alone prompts for it',
      ),
    ),
  },
  options: {
    ...scopeOptions,
    stdin: flag('--stdin', 'Read the value of the one KEY without = from standard input'),
    literal: flag('--literal', 'Do not interpret values that are - or begin with @'),
    isForced: flag('--force', 'Create a new version even if the value is the same (always with --expected-version)'),
    ...expectedRevisionOption,
    ...expectedVersionOption,
    trimNewline: flag('--trim-newline', 'Remove one newline at the end of a value from a file or standard input'),
    ...commentOption,
  },
  examples: [
    { line: 'set LOG_LEVEL=debug REGION=eu', note: 'Set two secrets; asks for confirmation' },
    { line: 'set API_KEY', note: 'Prompt for the value without showing it' },
    { line: 'set TLS_KEY=@tls.key --comment "new key"', note: 'The exact content of a file' },
    { line: 'set TOKEN=- < token.txt', note: 'From standard input' },
  ],
  async run(context, { args, options }) {
    const requests = parsePairs(args.pairs, options);
    requireFitting(requests, options);
    const scope = await context.scope(options);
    const api = context.api();
    const values = new Map<string, string>();
    for (const request of requests) {
      const { key } = request;
      const value = await valueFrom(context, request, options.trimNewline);
      const fault = validateSecretValue(value);
      if (fault !== undefined) throw usageError(`the value of ${key} ${fault}`);
      values.set(key, value);
    }
    warnOfLoaderVariables(context, values);
    if (values.size > 1) await context.confirm(`Set ${[...values.keys()].join(', ')} in ${shownScope(scope)}?`);
    const answer = await writeValues(api, scope, { values, ...options });
    rememberWritten(context, scope, [...values.keys()]);
    await context.printer.list({
      value: answer,
      rows: answer.set,
      columns: [
        { title: 'KEY', cell: ({ key }) => key },
        { title: 'VERSION', cell: ({ version }) => version },
      ],
      name: ({ key }) => key,
      whenEmpty: 'Nothing has changed.',
    });
    if (context.printer.format === 'table') {
      const secrets = counted(answer.set.length, 'secret');
      context.io.note(`Wrote ${secrets} to ${shownScope(scope)} (revision ${answer.revision})`);
      const same = answer.unchanged.join(', ');
      if (same !== '') context.io.note(`Unchanged: ${same} (--force creates a new version)`);
    }
  },
});

type Source =
  | { readonly kind: 'given'; readonly value: string }
  | { readonly kind: 'stdin' | 'question' }
  | { readonly kind: 'file'; readonly path: string };

interface SetRequest {
  readonly key: string;
  readonly source: Source;
}

interface WriteOptions {
  readonly isForced: boolean;
  readonly comment: string | undefined;
  readonly expectedRevision: string | undefined;
  readonly expectedVersion: number | undefined;
}

function requireFitting(requests: readonly SetRequest[], options: WriteOptions): void {
  const { expectedRevision, expectedVersion } = options;
  if (expectedVersion === undefined) return;
  if (requests.length > 1) throw usageError('--expected-version is for one KEY; use --expected-revision for several');
  if (expectedRevision !== undefined) {
    throw usageError('--expected-version and --expected-revision cannot be combined');
  }
}

/** Writes all values in one change. The server compares a version only in a request for one key. */
async function writeValues(
  api: ApiClient,
  scope: Scope,
  { values, isForced, comment, expectedVersion, ...options }: WriteOptions & { readonly values: SecretTable },
): Promise<SecretPatchView> {
  const [first] = values;
  if (first !== undefined && expectedVersion !== undefined) {
    const [key, value] = first;
    const request = { params: { ...scopeParams(scope), key }, body: { value, comment, expectedVersion } };
    const { body } = await call(api, 'PUT /secrets/{org}/{project}/{env}/{key}', request);
    const { version, revision, revisionId } = body;
    return { set: [{ key, version }], deleted: [], unchanged: [], revision, revisionId };
  }
  const expectedRevision = await expectedRevisionId(api, scope, options.expectedRevision);
  return await patchSecrets(api, scope, { set: values, comment, expectedRevision, skipUnchanged: !isForced });
}

/** Parses the arguments. An invalid one is reported by its position: it may be a value. */
function parsePairs(pairs: readonly string[], flags: { stdin: boolean; literal: boolean }): SetRequest[] {
  const requests = pairs.map((pair, index) => parsePair(pair, index + 1, flags));
  const keys = requests.map(({ key }) => key);
  const repeated = keys.find((key, index) => keys.indexOf(key) !== index);
  if (repeated !== undefined) throw usageError(`${repeated} is given twice; one of the values would be lost`);
  const fromStdin = requests.filter(({ source }) => source.kind === 'stdin');
  if (fromStdin.length > 1) {
    throw usageError(`standard input is one value, and ${fromStdin.map(({ key }) => key).join(' and ')} want it`);
  }
  if (flags.stdin && fromStdin.length === 0) {
    throw usageError('--stdin needs a key that stands alone, without =', 'For example: keyframe set API_KEY --stdin');
  }
  return requests;
}

function parsePair(pair: string, place: number, { stdin, literal }: { stdin: boolean; literal: boolean }): SetRequest {
  const sign = pair.indexOf('=');
  const key = sign === -1 ? pair : pair.slice(0, sign);
  const fault = validateSecretKey(key);
  if (fault !== undefined) {
    const name = sign === -1 ? '' : ` ${quoted(key)}`;
    throw usageError(`argument ${place} is not KEY=VALUE: the key${name} ${fault}`);
  }
  if (sign === -1) return { key, source: { kind: stdin ? 'stdin' : 'question' } };
  const value = pair.slice(sign + 1);
  if (!literal && value === '-') return { key, source: { kind: 'stdin' } };
  if (!literal && value.startsWith('@')) return { key, source: { kind: 'file', path: value.slice(1) } };
  return { key, source: { kind: 'given', value } };
}

/** A key that is none, in quotes; not the end of a long one, which may be a value. */
function quoted(key: string): string {
  return key.length > maxQuoted ? `"${key.slice(0, maxQuoted)}…"` : `"${key}"`;
}

const maxQuoted = 40;

async function valueFrom(context: CommandContext, { key, source }: SetRequest, isTrimmed: boolean): Promise<string> {
  if (source.kind === 'given') return source.value;
  if (source.kind === 'question') return await asked(context, key);
  const { io, environment } = context;
  const isFile = source.kind === 'file';
  const bytes = isFile
    ? readBytes(resolve(environment.workingDirectory, source.path), `the file for ${key}`)
    : await io.readInput();
  const value = await withFileName(`the value of ${key}`, async () => decoded(bytes));
  // The program before the pipe may have failed.
  if (!isFile && value === '') io.warn(`standard input was empty, and so is the value of ${key}`);
  if (isTrimmed) return value.replace(/\r?\n$/, '');
  // A file usually ends with a newline on purpose; the one that `echo` adds is usually a mistake.
  if (!isFile && value.endsWith('\n')) {
    io.warn(`the value of ${key} ends with a line end, which is kept; --trim-newline leaves it out`);
  }
  return value;
}

async function asked({ io }: CommandContext, key: string): Promise<string> {
  if (!io.canAsk) {
    throw usageError(
      `${key} has no value, and there is no terminal to ask for it`,
      `Give it as ${key}=VALUE, as ${key}=@FILE, or on standard input: keyframe set ${key} --stdin`,
    );
  }
  const value = await io.askHidden(`Value of ${key}:`);
  // Enter alone is hardly meant to empty a secret.
  if (value === undefined || value === '') {
    throw usageError(
      `no value was given for ${key}; nothing was written`,
      `To set it to an empty value: keyframe set ${key}=`,
    );
  }
  return value;
}
