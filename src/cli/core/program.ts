import { Argument, Command, type ErrorOptions } from 'commander';
import { ClientError } from '../../client/client-error.ts';
import { usageError } from './cli-error.ts';
import type { CommandContext, CommandDefinition } from './command.ts';
import type { CommandEntry, CommandGroup, CommandSection } from './command-section.ts';
import { commandTable } from '../command-table.ts';
import { commanderOption, optionValue } from './commander-options.ts';
import { createContext } from './context.ts';
import type { Environment } from '../settings/environment.ts';
import { withFlagNames } from './flag-names.ts';
import { type GlobalValues, globalOptionList, globalOptions } from './global-options.ts';
import { commandHelp, globalOptionHelp, programHelp } from './help-text.ts';
import type { Streams } from '../terminal/io.ts';
import type { OutputFormat } from '../terminal/printer.ts';
import { summaries } from '../generated/summaries.ts';
import { withOptionSynonym } from './option-synonyms.ts';
import { withSafeSuggestion } from './suggestions.ts';
import { version } from './version.ts';

export interface ProgramOptions {
  readonly environment: Environment;
  readonly streams: Streams;
  /** Takes an exit code other than 0 of a command that did not fail. */
  readonly endWith: (exitCode: number) => void;
  /** Takes the value of --output when a command begins, so that a later error has the same format. */
  readonly noteOutput?: (format: OutputFormat | undefined) => void;
  /** Other commands, for tests. */
  readonly table?: readonly CommandSection[];
  /** The first word of the command line. If it names a command, no other is created, so that the start is fast. */
  readonly firstWord?: string | undefined;
}

/**
 * The whole command line as a commander program. A command's module is loaded when the command, or its help, is requested.
 * Errors of the command line are thrown as CommanderError.
 */
export function createProgram(options: ProgramOptions): Command {
  const program = plainCommand('keyframe', 'Secrets with a memory: versions, snapshots and service tokens.')
    .version(version, '-V, --version', 'Print the version')
    .helpCommand(false)
    .addHelpText('after', programHelp);
  for (const option of globalOptionList) program.addOption(commanderOption(option).helpGroup('Global options:'));
  output(program, options.streams);
  const sections = options.table ?? commandTable;
  const named = sections.flatMap(({ entries }) => entries).find(({ name }) => name === options.firstWord);
  if (named !== undefined) {
    add(program, named, options);
    return program;
  }
  for (const { title, entries } of sections) {
    for (const entry of entries) add(program, entry, options).helpGroup(`${title}:`);
  }
  return program;
}

/** Loads the modules of all commands, for the documentation, which shows them all. */
export async function loadAll(program: Command): Promise<void> {
  for (const command of program.commands) await loadWithin(command);
}

async function loadWithin(command: Command): Promise<void> {
  await loaders.get(command)?.();
  for (const child of command.commands) await loadWithin(child);
}

// Completes a command or group that only has a name and a summary.
const loaders = new WeakMap<Command, () => Promise<void>>();

function add(parent: Command, entry: CommandEntry | CommandGroup, options: ProgramOptions): Command {
  const words = parent.parent === null ? entry.name : `${parent.name()} ${entry.name}`;
  const command = plainCommand(entry.name, 'commands' in entry ? entry.summary : (summaries[words] ?? ''));
  command.copyInheritedSettings(parent);
  parent.addCommand(command);
  loaders.set(command, async () => {
    loaders.delete(command);
    if (!('commands' in entry)) return fill(command, await entry.load(), options);
    addGlobalOptions(command.description(`${entry.summary}.`).helpCommand(false));
    command.addHelpText('after', `\n${globalOptionHelp}`);
    for (const child of entry.commands) add(command, child, options);
  });
  return command;
}

/** A command whose errors suggest what the user most likely means. */
class HintingCommand extends Command {
  override error(message: string, options?: ErrorOptions): never {
    super.error(this.#withSuggestion(message, options?.code), options);
  }

  #withSuggestion(message: string, code: string | undefined): string {
    switch (code) {
      case 'commander.unknownCommand':
        return withSafeSuggestion(message, { word: this.args[0] ?? '', isProgram: this.parent === null });
      case 'commander.unknownOption':
        return withOptionSynonym(message, (flag) =>
          this.options.some((option) => [option.short, option.long].includes(flag)),
        );
      default:
        return message;
    }
  }
}

function plainCommand(name: string, summary: string): Command {
  const command = new HintingCommand(name)
    .summary(summary)
    .description(summary)
    .helpOption('-h, --help', 'Show this help')
    // Without it, an option that the program and a command both have, such as --version, would always be the program's.
    .enablePositionalOptions()
    .allowExcessArguments(false)
    .exitOverride()
    .configureHelp({ subcommandTerm: (child) => child.name() })
    .hook('preSubcommand', async (_parent, child) => await loaders.get(child)?.())
    .addHelpText('before', ({ command: shown }) => {
      refuseUnknownCommand(shown, shown.args[0]);
      return '';
    });
  return command;
}

