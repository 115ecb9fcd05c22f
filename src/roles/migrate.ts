import { parseArgs } from 'node:util';
import { type MigrateConfig, loadMigrateConfig } from '../config/database-config.ts';
import { ExitError, exitCodes } from '../config/exit-error.ts';
import { migrate as migrateDatabase } from '../store/migrate.ts';
import type { Role } from './role.ts';

interface MigrateRoleConfig extends MigrateConfig {
  readonly finishUpgrade: boolean;
}

export const migrate: Role<MigrateRoleConfig> = {
  name: 'migrate',
  summary: ['Migrates the database to the schema of this release.'],
  options: [
    {
      usage: '--finish-upgrade',
      description: [
        'Also apply what servers of the previous minor release cannot work with.',
        'They no longer start then, and a rollback to them is not possible.',
      ],
    },
  ],
  load(args, source) {
    const finishUpgrade = readFinishUpgrade(args);
    return { ...loadMigrateConfig(source), finishUpgrade };
  },
  async run(config, logger) {
    const { databaseDirectUrl, databaseCaFile, databaseWaitMs, databaseRunUrl, finishUpgrade } = config;
    const applied = await migrateDatabase({
      url: databaseDirectUrl.reveal(),
      caFile: databaseCaFile,
      logger,
      waitMs: databaseWaitMs,
      runUrl: databaseRunUrl?.reveal(),
      isRunUrlGenerated: config.databaseRunGenerated,
      finishUpgrade,
    });
    logger.info({ applied: applied.length }, 'the database has the schema of this release');
  },
};

/** Whether the option is given. Throws ExitError, which repeats no argument. */
function readFinishUpgrade(args: readonly string[]): boolean {
  try {
    const { values } = parseArgs({ args: [...args], options: { 'finish-upgrade': { type: 'boolean' } } });
    return values['finish-upgrade'] === true;
  } catch {
    throw new ExitError(exitCodes.usage, 'migrate: it takes only the option --finish-upgrade; see --help');
  }
}
