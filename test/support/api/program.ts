import { setTimeout as pause } from 'node:timers/promises';
import { buildServer } from '../../../tools/build/server.ts';
import { CapturedProcess } from '../faults/captured-process.ts';
import { compileCacheEnv } from './compile-cache.ts';

export interface ProgramOptions {
  readonly args: readonly string[];
  /** Without the prefix. By default it listens on free ports of 127.0.0.1 and limits no rates. */
  readonly env?: Readonly<Record<string, string>>;
  readonly nodeArgs?: readonly string[];
  /** Default: this checkout's build of `keyframe-server`. */
  readonly program?: string;
}

/** Tests come from one address, and as fast as they can. */
export const noRateLimits = {
  RATE_LIMIT_REQUESTS: '0',
  RATE_LIMIT_FAILED_AUTHENTICATIONS: '0',
  RATE_LIMIT_TRAFFIC_MIB: '0',
};

/** A server that has started. */
export interface RunningProgram {
  readonly server: CapturedProcess;
  readonly port: number;
  /** NaN without a port of controllers. */
  readonly clusterPort: number;
  readonly metricsPort: number;
}

/** Runs `keyframe-server` as processes, and ends those that still run with `endAll`. */
export class Programs {
  readonly #started: CapturedProcess[] = [];

  async spawn({ args, env = {}, nodeArgs = [], program }: ProgramOptions): Promise<CapturedProcess> {
    const variables = Object.entries({ HOST: '127.0.0.1', PORT: '0', METRICS_PORT: '0', ...noRateLimits, ...env });
    const server = new CapturedProcess({
      name: args.join(' '),
      program: process.execPath,
      args: [...nodeArgs, program ?? (await buildServer()), ...args],
      env: {
        ...compileCacheEnv,
        ...Object.fromEntries(variables.map(([name, value]) => [`KEYFRAME_${name}`, value])),
      },
    });
    this.#started.push(server);
    return server;
  }

  /** Starts one and waits until it says that it has. */
  async start(options: ProgramOptions): Promise<RunningProgram> {
    const server = await this.spawn(options);
    const line = await logLine(server, 'started');
    const { port, clusterPort, metricsPort } = line;
    return { server, port: Number(port), clusterPort: Number(clusterPort), metricsPort: Number(metricsPort) };
  }

  async endAll(): Promise<void> {
    await Promise.all(this.#started.splice(0).map((server) => server.end('SIGKILL')));
  }
}

/** The first line of a server's log with this message, once it is there. */
export async function logLine(server: CapturedProcess, message: string): Promise<Record<string, unknown>> {
  for (;;) {
    const isRunning = server.isRunning;
    const lines = server.output
      .toString()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'));
    const found = lines.map((line) => JSON.parse(line) as Record<string, unknown>).find(({ msg }) => msg === message);
    if (found !== undefined) return found;
    if (!isRunning) throw new Error(`it has ended without saying "${message}":\n${server.output.toString()}`);
    await pause(10);
  }
}
