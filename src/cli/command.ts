import type { ApiClient } from '../client/api-client.ts';
import type { Configuration } from './settings/configuration.ts';
import type { Environment } from './settings/environment.ts';
import type { Io } from './terminal/io.ts';
import type { Argument, Option } from './options.ts';
import type { Printer } from './terminal/printer.ts';
import type { OrganizationFlags, ProjectFlags, Scope, ScopeFlags } from './settings/scope.ts';

/** What a command is given to work with. */
export interface CommandContext {
  readonly io: Io;
  readonly environment: Environment;
  readonly configuration: Configuration;
  /** Prints results in the form that --output asks for. */
  readonly printer: Printer;
  /** --yes was given. */
  readonly isConfirmed: boolean;
  /** The client for the configured server and token. Throws CliError 3 where there is no token. */
  readonly api: () => ApiClient;
  /** The slugs of flags and .keyframe.json. Throws CliError 2 that says what is missing. */
  readonly scope: (flags: ScopeFlags) => Scope;
  readonly project: (flags: ProjectFlags) => Pick<Scope, 'organization' | 'project'>;
  readonly organization: (flags: OrganizationFlags) => string;
  /**
   * Asks a person, who must answer yes; --yes answers for them. Throws CliError 7 where they do not, or where there is no
   * terminal to ask at.
   */
  readonly confirm: (question: string) => Promise<void>;
  /** As `confirm`, but the person must type this word. */
  readonly confirmByTyping: (question: string, word: string) => Promise<void>;
  /** Whether values are printed: always into a pipe or file, on a terminal with --reveal alone. */
  readonly showsValues: (flags: { readonly reveal: boolean }) => boolean;
  /** Shows the help of the command that these words name; none is the whole program. Throws CliError usage. */
  readonly help: (words: readonly string[]) => Promise<void>;
  /** Makes the command end with this code although nothing failed, as `run` does with its child's. */
  readonly endWith: (exitCode: number) => void;
}

type OptionSet = Readonly<Record<string, Option<unknown>>>;
type ArgumentSet = Readonly<Record<string, Argument<unknown>>>;

/** What was given on the command line, under the names of the definition. */
export interface CommandInput<Arguments extends ArgumentSet, Options extends OptionSet> {
  readonly args: { readonly [Name in keyof Arguments]: Arguments[Name] extends Argument<infer T> ? T : never };
  readonly options: { readonly [Name in keyof Options]: Options[Name] extends Option<infer T> ? T : never };
}

export interface Example {
  /** Without the leading `keyframe`. */
  readonly line: string;
  readonly note: string;
}

/** A command; its name is in command-table.ts. */
export interface CommandDefinition<Arguments extends ArgumentSet = ArgumentSet, Options extends OptionSet = OptionSet> {
  /** One line for lists of commands, without a full stop. */
  readonly summary: string;
  /** Whole sentences below the summary. */
  readonly description?: string;
  /** In their order. */
  readonly arguments?: Arguments;
  readonly options?: Options;
  readonly examples: readonly Example[];
  /** Everything after the first argument belongs to it, options as well (`run`). */
  readonly passThrough?: boolean;
  /** Throws CliError; anything else that it throws is reported as an internal error. */
  run(context: CommandContext, input: CommandInput<Arguments, Options>): Promise<void>;
}

/** Makes a command's definition; it is there for the types of `run`. */
export function defineCommand<
  const Arguments extends ArgumentSet = Record<string, never>,
  const Options extends OptionSet = Record<string, never>,
>(definition: CommandDefinition<Arguments, Options>): CommandDefinition {
  return definition;
}
