import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findProcess } from '../../process-identity.ts';
import { ClusterError } from './cluster-error.ts';
import type { RunRecord } from './run-record.ts';

const shownLogLines = 20;

export interface ComponentOptions {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly record: RunRecord;
  /** Its whole environment. */
  readonly env: NodeJS.ProcessEnv;
  /** Takes standard output instead of the log. */
  readonly outputFile?: string;
  /** Called when it ends without a request. */
  readonly onUnexpectedEnd: (message: string) => void;
}

/** One process of a cluster, in the run's folder and with its log there. */
export class Component {
  readonly logFile: string;
  readonly #options: ComponentOptions;
  #child: ChildProcess | undefined;
  #fate: string | undefined;

  constructor(options: ComponentOptions) {
    this.#options = options;
    this.logFile = join(options.record.folder, `${options.name}.log`);
  }

  /** Its number while it runs; undefined if it could not be started. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts the process, or starts it again. */
  start(): void {
    const { program, args, env, record, outputFile } = this.#options;
    const log = openSync(this.logFile, 'a', 0o600);
    const output = outputFile === undefined ? log : openSync(outputFile, 'a', 0o600);
    // Detached: a Ctrl-C at the terminal is for the launcher, which then ends all in order.
    const child = spawn(program, args, { cwd: record.folder, env, detached: true, stdio: ['ignore', output, log] });
    const identity = child.pid === undefined ? undefined : findProcess(child.pid);
    if (identity !== undefined) record.addProcess(identity);
    this.#child = child;
    this.#fate = undefined;
    child.on('error', (error) => this.#ended(child, `could not be started: ${error.message}`));
    child.on('exit', (code, signal) =>
      this.#ended(child, signal === null ? `ended with code ${code}` : `was killed by ${signal}`),
    );
    child.unref();
    closeSync(log);
    if (output !== log) closeSync(output);
  }

  /** Throws ClusterError with the end of the log if the process has ended. */
  requireRunning(): void {
    if (this.#fate !== undefined) throw this.failure(this.#fate);
  }

  /** Kills the process without warning, and waits until it is gone; this end is not reported. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.ref();
    child.kill('SIGKILL');
    await exit;
  }

  logContains(text: string): boolean {
    return this.#log().includes(text);
  }

  /** An error that says what happened to this component, with the end of its log. */
  failure(what: string): ClusterError {
    const lines = this.#log().trimEnd().split('\n').slice(-shownLogLines);
    const shown = lines.map((line) => `  ${line}`).join('\n');
    return new ClusterError(`${this.#options.name} ${what}. The end of ${basename(this.logFile)}:\n${shown}`);
  }

  // The run's folder may be gone by now.
  #log(): string {
    return existsSync(this.logFile) ? readFileSync(this.logFile, 'utf8') : '';
  }

  #ended(child: ChildProcess, fate: string): void {
    if (this.#child !== child) return;
    this.#fate = fate;
    this.#options.onUnexpectedEnd(this.failure(fate).message);
  }
}
