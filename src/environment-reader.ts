import { readFileSync } from 'node:fs';
import { errorFields, logLevels } from './observability/logger.ts';

/** Reads `KEYFRAME_*` variables, and collects what is wrong with them; see config.ts. */

/** Where configuration comes from: a test gives its own. */
export interface ConfigSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  readTextFile(path: string): string;
}

/** The only place that reads this process's environment. */
export function processSource(): ConfigSource {
  return { env: process.env, readTextFile: (path) => readFileSync(path, 'utf8') };
}

/** Thrown with every fault of a configuration, one sentence each. The program exits with 78. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`the configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}: ${faults.join('; ')}`);
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** What a parser answers for a text it refuses: a sentence that does not repeat the text. */
export class Fault {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** Each variable without its prefix. */
export const variables = {
  DATABASE_URL: 'PostgreSQL, as postgresql://user:password@host:5432/database. Required.',
  DATABASE_DIRECT_URL: 'The same database without its pooler, where there is one. Default: KEYFRAME_DATABASE_URL.',
  DATABASE_CA_FILE:
    'PEM file of the authorities that sign the certificate of PostgreSQL; with it, TLS is required and verified. Default: those of Node.js.',
  DATABASE_WAIT: 'How long migrate waits for a database that does not answer yet. Default: 0s.',
  ROOT_KEY:
    'Lines id:base64 of 32 bytes; the first encrypts, all decrypt. Required, but not for migrate and recovered.',
  HOST: 'Address to listen on. Default: all interfaces.',
  PORT: 'Port of the API; 0 takes a free one. Default: 8700.',
  METRICS_PORT: 'Port of /metrics, /healthz and /readyz; 0 takes a free one. Default: 8701.',
  TRUSTED_PROXIES: 'Addresses and CIDR ranges of proxies whose X-Forwarded-For is believed. Default: none.',
  RATE_LIMIT_REQUESTS: 'Requests a minute with one token; 0 for no limit. Default: 6000.',
  RATE_LIMIT_FAILED_AUTHENTICATIONS: 'Guessed tokens a minute from one address; 0 for no limit. Default: 60.',
  RATE_LIMIT_TRAFFIC_MIB:
    'MiB of bodies and answers a minute of one person or service token; 0 for no limit. Default: 1024.',
  MAX_CONNECTIONS_PER_ADDRESS: 'Connections at a time from one address; 0 for no limit. Default: 1024.',
  WRITE_LIMIT_ENVIRONMENT: 'MiB of versions and snapshots a day in one environment; 0 for no limit. Default: 512.',
  WRITE_LIMIT_CALLER: 'MiB a day by one caller, on each replica; 0 for no limit. Default: 1024.',
  SNAPSHOT_LIMIT: 'Snapshots that one environment has at most; 0 for no limit. Default: 2000.',
  SHUTDOWN_DELAY: 'How long to serve on after SIGTERM, no longer ready. Default: 0s.',
  LOG_LEVEL: `One of ${logLevels.join(', ')}. Default: info.`,
  KUBECONFIG_FILE: "The controller's kubeconfig. Default: the account of the pod.",
  WATCH_NAMESPACES: 'Namespaces the controller serves, with commas between. Default: all.',
  NAMESPACE: "Where the controllers of an installation agree which of them works. Default: the account's.",
  CLUSTER_NAME: 'What the database knows the cluster by. Default: the uid of kube-system.',
  RESYNC_INTERVAL: 'How often the controller compares everything. Default: 10m.',
  ROLLOUTS: 'true: workloads may be restarted when their Secrets change (spec.rollout). Default: false.',
  BOOTSTRAP_ADMIN_EMAIL: 'In an empty database, the first administrator; needs KEYFRAME_BOOTSTRAP_TOKEN_FILE.',
  BOOTSTRAP_TOKEN_FILE: "The file of that administrator's token; made if it is not there.",
  INIT_ROOT_KEY_SECRET: 'The Secret that init makes for the root key, as name/key.',
  INIT_POSTGRES_SECRET:
    'The Secret that init makes for the password of a new PostgreSQL; needs KEYFRAME_INIT_POSTGRES_HOST.',
  INIT_POSTGRES_HOST: 'The host of that PostgreSQL, for the address in the Secret.',
  INIT_ADMIN_SECRET:
    "The Secret that init makes for the first administrator's token; needs KEYFRAME_BOOTSTRAP_ADMIN_EMAIL.",
  SMOKE_TEST_URL: 'The address of the API that smoke-test speaks to.',
  SMOKE_TEST_TOKEN: 'The token of an instance admin, for smoke-test.',
} as const;

export type VariableName = keyof typeof variables;

export const prefix = 'KEYFRAME_';
/** Variables that hold a secret: each may be given as a file instead, by NAME_FILE. */
export const secretVariables: readonly VariableName[] = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'ROOT_KEY',
  'SMOKE_TEST_TOKEN',
];

