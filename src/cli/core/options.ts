import { usageError } from './cli-error.ts';

/**
 * Options and arguments as data. A command names them in records, and its `run` gets the same names with the parsed
 * values, typed: `options: { limit: integer('--limit <n>', 'How many', { min: 1, default: 20 }) }` gives `options.limit`,
 * a number.
 */

/** What a shell completes for an option or argument, besides choices: files, commands, or names that the server knows. */
export type CompletionKind =
  | 'file'
  | 'command'
  | 'organization'
  | 'project'
  | 'environment'
  | 'deletedOrganization'
  | 'deletedProject'
  | 'deletedEnvironment'
  | 'key'
  | 'version'
  | 'snapshot'
  | 'serviceToken'
  | 'revokedKeylessToken'
  | 'member'
  | 'cluster'
  | 'servedCluster'
  | 'trustedIssuer'
  | 'invitation'
  | 'personalToken';

/** One option; T is what `run` gets. */
export interface Option<T> {
  /** In the form of commander, such as `-n, --name <name>`; `--no-backup` is true unless it is given. */
  readonly flags: string;
  readonly description: string;
  readonly default?: T;
  /** What the help says about the default, if not the default itself. */
  readonly shownDefault?: string;
  readonly choices?: readonly string[];
  readonly isRequired?: boolean;
  /** May be given several times. */
  readonly isRepeated?: boolean;
  readonly completes?: CompletionKind;
  /** The field of the API that it sets, if that has another name than the option in its definition. */
  readonly field?: string;
  /** Parses the text. Throws a usage error, whose message continues after the option's name. */
  parse?(text: string): T;
}

/** One positional argument; T is what `run` gets. */
export interface Argument<T> {
  /** `<key>`, `[file]`, `<pair...>` or `[key...]`. */
  readonly form: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly completes?: CompletionKind;
  /** Only carries the type. */
  readonly value?: T;
}

/** An option or argument that a shell completes. */
export function completing<Target extends Option<unknown> | Argument<unknown>>(
  completes: CompletionKind,
  target: Target,
): Target {
  return { ...target, completes };
}

/** An optional text. */
export function text(flags: string, description: string): Option<string | undefined> {
  return { flags, description };
}

/** A required text. */
export function requiredText(flags: string, description: string): Option<string> {
  return { flags, description, isRequired: true };
}

/** False unless it is given; a flag that begins with `--no-` is true unless it is given. */
export function flag(flags: string, description: string): Option<boolean> {
  return { flags, description };
}

/** Texts of an option that may be given several times; none is the empty list, which the help shows as `shownDefault`. */
export function repeated(flags: string, description: string, shownDefault: string): Option<readonly string[]> {
  return { flags, description, isRepeated: true, default: [], shownDefault };
}

interface IntegerRange {
  readonly min: number;
  readonly max?: number;
}

/** A whole number. Without a default it may be absent, unless it is required. */
export function integer(
  flags: string,
  description: string,
  range: IntegerRange & { readonly default: number },
): Option<number>;
export function integer(
  flags: string,
  description: string,
  range: IntegerRange & { readonly isRequired: true },
): Option<number>;
export function integer(flags: string, description: string, range: IntegerRange): Option<number | undefined>;
export function integer(
  flags: string,
  description: string,
  { min, max = Number.MAX_SAFE_INTEGER, ...rest }: IntegerRange & { default?: number; isRequired?: boolean },
): Option<number | undefined> {
  const allowed =
    max === Number.MAX_SAFE_INTEGER ? `a whole number, ${min} or more` : `a whole number from ${min} to ${max}`;
  const parse = (given: string): number => {
    const value = /^[0-9]{1,15}$/.test(given) ? Number(given) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw usageError(`must be ${allowed}`);
  };
  return { flags, description, parse, ...rest };
}

interface VersionRange {
  /** The name of the option: `version` by default. */
  readonly name?: string;
  /** 1 by default. */
  readonly min?: 0 | 1;
}

