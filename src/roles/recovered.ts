import { type DatabaseConfig, loadRecoveredConfig } from '../config/database-config.ts';
import { ExitError, exitCodes } from '../config/exit-error.ts';
import { recover } from '../services/tokens/recovery.ts';
import { openDatabase } from '../store/database.ts';
import { schemaFault } from '../store/migrate.ts';
import { type RecoveredOptions, readRecoveredOptions } from './recovered/options.ts';
import type { Role } from './role.ts';

interface RecoveredConfig extends DatabaseConfig {
  readonly options: RecoveredOptions;
}

/** Run once, after a database was restored from a backup and before the server starts. */
export const recovered: Role<RecoveredConfig> = {
  name: 'recovered',
  summary: [
    'Run it once after a restore from a backup, before the server starts. Revokes every',
    'credential that the backup restored, ends every session, disables trusted issuers,',
    'closes sign-in but for personal tokens, and creates a token for an instance admin.',
  ],
  options: [
    { usage: '--token-file FILE', description: ['File to create (0600) for the new token. Required.'] },
    {
      usage: '--admin EMAIL',
      description: ['Owner of the token. Default: the instance admin that was created first.'],
    },
    {
      usage: '--before TIME',
      description: [
        'Revoke only what was created before this time, such as 2027-01-31T12:00:00Z.',
        'Default: everything.',
      ],
    },
    {
      usage: '--new-instance',
      description: [
        'Give the instance another id. For every copy of a database that runs beside its',
        'original: otherwise a JWT for one of them could prove a service token in both.',
      ],
    },
  ],
  load(args, source) {
    const options = readRecoveredOptions(args);
    return { ...loadRecoveredConfig(source), options };
  },
  /** Throws ExitError for a database of another schema, and DomainError as `recover`. */
  async run({ databaseDirectUrl, databaseCaFile, options }, logger) {
    // Past a pooler, because it locks tables.
    const database = openDatabase({ url: databaseDirectUrl.reveal(), caFile: databaseCaFile, poolSize: 2 });
    try {
      const fault = await schemaFault(database);
      if (fault !== undefined) throw new ExitError(exitCodes.configuration, fault);
      await recover({ database, logger }, options);
    } finally {
      await database.close();
    }
  },
};
