import { checkKubeconfig } from './cluster-config.ts';
import { holdsCertificates } from './certificates.ts';
import { checkRolloutNamespaces, controllerConfig, loadServerConfig, type ServerConfig } from './server-config.ts';
import { type ConfigSource, processSource } from './source.ts';
import { VariableReader } from './variable-reader.ts';
import { prefix, variableOf } from './variables.ts';

/** A controller that reaches Keyframe through a server in another process, and opens no database. */
export interface AgentConfig extends Pick<
  ServerConfig,
  'logLevel' | 'host' | 'metricsPort' | 'trustedProxies' | 'maxConnectionsPerAddress' | 'shutdownDelayMs' | 'controller'
> {
  readonly role: 'controller';
  readonly server: {
    /** Its origin. */
    readonly url: string;
    /** The file with the authorities that sign its certificate; undefined for those that Node.js trusts. */
    readonly caFile: string | undefined;
    readonly tokenFile: string;
  };
}

/** Both configurations of the role controller. Throws ConfigError with every fault. */
export function loadControllerConfig(source: ConfigSource = processSource()): ServerConfig | AgentConfig {
  return source.env[`${prefix}SERVER_URL`] === undefined
    ? loadServerConfig('controller', source)
    : loadAgentConfig(source);
}

/** What only a process with the database may have. */
const refused = ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_CA_FILE', 'ROOT_KEY'] as const;

function loadAgentConfig(source: ConfigSource): AgentConfig {
  const reader = new VariableReader('controller', source);
  refuseDatabase(reader, source);
  checkServer(reader, source);
  checkRolloutNamespaces(reader);
  checkKubeconfig(reader, source);
  const values = reader.complete();
  return {
    role: 'controller',
    logLevel: values.LOG_LEVEL,
    host: values.HOST,
    metricsPort: values.METRICS_PORT,
    trustedProxies: values.TRUSTED_PROXIES ?? [],
    maxConnectionsPerAddress: values.MAX_CONNECTIONS_PER_ADDRESS,
    shutdownDelayMs: values.SHUTDOWN_DELAY,
    controller: controllerConfig(values),
    // Without a fault, both are there.
    server: {
      url: values.SERVER_URL ?? '',
      caFile: values.SERVER_CA_FILE,
      tokenFile: values.CLUSTER_TOKEN_FILE ?? '',
    },
  };
}

type Reader = VariableReader<'controller'>;

function refuseDatabase(reader: Reader, { env }: ConfigSource): void {
  for (const name of refused) {
    if (!reader.isSet(name)) continue;
    const given = env[prefix + name] === undefined && variableOf(name).secret === true ? `${name}_FILE` : name;
    reader.fault(
      given,
      'must not be set with KEYFRAME_SERVER_URL: this process needs neither the database nor a root key',
    );
  }
}

function checkServer(reader: Reader, source: ConfigSource): void {
  const { SERVER_CA_FILE: caFile } = reader.values;
  if (!reader.isSet('CLUSTER_TOKEN_FILE')) {
    reader.fault(
      'CLUSTER_TOKEN_FILE',
      'is required with KEYFRAME_SERVER_URL: the path of a file with the token of the cluster',
    );
  }
  if (caFile !== undefined && !holdsCertificates(source.readTextFile(caFile))) {
    reader.fault(
      'SERVER_CA_FILE',
      "names a file without a valid certificate in PEM; it needs those of the authorities that sign the server's",
    );
  }
}
