import { createProgram } from './program.ts';
import { readEnvironment } from './environment.ts';
import { tellFailure } from './failure.ts';
import { Io, type Streams } from './io.ts';

// Each is made when it is first used, which takes a while.
const streams: Streams = {
  get stdin() {
    return process.stdin;
  },
  get stdout() {
    return process.stdout;
  },
  get stderr() {
    return process.stderr;
  },
};

/** The `keyframe` command: runs what the command line says and ends with its exit code (exit-codes.ts). */
async function main(args: readonly string[]): Promise<void> {
  const environment = readEnvironment();
  const endWith = (exitCode: number): void => {
    process.exitCode = exitCode;
  };
  try {
    await createProgram({ environment, streams, endWith }).parseAsync(args, { from: 'user' });
  } catch (error) {
    endWith(tellFailure(error, new Io({ streams, hasColor: environment.hasColor && !args.includes('--no-color') })));
  }
}

// Whoever reads the output has read enough, as `head` does: that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});

void main(process.argv.slice(2));
