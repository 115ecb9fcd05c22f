import { type Proxy, portOf } from '../../client/proxy.ts';
import { usageError } from '../core/cli-error.ts';
import { isLoopback } from './loopback.ts';

export type ProxyVariable =
  'https_proxy' | 'HTTPS_PROXY' | 'http_proxy' | 'HTTP_PROXY' | 'no_proxy' | 'NO_PROXY' | 'REQUEST_METHOD';

/** A variable that is set. */
interface SetVariable {
  readonly name: string;
  readonly value: string;
}

/** The variables by which programs find their proxy. */
export interface ProxyVariables {
  /** For servers of https. */
  readonly https: SetVariable | undefined;
  /** For servers of http. */
  readonly http: SetVariable | undefined;
  /** NO_PROXY: servers that are connected to directly. */
  readonly exceptions: string | undefined;
}

/** Reads the variables. Of both forms of a name, the one in small letters counts, as it does for curl. */
export function readProxyVariables(value: (name: ProxyVariable) => string | undefined): ProxyVariables {
  const firstOf = (...names: readonly ProxyVariable[]): SetVariable | undefined =>
    names.map((name) => ({ name, value: value(name) ?? '' })).find((variable) => variable.value !== '');
  return {
    https: firstOf('https_proxy', 'HTTPS_PROXY'),
    // Below a web server, its clients choose HTTP_PROXY: a header with the name Proxy becomes that variable.
    http: value('REQUEST_METHOD') === undefined ? firstOf('http_proxy', 'HTTP_PROXY') : firstOf('http_proxy'),
    exceptions: firstOf('no_proxy', 'NO_PROXY')?.value,
  };
}

/**
 * The proxy for a server; undefined if the command connects to it directly. This machine never is behind a proxy: over
 * http its token would be read there.
 *
 * @throws CliError usage if the variable is no address of a proxy. Its value is not repeated: it may hold a password.
 */
export function proxyFor(serverUrl: string, { https, http, exceptions = '' }: ProxyVariables): Proxy | undefined {
  if (https === undefined && http === undefined) return undefined;
  const server = new URL(serverUrl);
  const variable = server.protocol === 'https:' ? https : http;
  if (variable === undefined || isLoopback(server.hostname) || isExcepted(server, exceptions)) return undefined;
  return { variable: variable.name, url: proxyUrl(variable) };
}

function proxyUrl({ name, value }: SetVariable): URL {
  const text = value.includes('://') ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && isDecodable(url)) return url;
  throw usageError(
    `${name} must be the address of an http or https proxy`,
    `For example: ${name}=http://proxy.example.com:3128, or http://USER:PASSWORD@proxy.example.com:3128 with special characters percent-encoded`,
    'To connect without a proxy, unset it, or name the server in NO_PROXY',
  );
}

function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/** Entries of NO_PROXY as curl has them: names with all below them, addresses, ranges, `*`, each with a port or without. */
function isExcepted(server: URL, exceptions: string): boolean {
  const host = plainHost(server.hostname);
  const serverPort = String(portOf(server));
  return exceptions
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      const { name = entry, port: entryPort = serverPort } =
        /^(?<name>\[.*\]|[^:]*):(?<port>\d+)$/.exec(entry)?.groups ?? {};
      return entryPort === serverPort && isNamedBy(plainHost(name), host);
    });
}

/** Without the brackets of IPv6 and the dot at the end of a full name. */
function plainHost(host: string): string {
  return host.replace(/^\[(.*)\]/, '$1').replace(/\.$/, '');
}

function isNamedBy(entry: string, host: string): boolean {
  if (entry === '*') return true;
  const { isIP } = process.getBuiltinModule('node:net');
  if (isIP(host) !== 0) return isInRange(entry, host);
  const name = entry.replace(/^\*?\./, '');
  return name !== '' && `.${host}`.endsWith(`.${name}`);
}

/** Whether an entry is this address, or a range with it. What is neither is ignored: other programs may understand it. */
function isInRange(entry: string, address: string): boolean {
  const { BlockList, isIP } = process.getBuiltinModule('node:net');
  const [start = '', length] = entry.split('/');
  const family = isIP(start);
  if (family !== isIP(address)) return false;
  const maxLength = family === 4 ? 32 : 128;
  const prefix = length === undefined ? maxLength : /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
  if (!(prefix <= maxLength)) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const range = new BlockList();
  range.addSubnet(start, prefix, type);
  return range.check(address, type);
}
