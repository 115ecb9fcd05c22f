import { emailAddress, kubeconfigFile, logLevelNamed, namespaceName, namespaceNames, shutdownDelay } from './config.ts';
import { Plaintext } from './domain/plaintext.ts';
import { ConfigError, type ConfigSource, EnvironmentReader, Fault, processSource } from './environment-reader.ts';
import type { LogLevel } from './observability/logger.ts';

/** The configuration of the roles that prepare, try and end an installation in a cluster; checked as that of the server. */

interface ClusterTaskConfig {
  readonly logLevel: LogLevel;
  /** Undefined for the account of the pod. */
  readonly kubeconfigFile: string | undefined;
  /** Undefined for the namespace of the account. */
  readonly namespace: string | undefined;
}

/** What `init` makes: only Secrets that are named. */
export interface InitConfig extends ClusterTaskConfig {
  readonly rootKey: { readonly secret: string; readonly key: string } | undefined;
  readonly postgres: { readonly secret: string; readonly host: string } | undefined;
  readonly admin: { readonly secret: string; readonly email: string } | undefined;
}

/** What `pre-delete` needs: the place of the controllers' Lease is `namespace`. */
export interface PreDeleteConfig extends ClusterTaskConfig {
  /** Empty for all namespaces. */
  readonly watchNamespaces: readonly string[];
  /** Of the server's pods. */
  readonly shutdownDelayMs: number;
}

/** What `smoke-test` needs: its objects are made in `namespace`. */
export interface SmokeTestConfig extends ClusterTaskConfig {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: Plaintext;
}

/** @throws ConfigError with every fault. */
export function loadInitConfig(source: ConfigSource = processSource()): InitConfig {
  const reader = new EnvironmentReader(source);
  const common = readCommon(reader, source);
  const rootKey = reader.optional('INIT_ROOT_KEY_SECRET', secretKey);
  const postgres = {
    secret: reader.optional('INIT_POSTGRES_SECRET', objectName),
    host: reader.optional('INIT_POSTGRES_HOST', objectName),
  };
  const admin = {
    secret: reader.optional('INIT_ADMIN_SECRET', objectName),
    email: reader.optional('BOOTSTRAP_ADMIN_EMAIL', emailAddress),
  };
  checkInit(reader);
  if (reader.faults.length > 0) throw new ConfigError(reader.faults);
  return {
    ...common,
    rootKey,
    postgres: isWhole(postgres) ? postgres : undefined,
    admin: isWhole(admin) ? admin : undefined,
  };
}

/** @throws ConfigError with every fault. */
export function loadPreDeleteConfig(source: ConfigSource = processSource()): PreDeleteConfig {
  const reader = new EnvironmentReader(source);
  const common = readCommon(reader, source);
  const watchNamespaces = reader.optional('WATCH_NAMESPACES', namespaceNames) ?? [];
  const shutdownDelayMs = reader.optional('SHUTDOWN_DELAY', shutdownDelay) ?? 0;
  if (reader.faults.length > 0) throw new ConfigError(reader.faults);
  return { ...common, watchNamespaces, shutdownDelayMs };
}

/** @throws ConfigError with every fault. */
export function loadSmokeTestConfig(source: ConfigSource = processSource()): SmokeTestConfig {
  const reader = new EnvironmentReader(source);
  const common = readCommon(reader, source);
  const url = reader.required('SMOKE_TEST_URL', httpAddress);
  const token = reader.required('SMOKE_TEST_TOKEN', (text) => new Plaintext(text));
  if (url === undefined || token === undefined || reader.faults.length > 0) throw new ConfigError(reader.faults);
  return { ...common, url, token };
}

function readCommon(reader: EnvironmentReader, source: ConfigSource): ClusterTaskConfig {
  return {
    logLevel: reader.optional('LOG_LEVEL', logLevelNamed) ?? 'info',
    kubeconfigFile: kubeconfigFile(reader, source),
    namespace: reader.optional('NAMESPACE', namespaceName),
  };
}

function checkInit(reader: EnvironmentReader): void {
  const secrets = ['INIT_ROOT_KEY_SECRET', 'INIT_POSTGRES_SECRET', 'INIT_ADMIN_SECRET'] as const;
  if (!secrets.some((name) => reader.isSet(name))) {
    reader.fault(
      'INIT_ROOT_KEY_SECRET',
      'or another KEYFRAME_INIT_…_SECRET is required: it names what init is to make',
    );
  }
  if (reader.isSet('INIT_POSTGRES_SECRET') !== reader.isSet('INIT_POSTGRES_HOST')) {
    reader.fault(
      'INIT_POSTGRES_SECRET',
      'needs KEYFRAME_INIT_POSTGRES_HOST, and the other way round: set both or neither',
    );
  }
  if (reader.isSet('INIT_ADMIN_SECRET') && !reader.isSet('BOOTSTRAP_ADMIN_EMAIL')) {
    reader.fault('INIT_ADMIN_SECRET', 'needs KEYFRAME_BOOTSTRAP_ADMIN_EMAIL');
  }
}

function isWhole<T extends object>(part: T): part is { readonly [K in keyof T]: NonNullable<T[K]> } & T {
  return Object.values(part).every((value) => value !== undefined);
}

function isObjectName(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(text);
}

function objectName(text: string): string | Fault {
  return isObjectName(text) ? text : new Fault('must be a name of small letters, digits, hyphens and dots');
}

function secretKey(text: string): { secret: string; key: string } | Fault {
  const [secret = '', key = '', ...rest] = text.split('/');
  const isValid = rest.length === 0 && isObjectName(secret) && /^[-._a-zA-Z0-9]{1,253}$/.test(key);
  return isValid
    ? { secret, key }
    : new Fault('must be the name of a Secret and the key in it, such as keyframe-root-key/root-key');
}

function httpAddress(text: string): string | Fault {
  const protocol = URL.canParse(text) ? new URL(text).protocol : '';
  return protocol === 'http:' || protocol === 'https:'
    ? text.replace(/\/+$/, '')
    : new Fault('must be a URL such as http://keyframe.keyframe.svc');
}
