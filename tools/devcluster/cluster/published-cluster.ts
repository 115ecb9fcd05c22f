import { copyFileSync, chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutDirectory } from '../../checkout.ts';
import { isRunning, ownIdentity, type ProcessIdentity } from '../../process-identity.ts';

/** Where `npm run cluster` and `npm start` record which cluster of this checkout runs, and `npm run kubectl` looks for it. */
export const developmentFolder = join(checkoutDirectory, '.dev', 'cluster');

export interface PublishedCluster {
  /** The administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** The folder of the run, with data, logs and audit log. */
  readonly runFolder: string;
  readonly launcher: ProcessIdentity;
}

/** Makes a running cluster known in a folder; answers the path of the kubeconfig there. */
export function publishCluster(folder: string, { kubeconfig, runFolder }: Omit<PublishedCluster, 'launcher'>): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const copy = join(folder, 'kubeconfig');
  copyFileSync(kubeconfig, copy);
  chmodSync(copy, 0o600);
  const note: PublishedCluster = { kubeconfig: copy, runFolder, launcher: ownIdentity() };
  writeFileSync(notePath(folder), JSON.stringify(note), { mode: 0o600 });
  return copy;
}

/** The cluster that is known there and whose launcher is alive. */
export function findPublished(folder: string = developmentFolder): PublishedCluster | undefined {
  const note = read(folder);
  return note !== undefined && isRunning(note.launcher) ? note : undefined;
}

/** Takes the note away, unless it is of another run by now. */
export function removePublished(folder: string, runFolder: string): void {
  if (read(folder)?.runFolder === runFolder) rmSync(folder, { recursive: true, force: true });
}

function read(folder: string): PublishedCluster | undefined {
  try {
    return JSON.parse(readFileSync(notePath(folder), 'utf8')) as PublishedCluster;
  } catch {
    return undefined;
  }
}

function notePath(folder: string): string {
  return join(folder, 'cluster.json');
}
