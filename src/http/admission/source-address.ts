import { SocketAddress, isIP, isIPv4, isIPv6 } from 'node:net';
import type { Request } from 'express';

/**
 * Where a request comes from: the last address of X-Forwarded-For that is no trusted proxy, where the peer is one
 * (Express's `trust proxy`), else the peer. Null for a connection that is gone.
 */
export function sourceAddress(request: Request): string | null {
  const peer = request.socket.remoteAddress ?? '';
  // What a proxy wrote there is an address only if it is configured so; anything else must not get into the audit.
  return plainAddress(request.ip ?? '') ?? plainAddress(peer) ?? null;
}

/** An IP address in its one usual form, without a port, brackets or zone; one of IPv4 in its own form. */
export function plainAddress(text: string): string | undefined {
  const [, bare = text] = /^\[(.*)\](?::[0-9]+)?$/.exec(text) ?? /^([0-9.]+):[0-9]+$/.exec(text) ?? [];
  const [address = ''] = bare.split('%');
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return undefined;
  const usual = new SocketAddress({ address, family: 'ipv6' }).address;
  return /^::ffff:([0-9.]+)$/.exec(usual)?.[1] ?? usual;
}

/** What limits count as one source: an address of IPv4, or a network of IPv6, of which anybody has 2^64 addresses. */
export function sourceNetwork(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const [first, last] = [groups(head), groups(tail)];
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`;
}
