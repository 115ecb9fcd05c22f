#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { type RunningServer, startServer } from './compose.ts';
import { type ServerRole, type TaskName, loadServerConfig, serverRoles, taskNames } from './config.ts';
import { DomainError } from './domain/errors/domain-error.ts';
import { ConfigError } from './environment-reader.ts';
import { ListenError } from './http/server.ts';
import { TaskError } from './installation/task-error.ts';
import { ApiError } from './kube/client/api-error.ts';
import { type Logger, createLogger, errorFields } from './observability/logger.ts';
import { ownRelease } from './lib/release.ts';
import { recoveredRole, runRecovered } from './recovered.ts';
import { StartError, exitCodes } from './start-error.ts';
import { type TlsFault, tlsFault } from './store/tls-fault.ts';
import { tasks } from './tasks.ts';
import { usage } from './usage.ts';

/** The program `keyframe-server`: its roles, signals and exit codes. */

type Command = ServerRole | TaskName | 'help' | 'version';

const roles = [...serverRoles, ...taskNames] as const;

// After the delay. Longer than requests under way are given; with a delay of 5 s, no longer than the 30 s after which
// Kubernetes kills.
const stopLimitMs = 25_000;

async function main(args: readonly string[]): Promise<void> {
  // The one role that takes options of its own.
  const [role, ...options] = args;
  if (role === recoveredRole && !options.includes('--help')) return await runRecovered(options, exitOnUncaught);
  const command = readCommand(args);
  switch (command) {
    case 'help':
      process.stdout.write(usage);
      return;
    case 'version':
      process.stdout.write(`${ownRelease()}\n`);
      return;
    default:
      await (isTask(command) ? runTask(command) : serve(command));
  }
}

function isTask(command: ServerRole | TaskName): command is TaskName {
  return taskNames.some((name) => name === command);
}

/** @throws StartError for anything but one role or option. */
function readCommand(args: readonly string[]): Command {
  const options = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'v' } } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    if (values.help === true) return 'help';
    if (values.version === true) return 'version';
    const [first, ...others] = positionals;
    const command = roles.find((role) => role === first);
    if (command !== undefined && others.length === 0) return command;
  } catch {
    // An unknown option: the same advice.
  }
  throw new StartError(
    exitCodes.usage,
    `give one of the roles ${roles.join(', ')} or ${recoveredRole}; --help tells more`,
  );
}

async function runTask(name: TaskName): Promise<void> {
  const task = tasks[name]();
  const logger = createLogger(task.logLevel);
  exitOnUncaught(logger);
  await task.run(logger);
}

async function serve(role: ServerRole): Promise<void> {
  const config = loadServerConfig(role);
  const logger = createLogger(config.logLevel);
  exitOnUncaught(logger);
  let running: RunningServer | undefined;
  let stopping = false;
  const onSignal = (signal: 'SIGTERM' | 'SIGINT', exitCode: number): void => {
    if (stopping || running === undefined) process.exit(exitCode);
    stopping = true;
    logger.info({ signal }, 'stopping');
    void stop(running, { logger, limitMs: config.shutdownDelayMs + stopLimitMs });
  };
  process.on('SIGTERM', () => onSignal('SIGTERM', 128 + 15));
  process.on('SIGINT', () => onSignal('SIGINT', 128 + 2));
  running = await startServer(config, logger);
}

/** Ends the process: with 0 when all was closed in order. */
async function stop(
  running: RunningServer,
  { logger, limitMs }: { readonly logger: Logger; readonly limitMs: number },
): Promise<never> {
  setTimeout(() => {
    logger.error('something did not end in time');
    process.exit(exitCodes.failure);
  }, limitMs);
  try {
    await running.stop();
    logger.info('stopped');
    process.exit(0);
  } catch (error) {
    logger.error(errorFields(error), 'stopping failed');
    process.exit(exitCodes.failure);
  }
}

/** A bug must not leave a half-working process: log it, without what it may quote, and let the supervisor restart. */
function exitOnUncaught(logger: Logger): void {
  process.on('uncaughtException', (error) => {
    logger.error(errorFields(error), 'uncaught error');
    process.exit(exitCodes.failure);
  });
}

/** Advice and an exit code for what is known to go wrong at the start; undefined for anything else. */
function startErrorOf(error: unknown): StartError | undefined {
  if (error instanceof StartError) return error;
  if (error instanceof ConfigError) return new StartError(exitCodes.configuration, configurationFaults(error), error);
  if (error instanceof ListenError) return new StartError(exitCodes.unavailable, error.message, error);
  if (error instanceof TaskError) return new StartError(exitCodes.failure, error.message, error);
  if (error instanceof ApiError) return clusterError(error);
  return error instanceof DomainError ? domainStartError(error) : undefined;
}

function clusterError(error: ApiError): StartError {
  if (error.status === 0) {
    return new StartError(
      exitCodes.unavailable,
      `the API server of the cluster does not answer (${error.message})`,
      error,
    );
  }
  const isRefused = error.status === 401 || error.status === 403;
  const advice = isRefused ? ': give the account the rights that the chart gives it' : '';
  return new StartError(exitCodes.failure, `the API server of the cluster refused ${error.message}${advice}`, error);
}

function domainStartError(error: DomainError): StartError {
  switch (error.code) {
    case 'store_unavailable':
      return databaseError(error);
    case 'overloaded':
      return new StartError(exitCodes.unavailable, error.detail, error);
    case 'key_unavailable':
    case 'conflict':
    case 'invalid_input':
      return new StartError(exitCodes.configuration, error.detail, error);
    default:
      return new StartError(exitCodes.failure, error.detail, error);
  }
}

function configurationFaults({ faults }: ConfigError): string {
  const [only, ...others] = faults;
  if (only !== undefined && others.length === 0) return only;
  return `the configuration has ${faults.length} faults:\n${faults.map((fault) => `  ${fault}`).join('\n')}`;
}

const tlsAdvice: Readonly<Record<TlsFault, string>> = {
  untrusted:
    'an authority that is not trusted has signed the certificate of PostgreSQL: give the certificate of that authority in KEYFRAME_DATABASE_CA_FILE (database.ca of the chart)',
  other_host:
    'the certificate of PostgreSQL is for another host than that of KEYFRAME_DATABASE_URL: use a host name that the certificate has',
  expired:
    'the certificate of PostgreSQL, or of its authority, is not valid at this time: renew it, or correct the clock',
  not_offered: 'PostgreSQL does not offer TLS, which this configuration asks for: turn on ssl in PostgreSQL',
};

function databaseError(error: DomainError): StartError {
  const found = tlsFault(error);
  if (found === undefined) return new StartError(exitCodes.unavailable, unreachable(error), error);
  const code = found.fault === 'not_offered' ? '' : ` (${found.code})`;
  return new StartError(exitCodes.configuration, `${tlsAdvice[found.fault]}${code}`, error);
}

function unreachable(error: DomainError): string {
  const code = errorFields(error.cause)['code'];
  const reason = typeof code === 'string' ? ` (${code})` : '';
  return `the database cannot be reached${reason}: check KEYFRAME_DATABASE_URL, and that PostgreSQL runs and lets this user in`;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const known = startErrorOf(error);
  // An unknown error's message may quote data; its kind and frames do not.
  process.stderr.write(`keyframe-server: ${known?.message ?? `failed: ${JSON.stringify(errorFields(error))}`}\n`);
  process.exit(known?.exitCode ?? exitCodes.failure);
}
