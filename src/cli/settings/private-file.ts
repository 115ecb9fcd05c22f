import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError, usageError } from '../core/cli-error.ts';

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

/** More than any file of the user's settings needs. */
export const maxOwnFileBytes = 16 * 1024 * 1024;
// The work under a lock takes milliseconds, so a lock that is older belongs to a process that was killed.
const maxLockAgeMs = 5_000;
const lockPauseMs = 20;

/**
 * Writes a file of the user's settings, and its folder if there is none yet, for their owner alone. The text is made from the
 * present one while no other process changes it. Throws CliError usage.
 */
export function changeOwnFile(path: string, text: () => string): void {
  inOwnFolder(path, () => {
    const lock = `${path}.lock`;
    takeLock(lock);
    try {
      writePrivateFile(path, text());
    } finally {
      rmSync(lock, { force: true });
    }
  });
}

function inOwnFolder(path: string, write: () => void): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    write();
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw usageError(`${path} cannot be written (${String((error as NodeJS.ErrnoException).code)})`);
  }
}

function takeLock(lock: string): void {
  for (; !hasTaken(lock); pause(lockPauseMs)) {
    const { mtimeMs = Date.now() } = statSync(lock, { throwIfNoEntry: false }) ?? {};
    if (Math.abs(Date.now() - mtimeMs) > maxLockAgeMs) rmSync(lock, { force: true });
  }
}

function hasTaken(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx', ownerOnly));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
