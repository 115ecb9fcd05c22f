import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { RootKeyFormatError, RootKeys } from './crypto/root-keys.ts';
import { Plaintext } from './domain/plaintext.ts';
import { ConfigError, type ConfigSource, EnvironmentReader, Fault, processSource } from './environment-reader.ts';
import { parseDurationMs } from './lib/duration.ts';
import { type LogLevel, logLevels } from './observability/logger.ts';

/**
 * The server's configuration, read from `KEYFRAME_*` variables. Everything is checked before anything is built, all
 * faults are told at once, and none of them repeats what a variable or file holds.
 */

export const serverRoles = ['all', 'api', 'controller'] as const;
export type ServerRole = (typeof serverRoles)[number];

/** The roles that do one thing and end. */
export const taskNames = ['migrate', 'init', 'pre-delete', 'smoke-test'] as const;
export type TaskName = (typeof taskNames)[number];

/** Where the database is. */
export interface DatabaseConfig {
  readonly logLevel: LogLevel;
  readonly databaseUrl: Plaintext;
  /** The same database without a pooler between: for locks and LISTEN. */
  readonly databaseDirectUrl: Plaintext;
  /** A file with the certificates of the authorities that are trusted for both; undefined for those that Node.js knows. */
  readonly databaseCaFile: string | undefined;
}

/** What `migrate` needs. */
export interface MigrateConfig extends DatabaseConfig {
  /** How long it waits for a database that does not answer yet. */
  readonly databaseWaitMs: number;
}

export interface ServerConfig extends DatabaseConfig {
  readonly role: ServerRole;
  readonly rootKeys: RootKeys;
  /** The address to listen on; undefined for all interfaces. */
  readonly host: string | undefined;
  /** 0 takes any free port, which the log tells. */
  readonly port: number;
  readonly metricsPort: number;
  /** Addresses and CIDR ranges. */
  readonly trustedProxies: readonly string[];
  /** Each a minute; 0 for no limit (src/http/admission/rate-limits.ts). */
  readonly rateLimits: {
    readonly requests: number;
    readonly failedAuthentications: number;
    readonly trafficBytes: number;
  };
  /** Connections at a time; 0 for no limit. Those of trusted proxies do not count. */
  readonly maxConnectionsPerAddress: number;
  readonly growthLimits: GrowthLimitsConfig;
  /** How long the server serves on while it says that it is not ready. */
  readonly shutdownDelayMs: number;
  readonly bootstrapAdmin: BootstrapAdminConfig | undefined;
  readonly controller: ControllerConfig;
}

/** How much may be written; 0 for no limit (src/services/kernel/growth-budget.ts). */
export interface GrowthLimitsConfig {
  readonly environmentBytesPerDay: number;
  readonly callerBytesPerDay: number;
  readonly snapshotsPerEnvironment: number;
}

export interface BootstrapAdminConfig {
  readonly email: string;
  readonly tokenFile: string;
}

export interface ControllerConfig {
  /** Undefined for the account of the pod. */
  readonly kubeconfigFile: string | undefined;
  /** Empty for all namespaces. */
  readonly watchNamespaces: readonly string[];
  /** Where the controller's Lease is; undefined for the namespace of its account. */
  readonly namespace: string | undefined;
  /** What the database knows the cluster by; undefined for the uid of its namespace kube-system. */
  readonly clusterName: string | undefined;
  readonly resyncIntervalMs: number;
  /** Whether workloads may be restarted when the Secrets they read have changed. */
  readonly rollouts: boolean;
}

/** @throws ConfigError with every fault. */
export function loadMigrateConfig(source: ConfigSource = processSource()): MigrateConfig {
  const reader = new EnvironmentReader(source);
  const { databaseUrl, ...database } = readDatabase(reader, source);
  const databaseWaitMs = reader.optional('DATABASE_WAIT', databaseWait) ?? 0;
  if (databaseUrl === undefined || reader.faults.length > 0) throw new ConfigError(reader.faults);
  return { ...database, databaseUrl, databaseDirectUrl: database.databaseDirectUrl ?? databaseUrl, databaseWaitMs };
}

/** @throws ConfigError with every fault. */
export function loadServerConfig(role: ServerRole, source: ConfigSource = processSource()): ServerConfig {
  const reader = new EnvironmentReader(source);
  const { databaseUrl, ...database } = readDatabase(reader, source);
  const rootKeys = reader.required('ROOT_KEY', readRootKeys);
  const host = reader.optional('HOST', hostName);
  const ports = readPorts(reader, role);
  const edge = readEdge(reader);
  const growthLimits = readGrowthLimits(reader);
  const bootstrapAdmin = readBootstrapAdmin(reader);
  const controller = readController(reader, role, source);
  if (databaseUrl === undefined || rootKeys === undefined || reader.faults.length > 0) {
    throw new ConfigError(reader.faults);
  }
  return {
    role,
    ...database,
    databaseUrl,
    databaseDirectUrl: database.databaseDirectUrl ?? databaseUrl,
    rootKeys,
    host,
    ...ports,
    ...edge,
    growthLimits,
    bootstrapAdmin,
    controller,
  };
}

