import { describe, expect, test } from '@jest/globals';
import { plainAddress, sourceNetwork } from '../../../src/http/admission/source-address.ts';

describe('an address in its usual form', () => {
  test.each<[string, string | undefined]>([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:4711', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:0201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['::1', '::1'],
    ['', undefined],
    ['unknown', undefined],
    ['192.0.2.256', undefined],
    ['192.0.2.1, 192.0.2.2', undefined],
    ['_hidden', undefined],
    ['[192.0.2.1', undefined],
    ['192.0.2.1\n', undefined],
  ])('%s', (text, address) => expect(plainAddress(text)).toBe(address));
});

describe('what counts as one source', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['', ''],
  ])('%s', (address, network) => expect(sourceNetwork(address)).toBe(network));
});
