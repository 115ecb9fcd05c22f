import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { usageError } from '../cli-error.ts';

const ownerOnly = 0o600;

/**
 * Writes a file whole, for its owner alone: a reader, or a crash, never finds half of it, nor a moment of wider mode.
 * Throws as node:fs does; then what was there before is there still.
 */
export function writePrivateFile(path: string, text: string): void {
  // In the same folder, so that it can take the other's place in one step.
  // Nothing is written over (wx), so the name need not be beyond guessing; node:crypto takes long to load.
  const fresh = `${path}.${process.pid}.${process.hrtime.bigint()}`;
  const file = openSync(fresh, 'wx', ownerOnly);
  try {
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

/** Writes a file of the user's settings, and its folder if there is none yet, for their owner alone. Throws CliError usage. */
export function writeOwnFile(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writePrivateFile(path, text);
  } catch (error) {
    throw usageError(`${path} cannot be written (${String((error as NodeJS.ErrnoException).code)})`);
  }
}