function readDatabase(
  reader: EnvironmentReader,
  source: ConfigSource,
): {
  databaseUrl: Plaintext | undefined;
  databaseDirectUrl: Plaintext | undefined;
  databaseCaFile: string | undefined;
  logLevel: LogLevel;
} {
  const address = reader.isSet('DATABASE_CA_FILE') ? encryptedDatabaseAddress : databaseAddress;
  return {
    databaseUrl: reader.required('DATABASE_URL', address),
    databaseDirectUrl: reader.optional('DATABASE_DIRECT_URL', address),
    databaseCaFile: certificateFile(reader, source),
    logLevel: reader.optional('LOG_LEVEL', logLevelNamed) ?? 'info',
  };
}

/** The path of the file of DATABASE_CA_FILE, which holds certificates; undefined without the variable, or if it is faulty. */
function certificateFile(reader: EnvironmentReader, source: ConfigSource): string | undefined {
  const path = reader.readableFile('DATABASE_CA_FILE');
  if (path === undefined) return undefined;
  const blocks = source.readTextFile(path).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length > 0 && blocks.every(isCertificate)) return path;
  reader.fault(
    'DATABASE_CA_FILE',
    "names a file without a valid certificate in PEM; it needs those of the authorities that sign PostgreSQL's",
  );
  return undefined;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

function readPorts(reader: EnvironmentReader, role: ServerRole): Pick<ServerConfig, 'port' | 'metricsPort'> {
  const port = reader.optional('PORT', portNumber) ?? 8700;
  const metricsPort = reader.optional('METRICS_PORT', portNumber) ?? 8701;
  if (role !== 'controller' && port === metricsPort && port !== 0) {
    reader.fault('METRICS_PORT', 'must differ from the port of the API');
  }
  return { port, metricsPort };
}

const mebibyte = 1024 * 1024;

function readEdge(
  reader: EnvironmentReader,
): Pick<ServerConfig, 'trustedProxies' | 'rateLimits' | 'maxConnectionsPerAddress' | 'shutdownDelayMs'> {
  return {
    trustedProxies: reader.optional('TRUSTED_PROXIES', networks) ?? [],
    rateLimits: {
      requests: reader.optional('RATE_LIMIT_REQUESTS', countOrUnlimited) ?? 6000,
      failedAuthentications: reader.optional('RATE_LIMIT_FAILED_AUTHENTICATIONS', countOrUnlimited) ?? 60,
      trafficBytes: (reader.optional('RATE_LIMIT_TRAFFIC_MIB', countOrUnlimited) ?? 1024) * mebibyte,
    },
    maxConnectionsPerAddress: reader.optional('MAX_CONNECTIONS_PER_ADDRESS', countOrUnlimited) ?? 1024,
    shutdownDelayMs: reader.optional('SHUTDOWN_DELAY', shutdownDelay) ?? 0,
  };
}

function readGrowthLimits(reader: EnvironmentReader): GrowthLimitsConfig {
  return {
    environmentBytesPerDay: (reader.optional('WRITE_LIMIT_ENVIRONMENT', countOrUnlimited) ?? 512) * mebibyte,
    callerBytesPerDay: (reader.optional('WRITE_LIMIT_CALLER', countOrUnlimited) ?? 1024) * mebibyte,
    snapshotsPerEnvironment: reader.optional('SNAPSHOT_LIMIT', countOrUnlimited) ?? 2000,
  };
}

function readBootstrapAdmin(reader: EnvironmentReader): BootstrapAdminConfig | undefined {
  const email = reader.optional('BOOTSTRAP_ADMIN_EMAIL', emailAddress);
  const tokenFile = reader.optional('BOOTSTRAP_TOKEN_FILE', (path) => path);
  if (reader.isSet('BOOTSTRAP_ADMIN_EMAIL') !== reader.isSet('BOOTSTRAP_TOKEN_FILE')) {
    reader.fault(
      'BOOTSTRAP_ADMIN_EMAIL',
      'needs KEYFRAME_BOOTSTRAP_TOKEN_FILE, and the other way round: set both or neither',
    );
  }
  return email === undefined || tokenFile === undefined ? undefined : { email, tokenFile };
}

function readController(reader: EnvironmentReader, role: ServerRole, source: ConfigSource): ControllerConfig {
  const advice = 'is required outside a cluster: the path of a kubeconfig; or run the role api alone';
  return {
    kubeconfigFile: role === 'api' ? undefined : kubeconfigFile(reader, source, advice),
    watchNamespaces: reader.optional('WATCH_NAMESPACES', namespaceNames) ?? [],
    namespace: reader.optional('NAMESPACE', namespaceName),
    clusterName: reader.optional('CLUSTER_NAME', clusterName),
    resyncIntervalMs: reader.optional('RESYNC_INTERVAL', resyncInterval) ?? 10 * 60_000,
    rollouts: reader.optional('ROLLOUTS', trueOrFalse) ?? false,
  };
}

