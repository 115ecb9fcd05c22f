import type { ApiClient, ApiClientOptions } from '../../client/api-client.ts';
import type { Configuration } from '../settings/configuration.ts';
import type { Environment } from '../settings/environment.ts';
import type { Io } from '../terminal/io.ts';
import type { Argument, Option } from './options.ts';
import type { Printer } from '../terminal/printer.ts';
import type { OrganizationFlags, ProjectFlags, Scope, ScopeFlags, ScopeSources } from '../settings/scope.ts';

/** What a command works with. */
export interface CommandContext {
  readonly io: Io;
  readonly environment: Environment;
  readonly configuration: Configuration;
  /** Prints results in the form that --output asks for. */
  readonly printer: Printer;
  /** --yes was given. */
  readonly isConfirmed: boolean;
  /** The client for the configured server and token; the signal ends its requests. Throws CliError 3 if there is no token. */
  readonly api: (signal?: AbortSignal) => ApiClient;
  /** A client for another server or token. */
  readonly client: (connection: Pick<ApiClientOptions, 'url' | 'token' | 'signal'>) => ApiClient;
  /** The slugs of flags and of `scopeSources`. Throws CliError 2, which names what is missing. */
  readonly scope: (flags: ScopeFlags) => Promise<Scope>;
  readonly project: (flags: ProjectFlags) => Promise<Pick<Scope, 'organization' | 'project'>>;
  readonly organization: (flags: OrganizationFlags) => Promise<string>;
  /** What names the environment besides flags. */
  readonly scopeSources: ScopeSources;
  /** Asks the user to confirm; --yes confirms. Throws CliError 7 if the user does not, or if there is no terminal. */
  readonly confirm: (question: string) => Promise<void>;
  /** Throws CliError 7 if `confirm` would, because there is no terminal: before work that would be lost. */
  readonly requireConfirmable: (question: string) => void;
  /** As `confirm`, but the user must type this word. */
  readonly confirmByTyping: (question: string, word: string) => Promise<void>;
  /** Whether values are printed: always to a pipe or file, and on a terminal only with --reveal. */
  readonly showsValues: (flags: { readonly reveal: boolean }) => boolean;
  /** Shows the help of the command with these words; without words, that of the program. Throws CliError usage. */
  readonly help: (words: readonly string[]) => Promise<void>;
  /** Makes the command end with this code although nothing failed; `run` passes on the code of its program. */
  readonly endWith: (exitCode: number) => void;
}

type OptionSet = Readonly<Record<string, Option<unknown>>>;
type ArgumentSet = Readonly<Record<string, Argument<unknown>>>;

/** The input from the command line, under the names of the definition. */
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
  /** Sentences below the summary. */
  readonly description?: string;
  /** In their order. */
  readonly arguments?: Arguments;
  readonly options?: Options;
  readonly examples: readonly Example[];
  /** It prints a new token, so `--output token` prints that alone. */
  readonly createsToken?: boolean;
  /** Everything after the first argument belongs to it, including options (`run`). */
  readonly passThrough?: boolean;
  /** Throws CliError or ClientError; any other error is reported as a bug. */
  run(context: CommandContext, input: CommandInput<Arguments, Options>): Promise<void>;
}

/** Makes the definition of a command, with the types of `run`. */
export function defineCommand<
  const Arguments extends ArgumentSet = Record<string, never>,
  const Options extends OptionSet = Record<string, never>,
>(definition: CommandDefinition<Arguments, Options>): CommandDefinition {
  return definition;
}
