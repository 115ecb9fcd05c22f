import type { Plaintext } from '../domain/plaintext.ts';
import type { LogLevel } from '../observability/logger.ts';
import { addressFileFaults } from './address-files.ts';
import { holdsCertificates } from './certificates.ts';
import { type ConfigSource, processSource } from './source.ts';
import { type Values, VariableReader } from './variable-reader.ts';

/** Where the database is. */
export interface DatabaseConfig {
  readonly logLevel: LogLevel;
  readonly databaseUrl: Plaintext;
  /** The same database without a pooler between: for locks and LISTEN. */
  readonly databaseDirectUrl: Plaintext;
  /** A file with the certificates of the authorities that are trusted for both; undefined for those that Node.js trusts. */
  readonly databaseCaFile: string | undefined;
}

/** What `migrate` needs. */
export interface MigrateConfig extends DatabaseConfig {
  /** How long it waits for a database that does not respond yet. */
  readonly databaseWaitMs: number;
  /** As which the servers connect; undefined if as the role that migrates. */
  readonly databaseRunUrl: Plaintext | undefined;
  /** Whether `init` generated that address. */
  readonly databaseRunGenerated: boolean;
}

/** @throws ConfigError with every fault. */
export function loadMigrateConfig(source: ConfigSource = processSource()): MigrateConfig {
  const reader = new VariableReader('migrate', source);
  checkDatabase(reader, source);
  checkRunRole(reader);
  const values = reader.complete();
  return {
    ...databaseConfig(values),
    databaseWaitMs: values.DATABASE_WAIT,
    databaseRunUrl: values.DATABASE_RUN_URL,
    databaseRunGenerated: values.DATABASE_RUN_GENERATED,
  };
}

function checkRunRole(reader: VariableReader<'migrate'>): void {
  const { DATABASE_URL: owner, DATABASE_DIRECT_URL: direct = owner, DATABASE_RUN_URL: run } = reader.values;
  if (run === undefined || direct === undefined) return;
  const role = roleOf(run.reveal());
  if (role === '')
    reader.fault('DATABASE_RUN_URL', 'names no role: write it as postgresql://role:password@host/database');
  else if (role === roleOf(direct.reveal())) {
    reader.fault('DATABASE_RUN_URL', 'names the role that migrates: give the servers another one, or unset it');
  }
}

function roleOf(address: string): string {
  return decodeURIComponent(new URL(address).username);
}

/** What `recovered` needs. Throws ConfigError with every fault. */
export function loadRecoveredConfig(source: ConfigSource = processSource()): DatabaseConfig {
  const reader = new VariableReader('recovered', source);
  checkDatabase(reader, source);
  return databaseConfig(reader.complete());
}

type DatabaseValues = Pick<
  Values<'recovered'>,
  'LOG_LEVEL' | 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'DATABASE_CA_FILE'
>;

/** The database of values that `checkDatabase` passed. */
export function databaseConfig(values: DatabaseValues): DatabaseConfig {
  return {
    logLevel: values.LOG_LEVEL,
    databaseUrl: values.DATABASE_URL,
    databaseDirectUrl: values.DATABASE_DIRECT_URL ?? values.DATABASE_URL,
    databaseCaFile: values.DATABASE_CA_FILE,
  };
}

/** Adds the faults of the database's variables that one of them alone does not show. */
export function checkDatabase(
  reader: Pick<VariableReader<'recovered'>, 'values' | 'isSet' | 'fault'>,
  source: ConfigSource,
): void {
  const hasAuthorities = reader.isSet('DATABASE_CA_FILE');
  const { DATABASE_CA_FILE: path } = reader.values;
  if (path !== undefined && !holdsCertificates(source.readTextFile(path))) {
    reader.fault(
      'DATABASE_CA_FILE',
      "names a file without a valid certificate in PEM; it needs those of the authorities that sign PostgreSQL's",
    );
  }
  for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL'] as const) {
    const address = reader.values[name]?.reveal();
    if (address === undefined) continue;
    for (const fault of addressFileFaults(address, { source, hasAuthorities })) reader.fault(name, fault);
    if (!hasAuthorities || !forbidsVerification(address)) continue;
    reader.fault(
      name,
      'forbids a verified connection, which KEYFRAME_DATABASE_CA_FILE asks for: leave sslmode out of it',
    );
  }
}

const modesWithoutVerification: ReadonlySet<string> = new Set(['disable', 'no-verify', 'false', '0']);

function forbidsVerification(address: string): boolean {
  const { searchParams } = new URL(address);
  return ['sslmode', 'ssl'].some((name) => modesWithoutVerification.has(searchParams.get(name) ?? ''));
}
