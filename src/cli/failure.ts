import { CommanderError } from 'commander';
import { CliError, usageError } from './cli-error.ts';
import { exitCodes } from './exit-codes.ts';
import type { Io } from './io.ts';

/**
 * Tells what went wrong on standard error and answers the exit code. commander's own words are used where they repeat nothing
 * of the command line but names of options and commands.
 */
export function tellFailure(error: unknown, io: Io): number {
  if (error instanceof CommanderError && isShown(error)) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  const told = error instanceof CommanderError ? commandLineError(error) : error;
  if (told instanceof CliError) {
    io.error(told.message);
    for (const line of told.next) io.note(`  ${line}`);
    return told.exitCode;
  }
  io.error(`this is a fault of keyframe itself: ${told instanceof Error ? (told.stack ?? told.message) : 'unknown'}`);
  return exitCodes.failure;
}

/** What it means that standard output took no more, as a full disk does. */
export function outputFailure(error: NodeJS.ErrnoException): CliError {
  const message = `the output cannot be written (${String(error.code)}); what was asked of the server may be done`;
  return new CliError(exitCodes.failure, message, { cause: error });
}

/** Help and version: all is written already. */
function isShown({ code }: CommanderError): boolean {
  return ['commander.help', 'commander.helpDisplayed', 'commander.version'].includes(code);
}

function commandLineError({ code, message }: CommanderError): CliError {
  const help = 'See how it is meant: add --help';
  const words = message.replace(/^error: /, '').split('\n');
  switch (code) {
    case 'commander.excessArguments':
      // What follows repeats the arguments, and one of them may be a secret.
      return usageError((words[0] ?? '').replace(/: .*$/s, ''), help);
    case 'commander.unknownOption':
    case 'commander.unknownCommand':
      return usageError(withoutForeignWords(words.join(' ')), help);
    default:
      return usageError(words.join(' '), help);
  }
}

/** A word that is not like ours is left out: it may be a token or a value in the wrong place. */
function withoutForeignWords(words: string): string {
  return words.replace(/ '([^']*)'/, (whole, word: string) => (/^[a-z-]{1,30}$/.test(word) ? whole : ''));
}
