import { SocketAddress, isIP, isIPv4, isIPv6 } from 'node:net';
import type { Request } from 'express';

/**
 * The address of the client. If the peer is a trusted proxy, this is the last address of X-Forwarded-For that is not a
 * trusted proxy (`trust proxy` of Express); else it is the peer. Null for a closed connection.
 */
export function sourceAddress(request: Request): string | null {
  const peer = request.socket.remoteAddress ?? '';
  // A misconfigured proxy may write other text there, which must not get into the audit.
  return plainAddress(request.ip ?? '') ?? plainAddress(peer) ?? null;
}

/** An IP address in its canonical form, without port, brackets or zone. IPv4-mapped addresses become IPv4. */
export function plainAddress(text: string): string | undefined {
  const [, bare = text] = /^\[(.*)\](?::[0-9]+)?$/.exec(text) ?? /^([0-9.]+):[0-9]+$/.exec(text) ?? [];
  const [address = ''] = bare.split('%');
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return undefined;
  const usual = new SocketAddress({ address, family: 'ipv6' }).address;
  return /^::ffff:([0-9.]+)$/.exec(usual)?.[1] ?? usual;
}

/** What limits count as one source: an IPv4 address, or an IPv6 /64 network, because one client can have all of it. */
export function sourceNetwork(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const [first, last] = [groups(head), groups(tail)];
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`;
}
