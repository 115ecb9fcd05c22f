import { type DatabaseConfig, loadRecoveredConfig } from '../config/database-config.ts';
import { ExitError, exitCodes } from '../config/exit-error.ts';
import { type AdminTokenOptions, createAdminToken } from '../services/tokens/admin-token.ts';
import { openDatabase } from '../store/database.ts';
import { schemaFault } from '../store/migrate.ts';
import { readAdminTokenOptions } from './admin-token/options.ts';
import type { Role } from './role.ts';

interface AdminTokenConfig extends DatabaseConfig {
  readonly options: AdminTokenOptions;
}

/** Run by an operator if no instance admin can sign in. The servers go on. */
export const adminToken: Role<AdminTokenConfig> = {
  name: 'admin-token',
  summary: [
    'Creates a personal token for an instance admin, which ends after 24 hours, if no other',
    'way to sign in is left. It revokes nothing, and the audit records it.',
  ],
  options: [
    { usage: '--token-file FILE', description: ['File to create (0600) for the token. Required.'] },
    {
      usage: '--admin EMAIL',
      description: ['Owner of the token. Default: the instance admin that was created first.'],
    },
  ],
  load(args, source) {
    const options = readAdminTokenOptions(args);
    return { ...loadRecoveredConfig(source), options };
  },
  /** Throws ExitError for a database of another schema, and DomainError as `createAdminToken`. */
  async run({ databaseUrl, databaseCaFile, options }, logger) {
    const database = openDatabase({ url: databaseUrl.reveal(), caFile: databaseCaFile, poolSize: 2 });
    try {
      const fault = await schemaFault(database);
      if (fault !== undefined) throw new ExitError(exitCodes.configuration, fault);
      await createAdminToken({ database, logger }, options);
    } finally {
      await database.close();
    }
  },
};
