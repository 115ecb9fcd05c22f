import { accessSync, constants } from 'node:fs';

/** Whether this process may execute what is at the path; false if nothing is there. Also true of a folder it may enter. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
