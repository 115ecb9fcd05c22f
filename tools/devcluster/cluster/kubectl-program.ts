import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The kubectl of this machine: that in KUBEBUILDER_ASSETS, else the first one on PATH. */
export function findKubectl({
  KUBEBUILDER_ASSETS: assets = '',
  PATH: path = '',
}: NodeJS.ProcessEnv): string | undefined {
  return [assets, ...path.split(delimiter)]
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'kubectl'))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
