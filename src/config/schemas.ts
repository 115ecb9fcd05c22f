import { isIP } from 'node:net';
import { z } from 'zod';
import { RootKeyFormatError, RootKeys } from '../crypto/root-keys.ts';
import { clusterNamePattern } from '../domain/names.ts';
import { Plaintext } from '../domain/plaintext.ts';
import { parseDurationMs } from '../lib/duration.ts';
import { logLevels } from '../observability/logger.ts';

/** The schemas of variables, from text to value. Each message says what is allowed, and never repeats the text. */

/** A schema of what `parse` makes of the text; `undefined` is refused with the message. */
function parsed<T>(parse: (text: string) => T | undefined, message: string) {
  return z.string().transform((text, context) => {
    const value = parse(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

function matching(pattern: RegExp, message: string) {
  return z.string().regex(pattern, message);
}

const separatedByCommas = z.string().transform((text) => text.split(',').map((item) => item.trim()));

export const anyText = z.string();

export const secretText = z.string().transform((text) => new Plaintext(text));

export const trueOrFalse = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');

export const logLevel = z.enum(logLevels, `must be one of ${logLevels.join(', ')}`);

const addressForm =
  'must be a URL such as postgresql://user:password@host:5432/database, with special characters of the password percent-encoded';

export const databaseAddress = z
  .string()
  .refine(
    (text) => !namesSeveralHosts(text),
    'names several hosts, and Keyframe connects to one: give the address that follows the primary, such as a Service or a proxy',
  )
  .pipe(z.url({ protocol: /^postgres(?:ql)?$/, error: addressForm }))
  .refine(isDecodable, addressForm)
  .refine(
    (text) => sessionsThatWrite.has(URL.parse(text)?.searchParams.get('target_session_attrs') ?? null),
    'asks for a server that may take no writes (target_session_attrs), and Keyframe uses only the primary: write read-write, or leave it out',
  )
  .transform((text) => new Plaintext(text));

// Of target_session_attrs, which the driver ignores. Each connection is checked as read-write says, also for `any`.
const sessionsThatWrite: ReadonlySet<string | null> = new Set([null, 'any', 'read-write', 'primary']);

/** As libpq allows: with commas between them, in the authority or in the parameter `host`. */
function namesSeveralHosts(text: string): boolean {
  const [, authority = '', query = ''] = /^\w+:\/\/([^/?#]*)[^?#]*(?:\?([^#]*))?/.exec(text) ?? [];
  const hosts = [authority.slice(authority.lastIndexOf('@') + 1), ...new URLSearchParams(query).getAll('host')];
  return hosts.some((host) => host.includes(','));
}

/** Whether each part of a URL is valid percent-encoding, which the parser of URLs does not check. */
function isDecodable(text: string): boolean {
  try {
    const { username, password, pathname } = new URL(text);
    for (const part of [username, password, pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

export const rootKeys = z.string().transform((text, context) => {
  try {
    return RootKeys.parse(text);
  } catch (error) {
    if (!(error instanceof RootKeyFormatError)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
    return z.NEVER;
  }
});

export const hostName = z
  .string()
  .refine(
    (text) => isIP(text) !== 0 || /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text),
    'must be a host name or an IP address without brackets or port',
  );

export const portNumber = parsed((text) => wholeNumber(text, 65_535), 'must be a port from 0 to 65535');

export const networks = separatedByCommas
  .refine(
    (ranges) => ranges.every(isNetwork),
    'must be IP addresses or CIDR ranges such as 10.0.0.0/8, with commas between',
  )
  .transform((ranges) => [...new Set(ranges)]);

export const countOrUnlimited = parsed(
  (text) => wholeNumber(text, 1_000_000),
  'must be a whole number from 0 to 1000000, 0 for no limit',
);

const mebibyte = 1024 * 1024;

/** In MiB; the value is in bytes. */
export const mebibytesOrUnlimited = countOrUnlimited.transform((count) => count * mebibyte);

export const shutdownDelay = parsed((text) => durationMs(text, 0, 60_000), 'must be a duration from 0s to 60s');

export const databaseWait = parsed((text) => durationMs(text, 0, 600_000), 'must be a duration from 0s to 10m');

export const resyncInterval = parsed(
  (text) => durationMs(text, 1000, 24 * 3_600_000),
  'must be a duration from 1s to 24h, such as 10m or 1h30m',
);

export const emailAddress = matching(
  /^(?!group:)[^\s@]{1,64}@[^\s@]{1,189}$/i,
  'must be an e-mail address, and not begin with group:',
);

export const namespaceName = z.string().refine(isNamespaceName, 'must be the name of a namespace');

export const namespaceNames = separatedByCommas
  .refine((names) => names.every(isNamespaceName), 'must be names of namespaces with commas between')
  .transform((names) => [...new Set(names)]);

/** Beginnings of names of labels and annotations. */
export const metadataPrefixes = separatedByCommas
  .refine(
    (prefixes) => prefixes.every((prefix) => /^[A-Za-z0-9][A-Za-z0-9._/-]{0,316}$/.test(prefix)),
    'must be beginnings of label names such as app or example.com/, with commas between',
  )
  .transform((prefixes) => [...new Set(prefixes)]);

export const clusterName = matching(
  clusterNamePattern,
  'must be 1 to 128 letters, digits, dots, hyphens and underscores, ending with a letter or digit',
);

export const objectName = z.string().refine(isObjectName, 'must be a name of small letters, digits, hyphens and dots');

export const dnsNames = separatedByCommas
  .refine((names) => names.every(isObjectName), 'must be DNS names of small letters with commas between')
  .transform((names) => [...new Set(names)]);

export const secretKey = parsed((text) => {
  const [secret = '', key = '', ...rest] = text.split('/');
  const isValid = rest.length === 0 && isObjectName(secret) && /^[-._a-zA-Z0-9]{1,253}$/.test(key);
  return isValid ? { secret, key } : undefined;
}, 'must be the name of a Secret and the key in it, such as keyframe-root-key/root-key');

/** The value has no slash at its end. */
export const httpAddress = z
  .url({ protocol: /^https?$/, error: 'must be a URL such as http://keyframe.keyframe.svc' })
  .transform((text) => text.replace(/\/+$/, ''));

/** The value is the origin alone, without a slash at its end. */
export const publicAddress = parsed((text) => {
  const url = httpsAddress(text);
  return url?.pathname === '/' && url.search === '' ? url.origin : undefined;
}, 'must be https:// and a host without a path, such as https://keyframe.example.com; http:// only for localhost');

/** The value is the text as it is, because an issuer compares its name letter by letter. */
export const issuerAddress = z
  .string()
  .refine(
    (text) => httpsAddress(text)?.search === '' && !text.includes('/.well-known/'),
    'must be the URL of an issuer as it names itself, such as https://id.example.com/realms/main, without query and /.well-known/…; http:// only for localhost',
  );

/** A URL without credentials or fragment, by https or to this machine. */
function httpsAddress(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return undefined;
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocal) ? url : undefined;
}

export const oneLine = z
  .string()
  .refine((text) => text.length <= 200 && !/\p{Cc}/u.test(text), 'must be one line of at most 200 characters');

export const scopes = z
  .string()
  .refine(
    (text) =>
      /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text) && text.split(' ').includes('openid'),
    'must be scopes with spaces between, of which one is openid',
  );

/** Null for `none`. */
export const claimName = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'must be the name of a claim, or none')
  .transform((text) => (text === 'none' ? null : text));

export const groupsMaxAge = parsed(
  (text) => durationMs(text, 60_000, 30 * 24 * 3_600_000),
  'must be a duration from 1m to 720h, such as 24h',
);

function wholeNumber(text: string, max: number): number | undefined {
  const number = /^[0-9]{1,7}$/.test(text) ? Number(text) : Number.NaN;
  return number <= max ? number : undefined;
}

function durationMs(text: string, minMs: number, maxMs: number): number | undefined {
  const duration = parseDurationMs(text);
  return duration !== undefined && duration >= minMs && duration <= maxMs ? duration : undefined;
}

function isNetwork(text: string): boolean {
  const [address = '', prefixLength, ...rest] = text.split('/');
  // A mapped address is an IPv4 address, and must be written as one.
  if (rest.length > 0 || isIP(address) === 0 || /%|^::ffff:/i.test(address)) return false;
  if (prefixLength === undefined) return true;
  // Not 0: every client could then write any address into the audit.
  return /^[1-9][0-9]{0,2}$/.test(prefixLength) && Number(prefixLength) <= (isIP(address) === 4 ? 32 : 128);
}

function isNamespaceName(text: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(text);
}

function isObjectName(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(text);
}