/** The kubeconfig's path; undefined for the account of the pod. Faulty, with the advice, where there is neither. */
export function kubeconfigFile(
  reader: EnvironmentReader,
  { env }: ConfigSource,
  advice = 'is required outside a cluster: the path of a kubeconfig',
): string | undefined {
  const inCluster = env['KUBERNETES_SERVICE_HOST'] !== undefined;
  if (!inCluster && !reader.isSet('KUBECONFIG_FILE')) reader.fault('KUBECONFIG_FILE', advice);
  return reader.readableFile('KUBECONFIG_FILE');
}

// Each of these answers the value, or a Fault that says what is allowed and never what was given.

function databaseAddress(text: string): Plaintext | Fault {
  const protocol = URL.canParse(text) ? new URL(text).protocol : '';
  if (protocol === 'postgresql:' || protocol === 'postgres:') return new Plaintext(text);
  return new Fault(
    'must be a URL such as postgresql://user:password@host:5432/database, with special characters of the password percent-encoded',
  );
}

const withoutTls: ReadonlySet<string> = new Set(['disable', 'no-verify', 'false', '0']);

/** Of a database whose certificate is verified: an address that forbids that contradicts it. */
function encryptedDatabaseAddress(text: string): Plaintext | Fault {
  const address = databaseAddress(text);
  if (address instanceof Fault) return address;
  const { searchParams } = new URL(text);
  const modes = ['sslmode', 'ssl'].map((name) => searchParams.get(name) ?? '');
  if (!modes.some((mode) => withoutTls.has(mode))) return address;
  return new Fault('forbids a verified connection, which KEYFRAME_DATABASE_CA_FILE asks for: leave sslmode out of it');
}

function readRootKeys(text: string): RootKeys | Fault {
  try {
    return RootKeys.parse(text);
  } catch (error) {
    if (error instanceof RootKeyFormatError) return new Fault(error.message);
    throw error;
  }
}

function trueOrFalse(text: string): boolean | Fault {
  return text === 'true' || text === 'false' ? text === 'true' : new Fault('must be true or false');
}

export function logLevelNamed(text: string): LogLevel | Fault {
  return logLevels.find((level) => level === text) ?? new Fault(`must be one of ${logLevels.join(', ')}`);
}

function hostName(text: string): string | Fault {
  const isName = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text);
  return isName || isIP(text) !== 0 ? text : new Fault('must be a host name or an IP address without brackets or port');
}

function portNumber(text: string): number | Fault {
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return port <= 65_535 ? port : new Fault('must be a port from 0 to 65535');
}

function networks(text: string): string[] | Fault {
  const ranges = text.split(',').map((range) => range.trim());
  return ranges.every(isNetwork)
    ? [...new Set(ranges)]
    : new Fault('must be IP addresses or CIDR ranges such as 10.0.0.0/8, with commas between');
}

function isNetwork(text: string): boolean {
  const [address = '', prefixLength, ...rest] = text.split('/');
  // A mapped address is one of IPv4, and is to be written so.
  if (rest.length > 0 || isIP(address) === 0 || /%|^::ffff:/i.test(address)) return false;
  if (prefixLength === undefined) return true;
  // Not 0: whoever connects could then write any address into the audit.
  return /^[1-9][0-9]{0,2}$/.test(prefixLength) && Number(prefixLength) <= (isIP(address) === 4 ? 32 : 128);
}

function countOrUnlimited(text: string): number | Fault {
  const count = /^[0-9]{1,7}$/.test(text) ? Number(text) : Number.NaN;
  return count <= 1_000_000 ? count : new Fault('must be a whole number from 0 to 1000000, 0 for no limit');
}

export function shutdownDelay(text: string): number | Fault {
  const delayMs = parseDurationMs(text);
  return delayMs !== undefined && delayMs <= 60_000 ? delayMs : new Fault('must be a duration from 0s to 60s');
}

function databaseWait(text: string): number | Fault {
  const waitMs = parseDurationMs(text);
  return waitMs !== undefined && waitMs <= 600_000 ? waitMs : new Fault('must be a duration from 0s to 10m');
}

/** An e-mail address. */
export function emailAddress(text: string): string | Fault {
  return /^[^\s@]{1,64}@[^\s@]{1,189}$/.test(text) ? text : new Fault('must be an e-mail address');
}

export function namespaceNames(text: string): string[] | Fault {
  const namespaces = text.split(',').map((namespace) => namespace.trim());
  return namespaces.every(isNamespaceName)
    ? [...new Set(namespaces)]
    : new Fault('must be names of namespaces with commas between');
}

export function namespaceName(text: string): string | Fault {
  return isNamespaceName(text) ? text : new Fault('must be the name of a namespace');
}

function clusterName(text: string): string | Fault {
  return /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$/.test(text)
    ? text
    : new Fault('must be 1 to 128 letters, digits, dots, hyphens and underscores, ending with a letter or digit');
}

function isNamespaceName(text: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text);
}

function resyncInterval(text: string): number | Fault {
  const intervalMs = parseDurationMs(text);
  const valid = intervalMs !== undefined && intervalMs >= 1000 && intervalMs <= 24 * 3_600_000;
  return valid ? intervalMs : new Fault('must be a duration from 1s to 24h, such as 10m or 1h30m');
}
