import { setTimeout as pause } from 'node:timers/promises';
import { buildServer } from '../../../tools/build/server.ts';
import type { Command, NetworkSpace } from '../../../tools/devcluster/cluster/network-space.ts';
import { CapturedProcess, type ProcessEnd } from '../faults/captured-process.ts';
import { compileCacheEnv } from './compile-cache.ts';
import { freePort } from '../../../tools/free-port.ts';
import type { MemoryLimit } from '../faults/memory-limit.ts';
import type { MovedClock } from '../faults/moved-clock.ts';
import { noRateLimits } from './program.ts';

export type ServerRole = 'all' | 'api' | 'controller' | 'migrate';

export interface ServerOptions {
  readonly role: ServerRole;
  /** `KEYFRAME_*` variables without the prefix; PORT and METRICS_PORT are chosen here, and rates not limited by default. */
  readonly env: Readonly<Record<string, string>>;
  /** What to call it in messages; the role if it is left out. */
  readonly name?: string;
  /** The machine's if it is left out. */
  readonly clock?: MovedClock | undefined;
  /** The machine's if it is left out. */
  readonly memory?: MemoryLimit | undefined;
  /** The network that it is in; the machine's if it is left out. */
  readonly network?: NetworkSpace | undefined;
  /** For node, before the program. */
  readonly nodeArgs?: readonly string[] | undefined;
  /** The file of the program; that of this checkout's build if it is left out. */
  readonly program?: string | undefined;
}

const readyLimitMs = 90_000;

async function argsOf({ role, clock, nodeArgs = [], program }: Omit<ServerOptions, 'env'>): Promise<string[]> {
  return [...(clock?.nodeArgs ?? []), ...nodeArgs, program ?? (await buildServer()), role];
}

function commandWithin(around: MemoryLimit | NetworkSpace | undefined, command: Command): Command {
  return around?.command(command) ?? command;
}

/** A `keyframe-server` process, on free ports. */
export class ServerProcess {
  readonly url: string;
  readonly metricsUrl: string;
  readonly captured: CapturedProcess;

  private constructor(captured: CapturedProcess, at: { host: string; api: number; metrics: number }) {
    this.captured = captured;
    this.url = `http://${at.host}:${at.api}`;
    this.metricsUrl = `http://${at.host}:${at.metrics}`;
  }

  /** Starts it, to be ended with `resources` at the latest. Does not wait until it is ready. */
  static async spawn(
    resources: AsyncDisposableStack,
    { role, env, name = role, clock, memory, network, nodeArgs, program }: ServerOptions,
  ): Promise<ServerProcess> {
    const ports = { api: await freePort(), metrics: await freePort() };
    const host = network?.address ?? '127.0.0.1';
    const variables = { ...noRateLimits, ...env, PORT: ports.api, METRICS_PORT: ports.metrics, HOST: host };
    const prefixed = Object.fromEntries(
      Object.entries(variables).map(([key, value]) => [`KEYFRAME_${key}`, String(value)]),
    );
    const command = { program: process.execPath, args: await argsOf({ role, clock, nodeArgs, program }) };
    const captured = new CapturedProcess({
      name,
      ...commandWithin(memory ?? network, command),
      env: { ...compileCacheEnv, ...prefixed, ...clock?.env },
    });
    resources.defer(async () => void (await captured.end('SIGKILL')));
    return new ServerProcess(captured, { host, ...ports });
  }

  /** Starts it and waits until it is ready. */
  static async start(resources: AsyncDisposableStack, options: ServerOptions): Promise<ServerProcess> {
    const server = await ServerProcess.spawn(resources, options);
    await server.ready();
    return server;
  }

  /** Waits until /readyz answers 200; throws with the end of its output if it ends before, or takes too long. */
  async ready(limitMs: number = readyLimitMs): Promise<void> {
    const deadline = Date.now() + limitMs;
    while (this.captured.isRunning && Date.now() < deadline) {
      if (await this.isReady()) return;
      await pause(50);
    }
    const state = this.captured.isRunning ? `is not ready after ${limitMs} ms` : 'has ended';
    throw new Error(`${this.captured.name} ${state}. The end of its output:\n${this.outputTail()}`);
  }

  async isReady(): Promise<boolean> {
    try {
      const answer = await fetch(`${this.metricsUrl}/readyz`, { signal: AbortSignal.timeout(30_000) });
      await answer.body?.cancel();
      return answer.ok;
    } catch {
      return false;
    }
  }

  /** Why it is not ready, as /readyz says; undefined if it is, or does not answer. */
  async unreadiness(): Promise<string | undefined> {
    try {
      const answer = await fetch(`${this.metricsUrl}/readyz`);
      const text = await answer.text();
      return answer.ok ? undefined : text;
    } catch {
      return undefined;
    }
  }

  /** Its metrics in the text format of Prometheus. */
  async metrics(): Promise<string> {
    const answer = await fetch(`${this.metricsUrl}/metrics`);
    return answer.text();
  }

  /** Ends it in order, as Kubernetes does. */
  stop(): Promise<ProcessEnd> {
    return this.captured.end('SIGTERM');
  }

  /** Ends it as a crash does. */
  kill(): Promise<ProcessEnd> {
    return this.captured.end('SIGKILL');
  }

  /** Takes all time from it, like a machine that hangs; its connections stay open. */
  suspend(): void {
    this.captured.signal('SIGSTOP');
  }

  resume(): void {
    this.captured.signal('SIGCONT');
  }

  outputTail(): string {
    return this.captured.output.toString().trimEnd().split('\n').slice(-12).join('\n');
  }
}