const knownNames: readonly string[] = [...Object.keys(variables), ...secretVariables.map((name) => `${name}_FILE`)];
// Read by our other programs, which may share an environment with the server.
const foreignNames = /^(?:URL|TOKEN|CACHE_DIR|TEST_.+)$/;
// Kubernetes gives every pod such variables for each Service of its namespace, and ours is likely called keyframe.
const serviceLinkNames = /^(?:.+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_.+)?|PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_.+)?)$/;
const serviceLinkValue = /^(?:tcp|udp|sctp):\/\//;

export class EnvironmentReader {
  readonly faults: string[] = [];
  readonly #source: ConfigSource;

  /** Begins by looking for names that nothing reads: a misspelt variable must not pass for an absent one. */
  constructor(source: ConfigSource) {
    this.#source = source;
    for (const [variable, value] of Object.entries(source.env)) {
      if (variable.startsWith(prefix) && value !== undefined) this.#checkName(variable.slice(prefix.length), value);
    }
  }

  /** Whether the variable, or the file of it, is given; rightly or not. */
  isSet(name: VariableName): boolean {
    return this.#variable(name) !== undefined || (takesFile(name) && this.#variable(`${name}_FILE`) !== undefined);
  }

  fault(name: string, message: string): void {
    this.faults.push(`${prefix}${name}: ${message}`);
  }

  optional<T>(name: VariableName, parse: (text: string) => T | Fault): T | undefined {
    const text = takesFile(name) ? this.#secretText(name) : this.#text(name);
    if (text === undefined) return undefined;
    const value = parse(text);
    if (!(value instanceof Fault)) return value;
    this.fault(name, value.message);
    return undefined;
  }

  required<T>(name: VariableName, parse: (text: string) => T | Fault): T | undefined {
    if (!this.isSet(name)) this.fault(name, `is required${takesFile(name) ? ` (or ${prefix}${name}_FILE)` : ''}`);
    return this.optional(name, parse);
  }

  /** The path of a file that has to be there and to hold something. */
  readableFile(name: VariableName): string | undefined {
    const path = this.#text(name);
    return path === undefined || this.#fileText(name, path) === undefined ? undefined : path;
  }

  #variable(name: string): string | undefined {
    return this.#source.env[prefix + name];
  }

  /** A variable's text. An empty one is refused: it is more often a failed substitution than a wish. */
  #text(name: string): string | undefined {
    const text = this.#variable(name);
    if (text === undefined) return undefined;
    if (text.trim() === '') this.fault(name, 'is empty; give it a value or unset it');
    else if (serviceLinkValue.test(text)) {
      this.fault(
        name,
        'holds a service link of Kubernetes; set enableServiceLinks: false in the pod, or give it a value',
      );
    } else return text.trim();
    return undefined;
  }

  /** The text of a secret, from its variable or its file. */
  #secretText(name: VariableName): string | undefined {
    const file = `${name}_FILE`;
    if (this.#variable(file) === undefined) return this.#text(name);
    if (this.#variable(name) !== undefined) {
      this.fault(name, `is set and so is ${prefix}${file}; keep one of them`);
      return undefined;
    }
    const path = this.#text(file);
    return path === undefined ? undefined : this.#fileText(file, path);
  }

  #fileText(name: string, path: string): string | undefined {
    try {
      const text = this.#source.readTextFile(path).trim();
      if (text !== '') return text;
      this.fault(name, 'names an empty file');
    } catch (error) {
      this.fault(name, `names a file that cannot be read (${String(errorFields(error)['code'])})`);
    }
    return undefined;
  }

  #checkName(name: string, value: string): void {
    if (knownNames.includes(name) || foreignNames.test(name)) return;
    if (serviceLinkNames.test(name) || (name.endsWith('_PORT') && serviceLinkValue.test(value))) return;
    const nearest = knownNames.find((known) => editDistance(known, name) <= 3);
    this.fault(name, `is not a variable of this server${nearest === undefined ? '' : `; ${prefix}${nearest} is`}`);
  }
}

function takesFile(name: VariableName): boolean {
  return secretVariables.includes(name);
}

/** How many letters to insert, delete or replace to make one name of the other. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 0; row < left.length; row += 1) {
    const current = [row + 1];
    for (let column = 0; column < right.length; column += 1) {
      const replaced = (previous[column] ?? 0) + (left[row] === right[column] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}
