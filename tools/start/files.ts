import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutDirectory } from '../checkout.ts';

/** What `npm start` keeps in `.dev/`. */
export interface StartFiles {
  readonly rootKey: string;
  readonly adminToken: string;
  readonly controllerKubeconfig: string;
  readonly run: string;
  /** The CA of the port of controllers, and its key. */
  readonly authority: string;
  readonly authorityKey: string;
  /** The folder of a further cluster, which is made. */
  cluster(number: number): ClusterFiles;
  /** The log of a part, replaced at each start. */
  log(part: string): string;
  /** The name of the PostgreSQL data that belong to this root key. */
  readonly database: string;
}

export interface ClusterFiles {
  /** Where the cluster is made known. */
  readonly folder: string;
  readonly controllerKubeconfig: string;
  readonly controllerToken: string;
}

const databasePrefix = 'start-';

/** Makes `.dev/` and, once, the root key in it. */
export function prepareFiles(): StartFiles {
  const folder = join(checkoutDirectory, '.dev');
  mkdirSync(join(folder, 'logs'), { recursive: true, mode: 0o700 });
  const rootKey = join(folder, 'root-key');
  if (!existsSync(rootKey)) writeFileSync(rootKey, `start:${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  // Data that another root key encrypted are of no use: they are found by the key, so that losing `.dev/` starts from nothing.
  const database = databasePrefix + createHash('sha256').update(readFileSync(rootKey)).digest('hex').slice(0, 12);
  return {
    rootKey,
    adminToken: join(folder, 'admin-token'),
    controllerKubeconfig: join(folder, 'controller.kubeconfig'),
    run: join(folder, 'start.json'),
    authority: join(folder, 'cluster-ca.crt'),
    authorityKey: join(folder, 'cluster-ca.key'),
    cluster: (number) => clusterFiles(folder, number),
    log: (part) => join(folder, 'logs', `${part}.log`),
    database,
  };
}

// The folder in which a cluster is made known goes with it.
function clusterFiles(folder: string, number: number): ClusterFiles {
  const own = join(folder, `controller-${number}`);
  mkdirSync(own, { recursive: true, mode: 0o700 });
  return {
    folder: join(folder, `cluster-${number}`),
    controllerKubeconfig: join(own, 'kubeconfig'),
    controllerToken: join(own, 'token'),
  };
}

/** Removes the data of earlier root keys, which nothing can read any more. Call it while no other run is alive. */
export function removeForeignData(files: StartFiles): void {
  const home = join(checkoutDirectory, '.dev', 'postgres');
  if (!existsSync(home)) return;
  for (const name of readdirSync(home)) {
    if (!name.startsWith(databasePrefix) || name === files.database) continue;
    rmSync(join(home, name), { recursive: true, force: true });
  }
}
