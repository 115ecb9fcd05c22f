import { type Command, Option as CommanderOption } from 'commander';
import { CliError, usageError } from './cli-error.ts';
import type { Option } from './options.ts';

/** Converts options, which are data, to those of commander. */

export function commanderOption(option: Option<unknown>): CommanderOption {
  const made = new CommanderOption(option.flags, describedOption(option));
  if (made.negate) made.default(true);
  else if (option.isRepeated === true) made.argParser(collect).default([], option.shownDefault);
  else if (option.default !== undefined) made.default(option.default);
  made.makeOptionMandatory(option.isRequired === true);
  // Only for the help: the check of commander would repeat the word, which may be a secret in the wrong place.
  if (option.choices !== undefined) made.argChoices = [...option.choices];
  return made;
}

/** The description for the help, which says if the option is required. */
function describedOption({ description, isRequired }: Option<unknown>): string {
  return isRequired === true ? `${description} (required)` : description;
}

/** The parsed value of an option; undefined if it is absent. Throws CliError usage. */
export function optionValue(command: Command, option: Option<unknown>): unknown {
  const { long, negate, required } = new CommanderOption(option.flags);
  const given = command.getOptionValue(attributeName(option)) as unknown;
  if (!required && !negate) return given === true;
  if (typeof given !== 'string' || option.parse === undefined) return given;
  try {
    return option.parse(given);
  } catch (error) {
    if (error instanceof CliError) throw usageError(`${long} ${error.message}`, ...error.next);
    throw error;
  }
}

function attributeName(option: Option<unknown>): string {
  return new CommanderOption(option.flags).attributeName();
}

function collect(text: string, before: readonly string[]): readonly string[] {
  return [...before, text];
}
