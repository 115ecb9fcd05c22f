import { BlockList, isIPv4, isIPv6 } from 'node:net';

/** IPv4 that is not of the public Internet (IANA's registry of special addresses, and multicast). */
const reservedIPv4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const;

/** Parts of 2000::/3 that are no destinations, or that lead to an IPv4 address inside. */
const reservedIPv6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

const reserved = new BlockList();
for (const [address, length] of reservedIPv4) reserved.addSubnet(address, length, 'ipv4');
for (const [address, length] of reservedIPv6) reserved.addSubnet(address, length, 'ipv6');
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');
const translated = new BlockList();
translated.addSubnet('64:ff9b::', 96, 'ipv6');

/**
 * Whether an IP address is of the public Internet: not private, loopback, link-local, unique-local, of a carrier's NAT,
 * multicast or otherwise reserved. An IPv6 address of NAT64 is judged as the IPv4 address inside; one that is mapped from
 * IPv4 is none of the public Internet.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !reserved.check(address, 'ipv4');
  if (!isIPv6(address) || address.includes('%')) return false;
  if (translated.check(address, 'ipv6')) return isPublicAddress(lastIPv4(address));
  return globalUnicast.check(address, 'ipv6') && !reserved.check(address, 'ipv6');
}

/** The last 32 bits of an IPv6 address, as IPv4. The parser of URLs writes each address in one way, without dots. */
function lastIPv4(address: string): string {
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split(':').slice(-2);
  const [high = 0, low = 0] = groups.map((group) => Number.parseInt(group === '' ? '0' : group, 16));
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}