/** Without this, --help after a mistyped command would show the help of the program and hide the mistake. */
function refuseUnknownCommand(parent: Command, word: string | undefined): void {
  const isWord = word !== undefined && !word.startsWith('-');
  if (!isWord || parent.commands.length === 0 || childOf(parent, word) !== undefined) return;
  // commander throws its error for an unknown command, with the most similar name.
  parent.parse([word], { from: 'user' });
}

function childOf(parent: Command, name: string): Command | undefined {
  return parent.commands.find((child) => child.name() === name);
}

/** Shows the help of the command with these words, as `--help` after them does. */
async function showHelp(program: Command, words: readonly string[]): Promise<void> {
  let command = program;
  for (const word of words) {
    const child = childOf(command, word);
    if (child === undefined && command.commands.length === 0) {
      throw usageError(`${command.name()} has no commands below it`, 'See its help: add --help to it');
    }
    refuseUnknownCommand(command, word);
    if (child !== undefined) command = child;
    await loaders.get(command)?.();
  }
  command.outputHelp();
}

/** The help of a command names them on one line: the help of the program describes them. */
function addGlobalOptions(command: Command): void {
  for (const option of globalOptionList) command.addOption(commanderOption(option).hideHelp());
}

function output(program: Command, streams: Streams): void {
  program.configureOutput({
    writeOut: (text) => void streams.stdout.write(text),
    writeErr: (text) => void streams.stderr.write(text),
    // The error is reported where it is caught.
    outputError: () => undefined,
  });
}

function fill(command: Command, definition: CommandDefinition, options: ProgramOptions): void {
  const { summary, description, arguments: args = {}, options: own = {} } = definition;
  command
    .summary(summary)
    .description([`${summary}.`, ...(description === undefined ? [] : [description])].join('\n\n'));
  for (const { form, description: words, choices } of Object.values(args)) {
    const made = new Argument(form, words);
    // Only for the help, as with options.
    if (choices !== undefined) made.argChoices = [...choices];
    command.addArgument(made);
  }
  for (const option of Object.values(own)) command.addOption(commanderOption(option));
  addGlobalOptions(command);
  if (definition.passThrough === true) command.passThroughOptions();
  command.addHelpText('after', commandHelp(definition));
  command.action(async () => {
    const names = Object.keys(args);
    const input = {
      args: Object.fromEntries(names.map((name, index) => [name, command.processedArgs[index] as unknown])),
      options: Object.fromEntries(Object.entries(own).map(([name, option]) => [name, optionValue(command, option)])),
    };
    const context = contextOf(command, definition, options);
    await definition.run(context, input).catch(async (error: unknown) => {
      if (!(error instanceof ClientError) || !error.isNotFound) throw withFlagNames(error, definition);
      // Loaded only if something is missing.
      const { explainNotFound } = await import('./not-found.ts');
      throw await explainNotFound(error, context.api);
    });
  });
}

function contextOf(command: Command, { createsToken }: CommandDefinition, options: ProgramOptions): CommandContext {
  const { environment, streams, endWith } = options;
  const help = async (words: readonly string[]): Promise<void> =>
    await showHelp(createProgram({ ...options, firstWord: words[0] }), words);
  const flags = globalValues(command);
  options.noteOutput?.(flags.output);
  if (flags.output === 'token' && createsToken !== true) {
    throw usageError('--output token is for commands that create a token', 'For example: keyframe token create');
  }
  return createContext({ streams, environment, flags, endWith, help });
}

/** Throws CliError usage if the line names two formats. */
function outputOf(format: unknown, isJson: boolean): unknown {
  if (!isJson || format === 'json') return format;
  if (format === undefined) return 'json' satisfies OutputFormat;
  throw usageError('--json and --output name two formats', 'Keep one of them');
}

/** An option after the name of the command overrides the same option before it. */
function globalValues(command: Command): GlobalValues {
  const line: Command[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) line.push(at);
  const nearest = (name: keyof typeof globalOptions): unknown => {
    const option = globalOptions[name];
    const attribute = commanderOption(option).attributeName();
    const giver = line.find((one) => one.getOptionValueSource(attribute) === 'cli');
    return giver === undefined ? undefined : optionValue(giver, option);
  };
  const given = {
    url: nearest('url'),
    tokenFile: nearest('tokenFile'),
    profile: nearest('profile'),
    timeout: nearest('timeout'),
    output: outputOf(nearest('output'), nearest('isJson') === true),
  };
  return {
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    allowsInsecureHttp: nearest('allowsInsecureHttp') === true,
    isColored: nearest('isUncolored') !== false,
    isConfirmed: nearest('isConfirmed') === true,
  };
}
