import { type MigrateConfig, loadMigrateConfig } from '../config/database-config.ts';
import { migrate as migrateDatabase } from '../store/migrate.ts';
import type { Role } from './role.ts';

export const migrate: Role<MigrateConfig> = {
  name: 'migrate',
  summary: ['Migrates the database to the schema of this release.'],
  load: (_args, source) => loadMigrateConfig(source),
  async run({ databaseDirectUrl, databaseCaFile, databaseWaitMs, databaseRunUrl }, logger) {
    const address = { url: databaseDirectUrl.reveal(), caFile: databaseCaFile };
    const runUrl = databaseRunUrl?.reveal();
    const applied = await migrateDatabase({ ...address, logger, waitMs: databaseWaitMs, runUrl });
    logger.info({ applied: applied.length }, 'the database has the schema of this release');
  },
};
