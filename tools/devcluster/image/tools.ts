import { delimiter, join } from 'node:path';
import { Commands } from '../../test-run/commands.ts';
import { ImageError } from './image-error.ts';
import { isExecutable } from '../../../src/lib/executable.ts';

const limitMs = 30 * 60_000;

/** Runs the programs that make an image; a signal to this process ends the one that runs. */
export class Tools {
  readonly #commands = new Commands();

  constructor() {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => this.#commands.interrupt(signal));
    }
  }

  /** Runs one to its end and answers what it wrote. Throws ImageError with that if it fails. */
  async run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<string> {
    if (this.#commands.interrupted) throw new ImageError('Interrupted.');
    const { exitCode, output } = await this.#commands.run(program, args, { env, limitMs });
    if (exitCode === 0) return output;
    throw new ImageError(`${output.trimEnd()}\n${program} ${args[0] ?? ''} ended with ${exitCode ?? 'a signal'}.`);
  }

  /** What it wrote; undefined if it failed or is not there. */
  async ask(program: string, args: readonly string[]): Promise<string | undefined> {
    const { exitCode, output } = await this.#commands.run(program, args, { limitMs: 15_000 });
    return exitCode === 0 ? output.trim() : undefined;
  }

  /** Whether the path has a program of this name. */
  has(program: string): boolean {
    const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
    return folders.some((folder) => isExecutable(join(folder, program)));
  }
}
