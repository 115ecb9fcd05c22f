import { statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { isExecutable } from '../../../../lib/executable.ts';

// What the system takes if PATH is not set.
const defaultPath = '/usr/bin:/bin';

/**
 * The file of a program, looked up in the caller's own PATH. The system would take the PATH of the child's variables, and
 * one of them may be a secret. A name with a slash is a path already. Undefined if no folder of PATH has a file of that
 * name; if no such file may be executed, the first of them, so that starting it reports the reason.
 */
export function findProgram(command: string, path: string | undefined): string | undefined {
  // Windows completes names by PATHEXT, which only the system does right.
  if (command.includes('/') || process.platform === 'win32') return command;
  // An empty entry is the working directory.
  const files = (path ?? defaultPath).split(delimiter).map((folder) => join(folder === '' ? '.' : folder, command));
  const found = files.filter(isFile);
  const program = found.find(isExecutable) ?? found[0];
  // Without a slash the system would look it up again.
  return program === undefined || program.includes('/') ? program : `./${program}`;
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
