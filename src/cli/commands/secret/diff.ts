import { usageError } from '../../core/cli-error.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import { exitCodes } from '../../core/exit-codes.ts';
import type { SecretTable } from '../../../wire/formats/secret-table.ts';
import { yamlString } from '../../formats/yaml.ts';
import { completing, choice, flag, optionalArgument, scopeOptions, text } from '../../core/options.ts';
import type { DifferenceOutput } from '../../output/shapes.ts';
import type { Scope } from '../../settings/scope.ts';
import { type DifferenceLine, differenceLines, differenceOf } from './difference.ts';
import { otherEnvironment } from './other-environment.ts';
import { readSecretFile, readableFormats, shownFile, shownWarning } from './secret-file.ts';
import { readSecrets, shownScope, tableOf } from './secrets-api.ts';

export const diffCommand = defineCommand({
  summary: 'Compare an environment with a file or another environment',
  description:
    'Shows the changes from the environment to a file or to another environment, or from a past revision to now: + added, ~ changed, - removed. Values are shown only with --reveal. The exit code is 0, and with --exit-code 8 if there is a difference.',
  arguments: {
    file: completing(
      'file',
      optionalArgument('[file]', 'dotenv, JSON, YAML or the manifest of a Kubernetes Secret; - for standard input'),
    ),
  },
  options: {
    ...scopeOptions,
    with: completing(
      'environment',
      text('--with <environment>', 'Compare with another environment: env, project/env or org/project/env'),
    ),
    revision: text('--revision <revision>', 'Compare a past revision (number or id) with now'),
    format: choice('--format <format>', "Format of the file (default: by its name; env for '-')", readableFormats),
    exitCode: flag('--exit-code', 'Exit with 8 if there is a difference'),
    reveal: flag('--reveal', 'Also show values'),
  },
  examples: [
    { line: 'diff .env', note: 'What a push of this file would change' },
    { line: 'diff -e staging --with production', note: 'How production differs from staging' },
    { line: 'diff --with acme/shop2/production', note: 'How an environment of another project differs' },
    { line: 'diff --revision 41', note: 'What changed since revision 41' },
  ],
  async run(context, { args: { file }, options }) {
    const kind = kindOf(file, options);
    const scope = await context.scope(options);
    const { before, after } = await sidesOf(context, kind, scope);
    const difference = differenceOf(before.secrets, after.secrets);
    const lines = differenceLines(difference);
    if (context.printer.format === 'table') {
      context.io.note(`--- ${before.title}`);
      context.io.note(`+++ ${after.title}`);
      if (lines.length === 0) context.io.note(`No difference; ${difference.unchanged.length} secrets are the same.`);
    }
    await print(context, lines, { difference, before, after, reveal: options.reveal });
    if (options.exitCode && lines.length > 0) context.endWith(exitCodes.different);
  },
});

type Kind =
  | { readonly kind: 'file'; readonly file: string; readonly format: (typeof readableFormats)[number] | undefined }
  | { readonly kind: 'environment'; readonly other: string }
  | { readonly kind: 'revision'; readonly revision: string };

interface Flags {
  readonly with: string | undefined;
  readonly revision: string | undefined;
  readonly format: (typeof readableFormats)[number] | undefined;
}

function kindOf(file: string | undefined, { with: other, revision, format }: Flags): Kind {
  const given = [file, other, revision].filter((one) => one !== undefined);
  if (given.length !== 1) {
    throw usageError(
      'compare with one thing: a file, --with another environment, or --revision',
      'For example: keyframe diff .env',
    );
  }
  if (file !== undefined) return { kind: 'file', file, format };
  if (format !== undefined) throw usageError('--format is for a file, and none is given');
  if (revision !== undefined) return { kind: 'revision', revision };
  return { kind: 'environment', other: other ?? '' };
}

interface Side {
  readonly title: string;
  readonly secrets: SecretTable;
}

async function sidesOf(context: CommandContext, kind: Kind, scope: Scope): Promise<{ before: Side; after: Side }> {
  const api = context.api();
  const read = async (of: Scope, revision?: string): Promise<Side> => {
    const list = await readSecrets(api, of, revision);
    return { title: `${shownScope(of)} (revision ${list.revision})`, secrets: tableOf(list) };
  };
  if (kind.kind === 'environment') {
    const other = otherEnvironment('--with', kind.other, scope);
    return { before: await read(scope), after: await read(other) };
  }
  if (kind.kind === 'revision') return { before: await read(scope, kind.revision), after: await read(scope) };
  const { secrets, warnings } = await readSecretFile(context, kind.file, kind.format);
  for (const warning of warnings) context.io.warn(shownWarning(warning));
  return { before: await read(scope), after: { title: shownFile(kind.file), secrets } };
}

interface Compared {
  readonly difference: ReturnType<typeof differenceOf>;
  readonly before: Side;
  readonly after: Side;
  readonly reveal: boolean;
}

const colors = { '+': 32, '~': 33, '-': 31 } as const;

async function print(context: CommandContext, lines: readonly DifferenceLine[], compared: Compared): Promise<void> {
  const { io, printer } = context;
  if (printer.format !== 'table') {
    return await printer.lines(
      documentOf(lines, compared),
      lines.map(({ key }) => key),
    );
  }
  for (const line of lines) {
    for (const { sign, text: shown } of shownLines(line, compared)) {
      io.write(`${io.colored(`${sign} ${shown}`, colors[sign])}\n`);
    }
  }
}

/** One line with the key or, with the values, a line for each side that has one. */
function shownLines({ sign, key }: DifferenceLine, compared: Compared): { sign: keyof typeof colors; text: string }[] {
  if (!compared.reveal) return [{ sign, text: key }];
  const sides = [
    { sign: '-', value: compared.before.secrets.get(key) },
    { sign: '+', value: compared.after.secrets.get(key) },
  ] as const;
  return sides.flatMap(({ sign: side, value }) =>
    value === undefined ? [] : [{ sign: side, text: `${key}: ${yamlString(value)}` }],
  );
}

function documentOf(
  lines: readonly DifferenceLine[],
  { difference, before, after, reveal }: Compared,
): DifferenceOutput {
  if (!reveal) return difference;
  const values = lines.map(({ key }) => ({
    key,
    from: before.secrets.get(key) ?? null,
    to: after.secrets.get(key) ?? null,
  }));
  return { ...difference, values };
}
