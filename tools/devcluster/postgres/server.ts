import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownIdentity } from '../../process-identity.ts';
import { findBinaries } from './binaries.ts';
import { type DataFolder, openDataFolder, removeLeftovers } from './data-folder.ts';
import { type Guard, startGuard } from './guard.ts';
import { type PostgresHome, postgresHome } from './home.ts';
import { ownerMark, postmasterLines, releaseDataFolder } from './postmaster.ts';
import { freePort } from '../../free-port.ts';

export interface PostgresOptions {
  /**
   * A name keeps the data under it for the next start. Without one they live in a new folder, which is gone when the server
   * stops, and also when this process is killed.
   */
  readonly name?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** false skips fsync, for data that need not outlive a power cut. Default true. */
  readonly durable?: boolean;
  /** The package with its programs, such as those of another major; default the one of the development. */
  readonly packageDirectory?: string | undefined;
  /** Settings of postgresql.conf, such as `{ track_commit_timestamp: 'on' }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A running server of this process's own, on loopback TCP. */
export interface PostgresServer {
  readonly port: number;
  /** The first process; killing it by force takes the server down as a crash would. */
  readonly pid: number;
  /** What the server wrote to its log. */
  readonly logFile: string;
  /** The URL, password included, of a database on it. */
  urlOf(database: string): string;
  /** Ends all sessions and stops in order; calling it again, or after a crash, does no harm. */
  stop(): Promise<void>;
  /** Stops at once and writes nothing, so that the next start on these data recovers from the log, as after a crash. */
  crash(): Promise<void>;
}

interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
}

const user = 'keyframe';
const startLimitMs = 30_000;
const portAttempts = 5;

/**
 * Starts PostgreSQL and answers when it accepts connections (about a second on new data). What a crashed earlier run of
 * this checkout left behind is stopped and removed first. Throws with the end of the server's log if it does not start, and
 * if another run that is still alive uses the same data.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const home = postgresHome();
  const binaries = findBinaries(home, options.packageDirectory);
  await removeLeftovers(home);
  const folder = await openDataFolder(home, binaries, options.name);
  await releaseDataFolder(folder.data);
  const running = await launch({ home, program: binaries.postgres, folder, options }).catch((error: unknown) => {
    if (folder.temporary) rmSync(folder.directory, { recursive: true, force: true });
    throw error;
  });
  const guard = startGuard({ pid: running.pid, folder: folder.directory, temporary: folder.temporary });
  return serverOf(running, folder, guard);
}

function serverOf({ child, pid, port }: Running, folder: DataFolder, guard: Guard): PostgresServer {
  const end = async (signals: readonly NodeJS.Signals[]): Promise<void> => {
    await endProcess(child, signals);
    guard.dismiss();
    if (folder.temporary) rmSync(folder.directory, { recursive: true, force: true });
  };
  return {
    port,
    pid,
    logFile: folder.logFile,
    urlOf: (database) => `postgresql://${user}:${folder.password}@127.0.0.1:${port}/${database}`,
    stop: () => end(['SIGINT', 'SIGQUIT', 'SIGKILL']),
    crash: () => end(['SIGQUIT', 'SIGKILL']),
  };
}

interface LaunchOptions {
  readonly home: PostgresHome;
  readonly program: string;
  readonly folder: DataFolder;
  readonly options: PostgresOptions;
}

// Between finding a free port and taking it another process may take it.
async function launch(launchOptions: LaunchOptions): Promise<Running> {
  const { folder, options } = launchOptions;
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort());
    const running = spawnServer(launchOptions, port);
    if (await becomesReady(running.child, folder)) return running;
    await endProcess(running.child, ['SIGINT', 'SIGKILL']);
    const log = readFileSync(folder.logFile, 'utf8');
    const portTaken = options.port === undefined && /could not bind/.test(log);
    if (!portTaken || attempt === portAttempts) {
      throw new Error(`PostgreSQL did not start on port ${port}. The end of its log:\n${log.slice(-2000)}`);
    }
  }
}

function spawnServer({ home, program, folder, options }: LaunchOptions, port: number): Running {
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    // Shows the next run whose server this was, if this run is killed.
    cluster_name: ownerMark(ownIdentity()),
    ...(options.durable === false ? { fsync: 'off', full_page_writes: 'off' } : {}),
    ...options.settings,
  };
  const log = openSync(folder.logFile, 'w', 0o600);
  const child = spawn(
    program,
    ['-D', folder.data, ...Object.entries(settings).map(([key, value]) => `--${key}=${value}`)],
    {
      ...home.account,
      cwd: '/',
      env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
      // A group of its own: Ctrl-C is for this process, which stops the server when it needs it no more.
      detached: true,
      stdio: ['ignore', log, log],
    },
  );
  closeSync(log);
  child.on('error', () => undefined);
  child.unref();
  return { child, pid: child.pid ?? 0, port };
}

async function becomesReady(child: ChildProcess, folder: DataFolder): Promise<boolean> {
  const deadline = Date.now() + startLimitMs;
  while (!hasEnded(child) && Date.now() < deadline) {
    const lines = postmasterLines(folder.data);
    if (lines?.pid === child.pid && lines?.status === 'ready') return true;
    await sleep(20);
  }
  return false;
}

async function endProcess(child: ChildProcess, signals: readonly NodeJS.Signals[]): Promise<void> {
  child.ref();
  for (const signal of signals) {
    if (hasEnded(child)) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await Promise.race([ended, sleep(10_000, undefined, { ref: false })]);
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}
