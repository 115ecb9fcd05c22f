import { accessSync, constants } from 'node:fs';

/** Whether this process may execute the file at the path; false if it does not exist. Also true for an accessible folder. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
