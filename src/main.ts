#!/usr/bin/env node
import { ExitError, exitCodes } from './config/exit-error.ts';
import { type Logger, createLogger, errorFields } from './observability/logger.ts';
import { ownRelease } from './lib/release.ts';
import { exitErrorOf } from './roles/exit-error-of.ts';
import { helpText } from './roles/help.ts';
import type { Role } from './roles/role.ts';
import { roles } from './roles/table.ts';

/** The program `keyframe-server`. */

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help') || args.includes('-h')) return print(helpText(roles));
  if (args.includes('--version') || args.includes('-v')) return print(`${ownRelease()}\n`);
  const [name, ...options] = args;
  const role = findRole(name, options);
  const config = role.load(options);
  const logger = createLogger(config.logLevel);
  exitOnUncaught(logger);
  await role.run(config, logger);
}

function print(text: string): void {
  process.stdout.write(text);
}

/** @throws ExitError for an unknown role, and for arguments that it does not take. */
function findRole(name: string | undefined, args: readonly string[]): Role {
  const role = roles.find((known) => known.name === name);
  if (role !== undefined && (args.length === 0 || role.options !== undefined)) return role;
  const names = roles.map((known) => known.name);
  throw new ExitError(
    exitCodes.usage,
    `give one of the roles ${names.slice(0, -1).join(', ')} or ${names.at(-1)}; see --help`,
  );
}

/** A bug must not leave a half-working process: log it, without what it may quote, and let the supervisor restart. */
function exitOnUncaught(logger: Logger): void {
  process.on('uncaughtException', (error) => {
    logger.error(errorFields(error), 'uncaught error');
    process.exit(exitCodes.failure);
  });
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const known = exitErrorOf(error);
  // The message of an unknown error may quote data; its kind and frames do not.
  process.stderr.write(`keyframe-server: ${known?.message ?? `failed: ${JSON.stringify(errorFields(error))}`}\n`);
  process.exit(known?.exitCode ?? exitCodes.failure);
}
