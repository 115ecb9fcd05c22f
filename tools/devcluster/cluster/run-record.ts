import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning, ownIdentity, type ProcessIdentity } from '../../process-identity.ts';
import { bootName, machineName } from './machine.ts';
import { withoutUsersKubeconfig } from './kubeconfig.ts';
import { removeControlGroup } from './control-group.ts';
import { removePublished } from './published-cluster.ts';

/** What a run would leave behind if its launcher were killed. */
interface Leavings {
  readonly machine: string;
  readonly boot: string;
  readonly launcher: ProcessIdentity;
  readonly processes: readonly ProcessIdentity[];
  /** The name of a kind cluster. */
  readonly kindCluster?: string;
  /** The name, in every hierarchy, of the control group of a node's pods. */
  readonly controlGroup?: string;
  /** The folder in a checkout that points to this run. */
  readonly published?: string;
}

const fileName = 'run.json';
const youngMs = 60_000;
const deathPatienceMs = 10_000;

/** A run's private folder, and in it the note by which the next run can end what this one left if it was killed by force. */
export class RunRecord {
  readonly folder: string;
  #leavings: Leavings;

  readonly #env: NodeJS.ProcessEnv;

  private constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.folder = folder;
    this.#env = env;
    this.#leavings = { machine: machineName(), boot: bootName(), launcher: ownIdentity(), processes: [] };
  }

  /** Makes a new run folder, for its owner alone, below the cache folder. */
  static create(cache: string, id: string, env: NodeJS.ProcessEnv): RunRecord {
    const folder = join(runsFolder(cache), id);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const record = new RunRecord(folder, env);
    record.#write();
    return record;
  }

  addProcess(identity: ProcessIdentity): void {
    this.#leavings = { ...this.#leavings, processes: [...this.#leavings.processes, identity] };
    this.#write();
  }

  addKindCluster(name: string): void {
    this.#leavings = { ...this.#leavings, kindCluster: name };
    this.#write();
  }

  addControlGroup(name: string): void {
    this.#leavings = { ...this.#leavings, controlGroup: name };
    this.#write();
  }

  addPublished(folder: string): void {
    this.#leavings = { ...this.#leavings, published: folder };
    this.#write();
  }

  /** Ends all that this run started and removes its folder. Synchronous, so that it can be done while the process exits. */
  end(): void {
    endLeavings(this.folder, this.#leavings, this.#env);
  }

  #write(): void {
    const path = join(this.folder, fileName);
    writeFileSync(`${path}.new`, JSON.stringify(this.#leavings), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }
}

/** Ends the processes and removes the folders of runs whose launcher was killed; answers how many there were. */
export function endAbandonedRuns(cache: string, env: NodeJS.ProcessEnv): number {
  const abandoned = foldersIn(runsFolder(cache)).filter((folder) => endIfAbandoned(folder, env));
  return abandoned.length;
}

function endIfAbandoned(folder: string, env: NodeJS.ProcessEnv): boolean {
  const leavings = readLeavings(folder);
  if (leavings === undefined) return removeUnlessYoung(folder);
  // Process numbers of another machine, or of a container beside us, say nothing here.
  if (leavings.machine !== machineName()) return false;
  const processesAreThere = leavings.boot === bootName();
  if (processesAreThere && isRunning(leavings.launcher)) return false;
  endLeavings(folder, processesAreThere ? leavings : { ...leavings, processes: [] }, env);
  return true;
}

// Without its note, a folder is one that another launcher is about to fill, or what a crash in that moment left.
function removeUnlessYoung(folder: string): boolean {
  const madeAtMs = statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
  if (madeAtMs === undefined || Date.now() - madeAtMs < youngMs) return false;
  removeFolder(folder);
  return true;
}

function endLeavings(folder: string, leavings: Leavings, env: NodeJS.ProcessEnv): void {
  const { processes, kindCluster, controlGroup, published } = leavings;
  if (published !== undefined) removePublished(published, folder);
  for (const identity of processes) kill(identity);
  waitUntilGone(processes);
  if (kindCluster !== undefined) deleteKindCluster(kindCluster, folder, env);
  if (controlGroup !== undefined) removeControlGroup(controlGroup);
  removeFolder(folder);
}

function deleteKindCluster(name: string, folder: string, env: NodeJS.ProcessEnv): void {
  const args = ['delete', 'cluster', '--name', name, '--kubeconfig', join(folder, 'kubeconfig')];
  spawnSync('kind', args, { env: withoutUsersKubeconfig(env) });
}

function kill(identity: ProcessIdentity): void {
  if (!isRunning(identity)) return;
  try {
    process.kill(identity.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function waitUntilGone(processes: readonly ProcessIdentity[]): void {
  const deadlineMs = Date.now() + deathPatienceMs;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  while (processes.some(isRunning) && Date.now() < deadlineMs) Atomics.wait(pause, 0, 0, 10);
}

function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}

function runsFolder(cache: string): string {
  return join(cache, 'runs');
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function readLeavings(folder: string): Leavings | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, fileName), 'utf8')) as Leavings;
  } catch {
    return undefined;
  }
}
