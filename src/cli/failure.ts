import { CommanderError } from 'commander';
import { ClientError } from '../client/client-error.ts';
import { CliError, usageError } from './cli-error.ts';
import { cliErrorOf } from './client-failure.ts';
import { exitCodes } from './exit-codes.ts';
import type { Io } from './terminal/io.ts';

/**
 * Reports what went wrong on standard error and returns the exit code. commander's own words are used where they repeat nothing
 * of the command line but names of options and commands.
 */
export function tellFailure(error: unknown, io: Io): number {
  if (error instanceof CommanderError && isShown(error)) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  const known = knownError(error);
  if (known !== undefined) {
    io.error(known.message);
    for (const line of known.next) io.note(`  ${line}`);
    return known.exitCode;
  }
  io.error(`this is a bug in keyframe: ${error instanceof Error ? (error.stack ?? error.message) : 'unknown'}`);
  return exitCodes.failure;
}

function knownError(error: unknown): CliError | undefined {
  if (error instanceof CommanderError) return commandLineError(error);
  if (error instanceof ClientError) return cliErrorOf(error);
  return error instanceof CliError ? error : undefined;
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
