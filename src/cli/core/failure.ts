import { CommanderError } from 'commander';
import { ClientError } from '../../client/client-error.ts';
import { CliError, usageError } from './cli-error.ts';
import { cliErrorOf } from './client-failure.ts';
import { exitCodes } from './exit-codes.ts';
import { isForeignOption } from './option-synonyms.ts';
import { problemOf } from '../output/problem.ts';
import type { Io } from '../terminal/io.ts';

/**
 * Reports an error on standard error and returns the exit code. A message of commander is used only if it repeats nothing
 * of the command line except names of options and commands.
 */
export function reportFailure(error: unknown, io: Io): number {
  if (error instanceof CommanderError && isShown(error)) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  const known = knownError(error);
  io.error(known.message, known.next, problemOf(known));
  return known.exitCode;
}

function knownError(error: unknown): CliError {
  if (error instanceof CommanderError) return commandLineError(error);
  if (error instanceof ClientError) return cliErrorOf(error);
  if (error instanceof CliError) return error;
  const cause = error instanceof Error ? (error.stack ?? error.message) : 'unknown';
  return new CliError(exitCodes.failure, `this is a bug in keyframe: ${cause}`, { cause: error });
}

/** The error if standard output cannot be written, for example because the disk is full. */
export function outputFailure(error: NodeJS.ErrnoException): CliError {
  const message = `the output cannot be written (${String(error.code)}); the request to the server may be done`;
  return new CliError(exitCodes.failure, message, { cause: error });
}

/** Help and version: everything is written already. */
function isShown({ code }: CommanderError): boolean {
  return ['commander.help', 'commander.helpDisplayed', 'commander.version'].includes(code);
}

function commandLineError({ code, message }: CommanderError): CliError {
  const help = 'See the usage: add --help';
  const words = message.replace(/^error: /, '').split('\n');
  switch (code) {
    case 'commander.excessArguments':
      // The rest repeats the arguments, and one of them may be a secret.
      return usageError((words[0] ?? '').replace(/: .*$/s, ''), help);
    case 'commander.unknownOption':
    case 'commander.unknownCommand':
      return usageError(withoutForeignWords(words.join(' ')), help);
    default:
      return usageError(words.join(' '), help);
  }
}

/** Leaves out a word that is not the name of a command or option: it may be a token or a value in the wrong place. */
function withoutForeignWords(words: string): string {
  return words.replace(/ '([^']*)'/, (whole, word: string) => {
    const isName = /^([a-z-]{1,30}|-[A-Za-z0-9])$/.test(word) || isForeignOption(word);
    return isName ? whole : '';
  });
}