/** The number of a version as tables show it: `3` or `v3`. */
export function versionNumber(description: string, rest: VersionRange & { readonly isRequired: true }): Option<number>;
export function versionNumber(description: string, rest?: VersionRange): Option<number | undefined>;
export function versionNumber(
  description: string,
  { name = 'version', min = 1, ...rest }: VersionRange & { readonly isRequired?: true } = {},
): Option<number | undefined> {
  const plain = integer(`--${name} <n>`, description, { min, max: 2 ** 31 - 1 });
  return { ...plain, ...rest, completes: 'version', parse: (given) => plain.parse?.(given.replace(/^v/, '')) };
}

/** One of a few words. */
export function choice<const Word extends string>(
  flags: string,
  description: string,
  choices: readonly Word[],
  rest: { readonly default: Word } | { readonly isRequired: true },
): Option<Word>;
export function choice<const Word extends string>(
  flags: string,
  description: string,
  choices: readonly Word[],
): Option<Word | undefined>;
export function choice<const Word extends string>(
  flags: string,
  description: string,
  choices: readonly Word[],
  rest: { readonly default?: Word; readonly isRequired?: boolean } = {},
): Option<Word | undefined> {
  const parse = (given: string): Word => {
    const found = choices.find((word) => word === given);
    if (found !== undefined) return found;
    throw usageError(`must be one of ${choices.join(', ')}`);
  };
  return { flags, description, choices, parse, ...rest };
}

/** A required argument: `<key>`. */
export function argument(form: `<${string}>`, description: string): Argument<string> {
  return { form, description };
}

/** An optional argument: `[file]`. */
export function optionalArgument(form: `[${string}]`, description: string): Argument<string | undefined> {
  return { form, description };
}

/** All remaining arguments: `<pair...>` requires at least one, `[key...]` none. */
export function restArguments(
  form: `<${string}...>` | `[${string}...]`,
  description: string,
): Argument<readonly string[]> {
  return { form, description };
}

/** The flags that name an environment: for `context.scope(options)`. */
export const scopeOptions = {
  organization: completing(
    'organization',
    text('-o, --org <slug>', 'Organization (default: KEYFRAME_ORG, .keyframe.json, scope of the token)'),
  ),
  project: completing(
    'project',
    text('-p, --project <slug>', 'Project (default: KEYFRAME_PROJECT, .keyframe.json, scope of the token)'),
  ),
  environment: completing(
    'environment',
    text('-e, --env <slug>', 'Environment (default: KEYFRAME_ENV, .keyframe.json, scope of the token)'),
  ),
};

/** For `context.organization(options)`. */
export const organizationOption = { organization: scopeOptions.organization };

/** For `context.project(options)`. */
export const projectOptions = { organization: scopeOptions.organization, project: scopeOptions.project };

/** For `context.showsValues(options)`. */
export const revealOption = { reveal: flag('--reveal', 'Also show values on a terminal') };

/** Only the plan of a change: it is shown with `nothingChanged`. */
export const planOptions = {
  isPlan: flag('--plan', 'Show the plan only'),
  isDryRun: flag('--dry-run', 'Same as --plan'),
};

/** The reason for a change. */
export const commentOption = { comment: text('--comment <text>', 'Comment, stored with each new version') };

/** Some keys of an environment: for `keySelection(options)`. */
export const keySelectionOptions = {
  keys: {
    ...repeated('--keys <glob>', "Only these keys, such as 'DB_*'; can be given several times", 'all'),
    field: 'keys.include',
  },
  exclude: {
    ...repeated('--exclude <glob>', 'Without these keys; can be given several times', 'none'),
    field: 'keys.exclude',
  },
};

/** What --keys and --exclude select. */
export interface SelectedKeys {
  readonly keys: readonly string[];
  readonly exclude: readonly string[];
}

/** The flags that select the same keys again. The server accepts no glob with a quotation mark. */
export function selectionFlags({ keys, exclude }: SelectedKeys): string {
  return [...keys.map((glob) => ` --keys '${glob}'`), ...exclude.map((glob) => ` --exclude '${glob}'`)].join('');
}

/** The selection as the API takes it; undefined for all keys. */
export function keySelection({
  keys,
  exclude,
}: SelectedKeys): { readonly include?: readonly string[]; readonly exclude?: readonly string[] } | undefined {
  if (keys.length + exclude.length === 0) return undefined;
  return { ...(keys.length === 0 ? {} : { include: keys }), ...(exclude.length === 0 ? {} : { exclude }) };
}
