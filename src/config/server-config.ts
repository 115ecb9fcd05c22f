import type { RootKeys } from '../crypto/root-keys.ts';
import { parseToken } from '../crypto/token.ts';
import { certificateFilesOf } from './certificates.ts';
import { checkKubeconfig } from './cluster-config.ts';
import { checkClusterListener, type ClusterListenerConfig, clusterListenerConfig } from './cluster-listener-config.ts';
import { type DatabaseConfig, checkDatabase, databaseConfig } from './database-config.ts';
import { checkOidc, type OidcConfig, oidcConfig } from './oidc-config.ts';
import type { ServerRole } from './role-names.ts';
import { type ConfigSource, processSource } from './source.ts';
import { type CertificateFiles, certificateFault, readCertificate } from '../lib/certificate.ts';
import { type Values, VariableReader } from './variable-reader.ts';

/** The server's configuration. All variables are checked before anything is built. */
export interface ServerConfig extends DatabaseConfig {
  readonly role: ServerRole;
  readonly rootKeys: RootKeys;
  /** The address to listen on; undefined for all interfaces. */
  readonly host: string | undefined;
  /** 0 takes any free port, which the log reports. */
  readonly port: number;
  readonly metricsPort: number;
  /** The files with the certificate of the API and its key; undefined for http. */
  readonly tls: CertificateFiles | undefined;
  /** Undefined for no port for controllers alone. */
  readonly clusterListener: ClusterListenerConfig | undefined;
  /** Addresses and CIDR ranges. */
  readonly trustedProxies: readonly string[];
  /** Per minute; 0 for no limit (src/http/admission/rate-limits.ts). */
  readonly rateLimits: {
    readonly requests: number;
    readonly failedAuthentications: number;
    readonly trafficBytes: number;
    readonly clusterItems: number;
    readonly clusterBytes: number;
  };
  /** Open connections; 0 for no limit. Connections of trusted proxies do not count. */
  readonly maxConnectionsPerAddress: number;
  readonly growthLimits: GrowthLimitsConfig;
  /** Whether keys of trusted issuers may be fetched from private addresses. */
  readonly trustedIssuerPrivateAddresses: boolean;
  /** Whether users may approve the sign-in of a command on another machine. */
  readonly deviceLogin: boolean;
  /** How long the server keeps serving while it reports that it is not ready. */
  readonly shutdownDelayMs: number;
  readonly bootstrapAdmin: BootstrapAdminConfig | undefined;
  /** The file with the home token; undefined if no controller of this installation presents it. */
  readonly homeTokenFile: string | undefined;
  /** The origin at which browsers reach this server; undefined if it is not set, for no passkeys. */
  readonly publicUrl: string | undefined;
  /** Undefined for no sign-in with OpenID Connect. */
  readonly oidc: OidcConfig | undefined;
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
  /** Namespace of the controllers' Lease; undefined for the namespace of the account. */
  readonly namespace: string | undefined;
  /** Name of the cluster in the database; undefined for the uid of its namespace kube-system. */
  readonly clusterName: string | undefined;
  readonly resyncIntervalMs: number;
  /** Whether workloads may be restarted when the Secrets they read have changed. */
  readonly rollouts: boolean;
  /** Beginnings of the labels and annotations that SecretSyncs may set; empty for all. */
  readonly targetMetadataPrefixes: readonly string[];
  /** The namespaces in which they may be; empty for all. */
  readonly rolloutNamespaces: readonly string[];
}

/** @throws ConfigError with every fault. */
export function loadServerConfig(role: ServerRole, source: ConfigSource = processSource()): ServerConfig {
  const reader = new VariableReader<ServerRole>(role, source);
  checkDatabase(reader, source);
  checkPorts(reader, role);
  reader.isPairSet('BOOTSTRAP_ADMIN_EMAIL', 'BOOTSTRAP_TOKEN_FILE');
  checkHomeToken(reader, source);
  checkTls(reader, source);
  checkClusterListener(reader, source);
  checkOidc(reader, source);
  checkRolloutNamespaces(reader);
  checkServerFiles(reader, role);
  if (role !== 'api') checkKubeconfig(reader, source, '; or run the role api alone');
  const values = reader.complete();
  return {
    role,
    ...databaseConfig(values),
    rootKeys: values.ROOT_KEY,
    host: values.HOST,
    port: values.PORT,
    metricsPort: values.METRICS_PORT,
    tls: tlsOf(values),
    clusterListener: clusterListenerConfig(values),
    trustedProxies: values.TRUSTED_PROXIES ?? [],
    rateLimits: {
      requests: values.RATE_LIMIT_REQUESTS,
      failedAuthentications: values.RATE_LIMIT_FAILED_AUTHENTICATIONS,
      trafficBytes: values.RATE_LIMIT_TRAFFIC_MIB,
      clusterItems: values.RATE_LIMIT_CLUSTER_ITEMS,
      clusterBytes: values.RATE_LIMIT_CLUSTER_MIB,
    },
    maxConnectionsPerAddress: values.MAX_CONNECTIONS_PER_ADDRESS,
    trustedIssuerPrivateAddresses: values.TRUSTED_ISSUER_PRIVATE_ADDRESSES,
    deviceLogin: values.DEVICE_LOGIN,
    growthLimits: {
      environmentBytesPerDay: values.WRITE_LIMIT_ENVIRONMENT,
      callerBytesPerDay: values.WRITE_LIMIT_CALLER,
      snapshotsPerEnvironment: values.SNAPSHOT_LIMIT,
    },
    shutdownDelayMs: values.SHUTDOWN_DELAY,
    bootstrapAdmin: bootstrapAdminOf(values),
    homeTokenFile: values.HOME_TOKEN_FILE,
    publicUrl: values.PUBLIC_URL,
    oidc: oidcConfig(values, source),
    controller: controllerConfig(values),
  };
}

