import { expect, test } from '@jest/globals';
import { encodeSecretData, fingerprintOf } from '../../../src/controller/secret-sync/secret-data.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { fingerprint } from './builders.ts';

const secrets = [
  { key: 'EMPTY', value: new Plaintext('') },
  { key: 'UNICODE', value: new Plaintext('ä🔑\n') },
];

test('values become base64 of their UTF-8, counted in bytes as Kubernetes counts them', () => {
  expect(encodeSecretData(fingerprint, 'ns/app', [{ source: { name: undefined }, secrets }])).toMatchObject({
    data: { EMPTY: '', UNICODE: Buffer.from('ä🔑\n').toString('base64') },
    count: 2,
    bytes: 7,
  });
});

test('a Secret that holds the same data has the same fingerprint, in whatever order', () => {
  const { data, fingerprint: wanted } = encodeSecretData(fingerprint, 'ns/app', [
    { source: { name: undefined }, secrets },
  ]);
  const turned = Object.fromEntries(Object.entries(data).toReversed());
  expect(fingerprintOf(fingerprint, 'ns/app', turned).equals(wanted)).toBe(true);
});

test.each([
  ['a value more', { EMPTY: '', UNICODE: 'w6Twn5SRCg==', X: '' }],
  ['a value less', { UNICODE: 'w6Twn5SRCg==' }],
  ['another value', { EMPTY: '', UNICODE: 'w6Q=' }],
  ['no data at all', null],
])('a Secret that holds %s has another', (_, data) => {
  const { fingerprint: wanted } = encodeSecretData(fingerprint, 'ns/app', [{ source: { name: undefined }, secrets }]);
  expect(fingerprintOf(fingerprint, 'ns/app', data).equals(wanted)).toBe(false);
});

test('equal data of two Secrets cannot be told to be equal', () => {
  const one = encodeSecretData(fingerprint, 'ns/one', [{ source: { name: undefined }, secrets }]).fingerprint;
  expect(
    one.equals(encodeSecretData(fingerprint, 'ns/two', [{ source: { name: undefined }, secrets }]).fingerprint),
  ).toBe(false);
});
