import { describe, expect, test } from '@jest/globals';
import { isPublicAddress } from '../../../src/lib/public-address.ts';

describe('the public Internet has', () => {
  test.each([
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '223.255.255.255',
    '2606:4700::1111',
    '2a00:1450:4001:80b::200e',
    // 1.1.1.1 and 140.82.112.3 by NAT64.
    '64:ff9b::101:101',
    '64:ff9b::8c52:7003',
    '64:ff9b::140.82.112.3',
  ])('%s', (address) => expect(isPublicAddress(address)).toBe(true));
});

describe('the public Internet has not', () => {
  test.each([
    ['an address of no host', '0.0.0.0'],
    ['a private address', '10.0.0.1'],
    ['a private address of 172', '172.16.0.1'],
    ['the last private address of 172', '172.31.255.255'],
    ['a private address of 192', '192.168.1.1'],
    ['the address of cloud metadata', '169.254.169.254'],
    ['a loopback address', '127.0.0.1'],
    ['another loopback address', '127.255.0.9'],
    ["a carrier's NAT", '100.64.0.1'],
    ['the last one of a carrier', '100.127.255.255'],
    ['documentation', '192.0.2.1'],
    ['benchmarks', '198.18.0.1'],
    ['multicast', '224.0.0.1'],
    ['a reserved address', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['IPv6 of no host', '::'],
    ['IPv6 loopback', '::1'],
    ['IPv6 link-local', 'fe80::1'],
    ['IPv6 link-local with a zone', 'fe80::1%eth0'],
    ['a public address with a zone', '2606:4700::1111%eth0'],
    ['IPv6 unique-local', 'fd00::1'],
    ['the other unique-local half', 'fc00::1'],
    ['IPv6 site-local', 'fec0::1'],
    ['IPv6 multicast', 'ff02::1'],
    ['IPv6 documentation', '2001:db8::1'],
    ['newer IPv6 documentation', '3fff::1'],
    ['Teredo', '2001::1'],
    ['6to4 of a private address', '2002:a00:1::'],
    ['IPv4-mapped loopback', '::ffff:127.0.0.1'],
    ['IPv4-mapped public', '::ffff:1.1.1.1'],
    ['IPv4-compatible', '::127.0.0.1'],
    ['NAT64 of loopback', '64:ff9b::7f00:1'],
    ['NAT64 of metadata', '64:ff9b::a9fe:a9fe'],
    ['NAT64 of metadata, with dots', '64:ff9b::169.254.169.254'],
    ['NAT64 of 0.0.0.1', '64:ff9b::1'],
    ['local NAT64', '64:ff9b:1::1'],
    ['no address', ''],
    ['a name', 'localhost'],
    ['a number', '2130706433'],
  ])('%s (%s)', (_name, address) => expect(isPublicAddress(address)).toBe(false));
});
