import { agentVariables } from './agent-variables.ts';
import { serverRoles } from './role-names.ts';
import { clusterListenerVariables } from './cluster-listener-variables.ts';
import { initVariables } from './init-variables.ts';
import { oidcVariables } from './oidc-variables.ts';
import * as schemas from './schemas.ts';
import type { Variable } from './variable.ts';

/**
 * The environment variables of the server, in one table: the parser, the text of `--help` and the table in
 * docs/configuration.md are made from it.
 */

const databaseRoles = [...serverRoles, 'migrate', 'recovered', 'admin-token'] as const;
const clusterRoles = ['all', 'controller', 'init', 'pre-delete', 'smoke-test'] as const;
const everyRole = [...databaseRoles, 'init', 'pre-delete', 'smoke-test'] as const;

const count = '0 to 1000000; 0 for no limit';
const file = 'a path';
const limitDetails = '[Limits](interface.md#8-limits)';

export const variables = {
  DATABASE_URL: {
    schema: schemas.databaseAddress,
    roles: databaseRoles,
    required: true,
    unless: 'SERVER_URL',
    secret: true,
    format: '`postgresql://user:password@host:5432/database`',
    description: 'Address of PostgreSQL; percent-encode special characters of the password.',
  },
  DATABASE_DIRECT_URL: {
    schema: schemas.databaseAddress,
    roles: databaseRoles,
    unset: '`KEYFRAME_DATABASE_URL`',
    secret: true,
    format: '`postgresql://user:password@host:5432/database`',
    description: 'Address of the same database without its pooler, for LISTEN and locks.',
  },
  DATABASE_RUN_URL: {
    schema: schemas.databaseAddress,
    roles: ['migrate'],
    unset: 'the same role',
    secret: true,
    format: '`postgresql://user:password@host:5432/database`',
    description:
      'Address as which the servers connect; `migrate` gives this role the rights of a server, and creates it if it is missing.',
    details: '[Another role for the servers](#another-role-for-the-servers)',
  },
  DATABASE_RUN_GENERATED: {
    schema: schemas.trueOrFalse,
    roles: ['migrate'],
    default: 'false',
    format: '`true` or `false`',
    description:
      'Whether `init` generated that address; `migrate` then sets its password for the role that it created, if PostgreSQL refuses it.',
    details: '[Another role for the servers](#another-role-for-the-servers)',
  },
  DATABASE_CA_FILE: {
    schema: schemas.anyText,
    roles: databaseRoles,
    unset: 'the authorities that Node.js trusts',
    readableFile: true,
    format: 'the path of a PEM file with certificates',
    description: 'Authorities that sign the certificate of PostgreSQL; TLS is then required and verified.',
    details: '[TLS](install.md#tls-to-postgresql)',
  },
  DATABASE_WAIT: {
    schema: schemas.databaseWait,
    roles: ['migrate'],
    default: '0s',
    format: '`0s` to `10m`',
    description:
      'How long to wait for a database that does not respond or has no free connection, or a role of the servers that cannot connect yet; a refused password of the role that migrates is an error at once.',
  },
  ROOT_KEY: {
    schema: schemas.rootKeys,
    roles: serverRoles,
    required: true,
    unless: 'SERVER_URL',
    secret: true,
    format: 'lines `id:base64` of 32 bytes',
    description: 'Root keys: the first one encrypts, all of them decrypt.',
  },
  ...agentVariables,
  HOST: {
    schema: schemas.hostName,
    roles: serverRoles,
    unset: 'all interfaces',
    format: 'a host name or an IP address',
    description: 'Address to listen on.',
  },
  PORT: {
    schema: schemas.portNumber,
    roles: serverRoles,
    default: '8700',
    format: '0 to 65535; 0 for any free port',
    description: 'Port of the API.',
  },
  METRICS_PORT: {
    schema: schemas.portNumber,
    roles: serverRoles,
    default: '8701',
    format: '0 to 65535; 0 for any free port',
    description: 'Port of `/metrics`, `/healthz` and `/readyz`; keep it internal, because it requires no token.',
  },
  TLS_CERTIFICATE_FILE: {
    schema: schemas.anyText,
    roles: serverRoles,
    readableFile: true,
    format: 'the path of a PEM file',
    description: 'Certificate of the API, with its chain; the API then speaks only https.',
    details: '[TLS](#tls)',
  },
  TLS_KEY_FILE: {
    schema: schemas.anyText,
    roles: serverRoles,
    readableFile: true,
    format: 'the path of a PEM file',
    description: 'Private key of that certificate.',
    details: '[TLS](#tls)',
  },
  ...clusterListenerVariables,
  TRUSTED_PROXIES: {
    schema: schemas.networks,
    roles: serverRoles,
    format: 'IP addresses and CIDR ranges with commas between',
    description: 'Proxies whose `X-Forwarded-For` is trusted.',
    details: '[Behind a proxy](#behind-a-proxy)',
  },
  ...oidcVariables,
  RATE_LIMIT_REQUESTS: {
    schema: schemas.countOrUnlimited,
    roles: serverRoles,
    default: '6000',
    format: count,
    description: 'Max requests per minute with one token, on each replica.',
    details: limitDetails,
  },
  RATE_LIMIT_FAILED_AUTHENTICATIONS: {
    schema: schemas.countOrUnlimited,
    roles: serverRoles,
    default: '60',
    format: count,
    description:
      'Max guessed tokens per minute from one address, and refusals per minute of one revoked or expired token, on each replica.',
    details: limitDetails,
  },
  RATE_LIMIT_TRAFFIC_MIB: {
    schema: schemas.mebibytesOrUnlimited,
    roles: serverRoles,
    default: '1024',
    format: count,
    description: 'Max MiB of bodies and responses per minute of one user or service token, on each replica.',
    details: limitDetails,
  },
  RATE_LIMIT_CLUSTER_ITEMS: {
    schema: schemas.countOrUnlimited,
    roles: serverRoles,
    default: '120000',
    format: count,
    description:
      'Max items per minute that the controllers of one cluster ask for or report from one network, on each replica.',
    details: limitDetails,
  },
  RATE_LIMIT_CLUSTER_MIB: {
    schema: schemas.mebibytesOrUnlimited,
    roles: serverRoles,
    default: '4096',
    format: count,
    description:
      'Max MiB of bodies and responses per minute of the controllers of one cluster from one network, on each replica.',
    details: limitDetails,
  },
  TRUSTED_ISSUER_PRIVATE_ADDRESSES: {
    schema: schemas.trueOrFalse,
    roles: serverRoles,
    default: 'false',
    format: '`true`, `false`',
    description:
      'Whether keys of trusted issuers may be fetched from private, loopback, link-local and other reserved addresses too.',
    details: '[Federated service tokens](security-model.md#federated-service-tokens)',
  },
  DEVICE_LOGIN: {
    schema: schemas.trueOrFalse,
    roles: serverRoles,
    default: 'true',
    format: '`true`, `false`',
    description: 'Whether users may approve the sign-in of a command on another machine (`keyframe login --device`).',
    details: '[Sign-in of the command](people.md#sign-in-of-the-command)',
  },
  MAX_CONNECTIONS_PER_ADDRESS: {
    schema: schemas.countOrUnlimited,
    roles: serverRoles,
    default: '1024',
    format: count,
    description: 'Max open connections from one address, on each replica and port.',
    details: '[Connections](#connections)',
  },
  WRITE_LIMIT_ENVIRONMENT: {
    schema: schemas.mebibytesOrUnlimited,
    roles: serverRoles,
    default: '512',
    format: count,
    description: 'Max MiB of versions and snapshots per day in one environment, over all replicas.',
    details: limitDetails,
  },
  WRITE_LIMIT_CALLER: {
    schema: schemas.mebibytesOrUnlimited,
    roles: serverRoles,
    default: '1024',
    format: count,
    description: 'Max MiB per day by one user, service token or custom resource, on each replica.',
    details: limitDetails,
  },
  SNAPSHOT_LIMIT: {
    schema: schemas.countOrUnlimited,
    roles: serverRoles,
    default: '2000',
    format: count,
    description: 'Max snapshots in one environment.',
    details: limitDetails,
  },
  SHUTDOWN_DELAY: {
    schema: schemas.shutdownDelay,
    roles: [...serverRoles, 'pre-delete'],
    default: '0s',
    format: '`0s` to `60s`',
    description: 'How long the server keeps serving after SIGTERM, while it reports that it is not ready.',
    details: '[Stopping](#stopping)',
  },
  LOG_LEVEL: {
    schema: schemas.logLevel,
    roles: everyRole,
    default: 'info',
    format: '`debug`, `info`, `warn`, `error`, `silent`',
    description: 'The lowest level of log lines that are written.',
  },
  KUBECONFIG_FILE: {
    schema: schemas.anyText,
    roles: clusterRoles,
    unset: 'the account of the pod',
    readableFile: true,
    format: file,
    description: 'The kubeconfig; required outside a cluster.',
  },
  WATCH_NAMESPACES: {
    schema: schemas.namespaceNames,
    roles: [...serverRoles, 'pre-delete'],
    unset: 'all namespaces',
    format: 'names with commas between',
    description: 'Namespaces that the controller serves.',
  },
  NAMESPACE: {
    schema: schemas.namespaceName,
    roles: [...serverRoles, 'init', 'pre-delete', 'smoke-test'],
    unset: "the account's namespace",
    format: 'the name of a namespace',
    description: "Namespace of the controllers' Lease and of the objects that `init` and `smoke-test` create.",
    details: '[Several controllers](#several-controllers)',
  },
  CLUSTER_NAME: {
    schema: schemas.clusterName,
    roles: serverRoles,
    unset: 'the uid of `kube-system`',
    format: 'up to 128 letters, digits, `.`, `-`, `_`',
    description: 'Name of the cluster in the database; immutable.',
    details: '[Which cluster](#which-cluster)',
  },
  RESYNC_INTERVAL: {
    schema: schemas.resyncInterval,
    roles: serverRoles,
    default: '10m',
    format: '`1s` to `24h`',
    description: 'How often the controller reconciles every resource.',
  },
  ROLLOUTS: {
    schema: schemas.trueOrFalse,
    roles: serverRoles,
    default: 'false',
    format: '`true`, `false`',
    description: 'Whether the controller may restart workloads when their Secrets change (`spec.rollout`).',
    details: '[Restarting workloads](#restarting-workloads)',
  },
  TARGET_METADATA_PREFIXES: {
    schema: schemas.metadataPrefixes,
    roles: serverRoles,
    unset: 'all',
    format: 'beginnings of names with commas between',
    description: 'Labels and annotations that SecretSyncs may set on their Secrets.',
    details: '[Labels of Secrets](#labels-of-secrets)',
  },
  ROLLOUT_NAMESPACES: {
    schema: schemas.namespaceNames,
    roles: serverRoles,
    unset: 'all namespaces that are watched',
    format: 'names with commas between',
    description: 'Namespaces in which it may restart workloads; needs `KEYFRAME_ROLLOUTS=true`.',
    details: '[Restarting workloads](#restarting-workloads)',
  },
  BOOTSTRAP_ADMIN_EMAIL: {
    schema: schemas.emailAddress,
    roles: [...serverRoles, 'init'],
    format: 'an e-mail address',
    description: 'The first administrator of an empty database; the server needs `KEYFRAME_BOOTSTRAP_TOKEN_FILE` too.',
    details: '[The first administrator](#the-first-administrator)',
  },
  BOOTSTRAP_TOKEN_FILE: {
    schema: schemas.anyText,
    roles: serverRoles,
    format: file,
    description: "File of that administrator's token; created with mode 0600 if it does not exist.",
    details: '[The first administrator](#the-first-administrator)',
  },
  HOME_TOKEN_FILE: {
    schema: schemas.anyText,
    roles: ['all', 'api'],
    unset: 'no controller of this installation works over HTTPS',
    readableFile: true,
    format: file,
    description:
      'File with the token (`kf_cls_…`) that the controllers of home clusters present; read again when it changes.',
    details: '[The home token](clusters.md#the-home-token)',
  },
  ...initVariables,
  SMOKE_TEST_URL: {
    schema: schemas.httpAddress,
    roles: ['smoke-test'],
    required: true,
    format: '`http://` or `https://` and a host',
    description: 'The address of the API, without `/api/v1`.',
  },
  SMOKE_TEST_TOKEN: {
    schema: schemas.secretText,
    roles: ['smoke-test'],
    required: true,
    secret: true,
    format: 'a token',
    description: 'The token of an instance admin.',
  },
} satisfies Readonly<Record<string, Variable>>;

export type VariableName = keyof typeof variables;

export const variableNames = Object.keys(variables) as readonly VariableName[];

export const prefix = 'KEYFRAME_';

/** Variables that hold a secret: a file may hold each one instead. */
export const secretNames: readonly VariableName[] = variableNames.filter((name) => variableOf(name).secret === true);

export function variableOf(name: VariableName): Variable {
  return variables[name];
}
