import { isLookingUp } from '../client/lookup.ts';
import { createProgram } from './core/program.ts';
import { readEnvironment } from './settings/environment.ts';
import { outputFailure, reportFailure } from './core/failure.ts';
import { endNow } from './terminal/end-now.ts';
import { Io, type Streams } from './terminal/io.ts';
import type { OutputFormat } from './terminal/printer.ts';

// Each is created on first use, because that takes time.
const streams: Streams = {
  get stdin() {
    return process.stdin;
  },
  get stdout() {
    return openOutput();
  },
  get stderr() {
    return openErrorOutput();
  },
};

// The format of errors. A command that begins corrects it: arguments of `run` may belong to its program.
let isJson = false;
let isOutputOpen = false;
let isErrorOutputOpen = false;

function openOutput(): NodeJS.WriteStream {
  if (!isOutputOpen) process.stdout.on('error', endWithoutOutput);
  isOutputOpen = true;
  return process.stdout;
}

/** A reader such as `head` may close the output early: that is not a failure. */
function endWithoutOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit();
  process.exit(reportFailure(outputFailure(error), new Io({ streams, hasColor: false, isJson })));
}

/** Standard error may be closed: the command continues, and its exit code reports the result. */
function openErrorOutput(): NodeJS.WriteStream {
  if (!isErrorOutputOpen) process.stderr.on('error', () => undefined);
  isErrorOutputOpen = true;
  return process.stderr;
}

/** The `keyframe` command: runs the command line and ends with its exit code (exit-codes.ts). */
async function main(args: readonly string[]): Promise<void> {
  const environment = readEnvironment();
  if (args[0] === '__complete') {
    const { printCompletions } = await import('./completion/complete.ts');
    return await printCompletions(args.slice(1), environment);
  }
  const endWith = (exitCode: number): void => {
    process.exitCode = exitCode;
  };
  const noteOutput = (format: OutputFormat | undefined): void => {
    isJson = format === 'json';
  };
  isJson = asksForJson(args);
  try {
    const program = createProgram({ environment, streams, endWith, noteOutput, firstWord: args[0] });
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    const hasColor = environment.hasColor && !args.includes('--no-color');
    endWith(reportFailure(error, new Io({ streams, hasColor, isJson })));
  }
  if (isLookingUp()) endNow(Number(process.exitCode ?? 0));
}

/** Whether the words ask for JSON, for errors of the command line itself. */
function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  const own = end === -1 ? args : args.slice(0, end);
  return own.some(
    (word, index) =>
      word === '--json' || word === '--output=json' || (word === '--output' && own[index + 1] === 'json'),
  );
}

const given = process.argv.slice(2);
// Programs have either letter for their version.
void main(given[0] === '-v' ? ['--version'] : given);
