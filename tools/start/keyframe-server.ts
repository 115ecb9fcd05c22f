import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { serverProgram } from '../build/server.ts';
import type { NetworkSpace } from '../devcluster/cluster/network-space.ts';

export interface ServerOptions {
  readonly role: 'api' | 'controller' | 'migrate';
  readonly env: Readonly<Record<string, string>>;
  /** Its log; replaced at each start. */
  readonly logFile: string;
  /** The network that it is in; that of this machine if absent. */
  readonly network?: NetworkSpace | undefined;
}

// A wait for a single answer on this machine.
const answerLimitMs = 1_000;

/** A `keyframe-server` process of this checkout's build. */
export class KeyframeServer {
  readonly role: string;
  readonly #child: ChildProcess;
  readonly #logFile: string;
  readonly #address: string;

  constructor({ role, env, logFile, network }: ServerOptions) {
    this.role = role;
    this.#logFile = logFile;
    this.#address = network?.address ?? '127.0.0.1';
    const plain = { program: process.execPath, args: [serverProgram, role] };
    const { program, args } = network?.command(plain) ?? plain;
    const log = openSync(logFile, 'w', 0o600);
    this.#child = spawn(program, args, {
      // A group of its own: at Ctrl-C this process stops its servers one after the other.
      detached: true,
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    guard(this.#child);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Waits until /readyz on the metrics port answers 200. Throws with the log's end if it ends or takes too long. */
  async ready(metricsPort: number, limitMs = 30_000): Promise<void> {
    const deadline = Date.now() + limitMs;
    while (Date.now() < deadline) {
      if (this.#ended()) break;
      // If this process has ended meanwhile, another one answered.
      if ((await answersReady(this.#address, metricsPort)) && !this.#ended()) return;
      await sleep(50);
    }
    throw new Error(`keyframe-server ${this.role} is not ready. The end of its log:\n${this.#logTail()}`);
  }

  /** Waits for the end of a role that ends by itself. Throws with the log's end if it failed. */
  async finished(): Promise<void> {
    if (!this.#ended()) await once(this.#child, 'exit');
    if (this.#child.exitCode !== 0) throw new Error(`keyframe-server ${this.role} failed:\n${this.#logTail()}`);
  }

  /** Calls back if the process ends on its own. */
  onExit(callback: () => void): void {
    this.#child.once('exit', callback);
  }

  async stop(): Promise<void> {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (this.#ended()) return;
      const ended = once(this.#child, 'exit');
      this.#child.kill(signal);
      await Promise.race([ended, sleep(15_000, undefined, { ref: false })]);
    }
  }

  #ended(): boolean {
    return this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #logTail(): string {
    return readFileSync(this.#logFile, 'utf8').trimEnd().split('\n').slice(-8).join('\n');
  }
}

async function answersReady(address: string, port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://${address}:${port}/readyz`, { signal: AbortSignal.timeout(answerLimitMs) });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

// The read ends when the pipe closes, which the kernel does however our process ends.
const guardScript = `
read -r word && exit 0
kill -TERM "$1" 2>/dev/null
tries=0
while [ "$tries" -lt 150 ] && kill -0 "$1" 2>/dev/null; do tries=$((tries + 1)); sleep 0.1; done
kill -KILL "$1" 2>/dev/null
`;

/** Starts a tiny process that ends the server if this process is killed by force. */
function guard(server: ChildProcess): void {
  if (server.pid === undefined) return;
  const child = spawn('/bin/sh', ['-c', guardScript, 'keyframe-guard', String(server.pid)], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  server.once('exit', () => void child.stdin.end('ended\n'));
}
