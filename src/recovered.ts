import { loadMigrateConfig } from './config.ts';
import { Fault } from './environment-reader.ts';
import { createLogger, type Logger } from './observability/logger.ts';
import { readRecoveredOptions } from './recovered-options.ts';
import { recover } from './services/tokens/recovery.ts';
import { StartError, exitCodes } from './start-error.ts';
import { openDatabase } from './store/database.ts';
import { schemaFault } from './store/migrate.ts';

/** The role `recovered`: run once, after a database was restored from a backup and before the server starts. */

export const recoveredRole = 'recovered';

/**
 * Revokes the credentials of a restored database and writes a new token of an instance admin to a file. `args` follow the
 * role. Throws StartError for wrong options and a database of another schema, ConfigError, and DomainError as `recover`.
 */
export async function runRecovered(args: readonly string[], onLogger: (logger: Logger) => void): Promise<void> {
  const options = readRecoveredOptions(args);
  if (options instanceof Fault) throw new StartError(exitCodes.usage, `${recoveredRole}: ${options.message}`);
  const config = loadMigrateConfig();
  const logger = createLogger(config.logLevel);
  onLogger(logger);
  // Past a pooler: it locks tables.
  const database = openDatabase({
    url: config.databaseDirectUrl.reveal(),
    caFile: config.databaseCaFile,
    poolSize: 2,
  });
  try {
    const fault = await schemaFault(database);
    if (fault !== undefined) throw new StartError(exitCodes.configuration, fault);
    await recover({ database, logger }, options);
  } finally {
    await database.close();
  }
}
