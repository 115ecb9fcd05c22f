import type { Plaintext } from '../domain/plaintext.ts';
import type { LogLevel } from '../observability/logger.ts';
import { type ConfigSource, processSource } from './source.ts';
import { type Values, VariableReader } from './variable-reader.ts';

/** The configuration of the roles that prepare, test and remove an installation in a cluster. */

interface ClusterConfig {
  readonly logLevel: LogLevel;
  /** Undefined for the account of the pod. */
  readonly kubeconfigFile: string | undefined;
  /** Undefined for the namespace of the account. */
  readonly namespace: string | undefined;
}

/** What `init` creates: only Secrets that are named. */
export interface InitConfig extends ClusterConfig {
  readonly rootKey: { readonly secret: string; readonly key: string } | undefined;
  readonly postgres: { readonly secret: string; readonly host: string } | undefined;
  /** As which the servers connect to that PostgreSQL. */
  readonly postgresRun: { readonly secret: string; readonly host: string } | undefined;
  readonly admin: { readonly secret: string; readonly email: string } | undefined;
  /** For the home token. */
  readonly clusterToken: { readonly secret: string } | undefined;
  /** The CA of the port of controllers, and the names for which it signs. */
  readonly clusterCa: { readonly secret: string; readonly names: readonly string[] } | undefined;
}

/** What `pre-delete` needs: `namespace` is that of the controllers' Lease. */
export interface PreDeleteConfig extends ClusterConfig {
  /** Empty for all namespaces. */
  readonly watchNamespaces: readonly string[];
  /** Of the server's pods. */
  readonly shutdownDelayMs: number;
}

/** What `smoke-test` needs: its objects are created in `namespace`. */
export interface SmokeTestConfig extends ClusterConfig {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: Plaintext;
}

/** @throws ConfigError with every fault. */
export function loadInitConfig(source: ConfigSource = processSource()): InitConfig {
  const reader = new VariableReader('init', source);
  checkKubeconfig(reader, source);
  checkInit(reader);
  const values = reader.complete();
  const postgres = { secret: values.INIT_POSTGRES_SECRET, host: values.INIT_POSTGRES_HOST };
  const postgresRun = { secret: values.INIT_POSTGRES_RUN_SECRET, host: values.INIT_POSTGRES_HOST };
  const admin = { secret: values.INIT_ADMIN_SECRET, email: values.BOOTSTRAP_ADMIN_EMAIL };
  const clusterToken = { secret: values.INIT_CLUSTER_TOKEN_SECRET };
  const clusterCa = { secret: values.INIT_CLUSTER_CA_SECRET, names: values.CLUSTER_TLS_NAMES };
  return {
    ...clusterConfig(values),
    rootKey: values.INIT_ROOT_KEY_SECRET,
    postgres: isWhole(postgres) ? postgres : undefined,
    postgresRun: isWhole(postgresRun) ? postgresRun : undefined,
    admin: isWhole(admin) ? admin : undefined,
    clusterToken: isWhole(clusterToken) ? clusterToken : undefined,
    clusterCa: isWhole(clusterCa) ? clusterCa : undefined,
  };
}

/** @throws ConfigError with every fault. */
export function loadPreDeleteConfig(source: ConfigSource = processSource()): PreDeleteConfig {
  const reader = new VariableReader('pre-delete', source);
  checkKubeconfig(reader, source);
  const values = reader.complete();
  return {
    ...clusterConfig(values),
    watchNamespaces: values.WATCH_NAMESPACES ?? [],
    shutdownDelayMs: values.SHUTDOWN_DELAY,
  };
}

/** @throws ConfigError with every fault. */
export function loadSmokeTestConfig(source: ConfigSource = processSource()): SmokeTestConfig {
  const reader = new VariableReader('smoke-test', source);
  checkKubeconfig(reader, source);
  const values = reader.complete();
  return { ...clusterConfig(values), url: values.SMOKE_TEST_URL, token: values.SMOKE_TEST_TOKEN };
}

/** Adds a fault outside a cluster if no kubeconfig is given. */
export function checkKubeconfig(
  reader: Pick<VariableReader<'all'>, 'isSet' | 'fault'>,
  { env }: ConfigSource,
  otherAdvice = '',
): void {
  if (env['KUBERNETES_SERVICE_HOST'] !== undefined || reader.isSet('KUBECONFIG_FILE')) return;
  reader.fault('KUBECONFIG_FILE', `is required outside a cluster: the path of a kubeconfig${otherAdvice}`);
}

type CommonValues = Pick<Values<'init'>, 'LOG_LEVEL' | 'KUBECONFIG_FILE' | 'NAMESPACE'>;

function clusterConfig(values: CommonValues): ClusterConfig {
  return { logLevel: values.LOG_LEVEL, kubeconfigFile: values.KUBECONFIG_FILE, namespace: values.NAMESPACE };
}

function checkInit(reader: VariableReader<'init'>): void {
  const ofPostgres = ['INIT_POSTGRES_SECRET', 'INIT_POSTGRES_RUN_SECRET'] as const;
  const secrets = [
    'INIT_ROOT_KEY_SECRET',
    ...ofPostgres,
    'INIT_ADMIN_SECRET',
    'INIT_CLUSTER_TOKEN_SECRET',
    'INIT_CLUSTER_CA_SECRET',
  ] as const;
  if (!secrets.some((name) => reader.isSet(name))) {
    reader.fault('INIT_ROOT_KEY_SECRET', 'or another KEYFRAME_INIT_…_SECRET is required: it names what init creates');
  }
  const named = ofPostgres.find((name) => reader.isSet(name));
  if ((named !== undefined) !== reader.isSet('INIT_POSTGRES_HOST')) {
    reader.fault(
      named ?? 'INIT_POSTGRES_SECRET',
      'needs KEYFRAME_INIT_POSTGRES_HOST, and the other way round: set both or neither',
    );
  }
  if (reader.isSet('INIT_ADMIN_SECRET') && !reader.isSet('BOOTSTRAP_ADMIN_EMAIL')) {
    reader.fault('INIT_ADMIN_SECRET', 'needs KEYFRAME_BOOTSTRAP_ADMIN_EMAIL');
  }
  if (reader.isSet('INIT_CLUSTER_CA_SECRET') && !reader.isSet('CLUSTER_TLS_NAMES')) {
    reader.fault('INIT_CLUSTER_CA_SECRET', 'needs KEYFRAME_CLUSTER_TLS_NAMES');
  }
}

function isWhole<T extends object>(part: T): part is { readonly [K in keyof T]: NonNullable<T[K]> } & T {
  return Object.values(part).every((value) => value !== undefined);
}
