import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { KeyFetchFault } from '../domain/trusted-issuers.ts';
import { isPublicAddress } from '../lib/public-address.ts';
import { type PublicKey, readKeySet } from './public-keys.ts';

/** Where an issuer publishes its keys. */
export interface KeySetSource {
  readonly url: string;
  /** Certificates in PEM of the authorities that sign its certificate; null for those that Node.js trusts. */
  readonly ca: string | null;
}

export interface FetchRules {
  /** Whether private, loopback, link-local and other reserved addresses are allowed too. */
  readonly allowsPrivateAddresses: boolean;
  /** How long a fetch may take; 5 seconds by default. */
  readonly timeoutMs?: number;
}

/** Keys that were not fetched. Has nothing that the server sent. */
export class KeyFetchError extends Error {
  readonly fault: KeyFetchFault;
  /** Of the network or of TLS, such as ECONNREFUSED; for the log. */
  readonly code: string | undefined;

  constructor(fault: KeyFetchFault, code?: string) {
    super(`the keys of an issuer were not fetched: ${fault}`);
    this.name = 'KeyFetchError';
    this.fault = fault;
    this.code = code;
  }
}

const defaultTimeoutMs = 5_000;
const maxBytes = 256 * 1024;

/**
 * Fetches the keys of an issuer. An admin wrote the address, but the server that it leads to may be hostile: so https
 * only, no redirect, no proxy, and a limit for time and size. The address is judged on the connected socket, before
 * anything is sent, so that a name cannot lead elsewhere in between.
 *
 * @throws KeyFetchError
 */
export async function fetchKeySet(source: KeySetSource, rules: FetchRules): Promise<readonly PublicKey[]> {
  const signal = AbortSignal.timeout(rules.timeoutMs ?? defaultTimeoutMs);
  try {
    return keysOf(await textOf(source, { ...rules, signal }));
  } catch (error) {
    if (error instanceof KeyFetchError) throw error;
    throw signal.aborted ? new KeyFetchError('timeout') : new KeyFetchError('unreachable', codeOf(error));
  }
}

async function textOf(
  { url, ca }: KeySetSource,
  { allowsPrivateAddresses, signal }: FetchRules & { readonly signal: AbortSignal },
): Promise<string> {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'https:') throw new KeyFetchError('https');
  const host = hostname.replaceAll(/[[\]]/g, '');
  const socket = connect({ host, port: port === '' ? 443 : Number(port), signal }).on('error', ignored);
  try {
    await once(socket, 'connect', { signal });
    if (!allowsPrivateAddresses && !isPublicAddress(socket.remoteAddress ?? '')) throw new KeyFetchError('address');
    return await requestedText(url, { socket, host, ca, signal });
  } finally {
    socket.destroy();
  }
}

interface Connection {
  readonly socket: Socket;
  readonly host: string;
  readonly ca: string | null;
  readonly signal: AbortSignal;
}

async function requestedText(url: string, { socket, host, ca, signal }: Connection): Promise<string> {
  const request = get(url, {
    signal,
    headers: { accept: 'application/jwk-set+json, application/json' },
    // Without an agent, which would connect again. The certificate is judged by the host.
    createConnection: () => connectTls({ socket, host, servername: nameOf(host), ...(ca === null ? {} : { ca }) }),
  }).on('error', ignored);
  const [response] = (await once(request, 'response', { signal })) as [IncomingMessage];
  if (response.statusCode !== 200) throw new KeyFetchError('response', String(response.statusCode));
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > maxBytes) throw new KeyFetchError('too_large');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** What waits throws each error. One that comes when nothing waits any more would end the process. */
function ignored(): void {}

function keysOf(text: string): readonly PublicKey[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new KeyFetchError('no_key_set');
  }
  const set = readKeySet(value);
  if (set === undefined || set.keys.length === 0) throw new KeyFetchError('no_key_set');
  return set.keys;
}

/** Server name indication has no addresses (RFC 6066). */
function nameOf(host: string): string {
  return /^[\d.]+$|:/.test(host) ? '' : host;
}

/** Never a message, which may repeat what the server sent. */
function codeOf(error: unknown): string | undefined {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
