import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProcess, isRunning, ownIdentity, type ProcessIdentity } from '../process-identity.ts';

interface Run {
  readonly launcher: ProcessIdentity;
  readonly children: readonly ProcessIdentity[];
}

/** Remembers in a file which processes a run started, so that the next run can end what a killed one left behind. */
export class RunFile {
  readonly #path: string;
  readonly #children: ProcessIdentity[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  /** Ends a killed run's processes. Throws if a run of this checkout is still alive. */
  async take(): Promise<void> {
    const earlier = this.#read();
    if (earlier !== undefined) {
      if (isRunning(earlier.launcher)) {
        throw new Error(
          `npm start already runs in this checkout (process ${earlier.launcher.pid}): stop it first with Ctrl-C there.`,
        );
      }
      for (const child of earlier.children) await endProcess(child);
    }
    this.#write();
  }

  add(pid: number): void {
    const identity = findProcess(pid);
    if (identity === undefined) return;
    this.#children.push(identity);
    this.#write();
  }

  release(): void {
    rmSync(this.#path, { force: true });
  }

  #read(): Run | undefined {
    try {
      return JSON.parse(readFileSync(this.#path, 'utf8')) as Run;
    } catch {
      return undefined;
    }
  }

  #write(): void {
    mkdirSync(dirname(this.#path), { recursive: true });
    const run: Run = { launcher: ownIdentity(), children: this.#children };
    writeFileSync(`${this.#path}.new`, JSON.stringify(run), { mode: 0o600 });
    renameSync(`${this.#path}.new`, this.#path);
  }
}

async function endProcess(identity: ProcessIdentity): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (let tries = 0; tries < 50 && isRunning(identity); tries += 1) {
      if (tries === 0) process.kill(identity.pid, signal);
      await sleep(100);
    }
  }
}