function checkServerFiles(reader: VariableReader<ServerRole>, role: ServerRole): void {
  for (const name of role === 'controller' ? (['SERVER_CA_FILE', 'CLUSTER_TOKEN_FILE'] as const) : []) {
    if (reader.isSet(name)) reader.fault(name, 'needs KEYFRAME_SERVER_URL');
  }
}

function checkPorts(reader: VariableReader<ServerRole>, role: ServerRole): void {
  const { PORT: port, METRICS_PORT: metricsPort } = reader.values;
  if (role !== 'controller' && port !== undefined && port === metricsPort && port !== 0) {
    reader.fault('METRICS_PORT', 'must differ from the port of the API');
  }
}

function checkHomeToken(reader: VariableReader<ServerRole>, source: ConfigSource): void {
  const { HOME_TOKEN_FILE: path } = reader.values;
  if (path === undefined || parseToken(source.readTextFile(path).trim())?.kind === 'cluster') return;
  reader.fault('HOME_TOKEN_FILE', 'must name a file with one whole kf_cls_… token');
}

function checkTls(reader: VariableReader<ServerRole>, source: ConfigSource): void {
  if (reader.isPairSet('TLS_CERTIFICATE_FILE', 'TLS_KEY_FILE') === undefined) return;
  const files = tlsOf(reader.values);
  if (files === undefined) return;
  const fault = certificateFault(readCertificate(files, (path) => source.readTextFile(path)));
  if (fault !== undefined) reader.fault('TLS_CERTIFICATE_FILE', fault);
}

function tlsOf(values: Partial<Values<ServerRole>>): CertificateFiles | undefined {
  return certificateFilesOf(values.TLS_CERTIFICATE_FILE, values.TLS_KEY_FILE);
}

type ControllerValues = Pick<
  Values<'controller'>,
  | 'KUBECONFIG_FILE'
  | 'WATCH_NAMESPACES'
  | 'NAMESPACE'
  | 'CLUSTER_NAME'
  | 'RESYNC_INTERVAL'
  | 'ROLLOUTS'
  | 'TARGET_METADATA_PREFIXES'
  | 'ROLLOUT_NAMESPACES'
>;

export function checkRolloutNamespaces(
  reader: Pick<VariableReader<'controller'>, 'fault'> & { readonly values: Partial<ControllerValues> },
): void {
  const { ROLLOUT_NAMESPACES: named = [], WATCH_NAMESPACES: watched = named, ROLLOUTS: allowed } = reader.values;
  if (named.length > 0 && allowed !== true) reader.fault('ROLLOUT_NAMESPACES', 'needs KEYFRAME_ROLLOUTS=true');
  const unwatched = named.filter((name) => !watched.includes(name));
  if (unwatched.length > 0) {
    reader.fault('ROLLOUT_NAMESPACES', `has ${unwatched.join(', ')}, which KEYFRAME_WATCH_NAMESPACES lacks`);
  }
}

function bootstrapAdminOf(values: Values<ServerRole>): BootstrapAdminConfig | undefined {
  const { BOOTSTRAP_ADMIN_EMAIL: email, BOOTSTRAP_TOKEN_FILE: tokenFile } = values;
  return email === undefined || tokenFile === undefined ? undefined : { email, tokenFile };
}

export function controllerConfig(values: ControllerValues): ControllerConfig {
  return {
    kubeconfigFile: values.KUBECONFIG_FILE,
    watchNamespaces: values.WATCH_NAMESPACES ?? [],
    namespace: values.NAMESPACE,
    clusterName: values.CLUSTER_NAME,
    resyncIntervalMs: values.RESYNC_INTERVAL,
    rollouts: values.ROLLOUTS,
    targetMetadataPrefixes: values.TARGET_METADATA_PREFIXES ?? [],
    rolloutNamespaces: values.ROLLOUT_NAMESPACES ?? [],
  };
}
