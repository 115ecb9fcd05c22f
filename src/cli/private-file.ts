import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

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
