import { describe, expect, test } from '@jest/globals';
import {
  type SecretData,
  type SourcePart,
  encodeSecretData,
  fingerprintOf,
  planSecretData,
} from '../../../src/controller/kinds/secret-sync/data/secret-data.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { fingerprint } from './builders.ts';

const secrets = [
  { key: 'EMPTY', value: new Plaintext('') },
  { key: 'UNICODE', value: new Plaintext('ä🔑\n') },
];

function encoded(context: string): SecretData {
  const sizes = secrets.map(({ key, value }) => ({ key, bytes: Buffer.byteLength(value.reveal()) }));
  const plan = planSecretData([{ source: { name: undefined }, secrets: sizes }]);
  const values = new Map(secrets.map(({ key, value }) => [key, value]));
  return encodeSecretData(fingerprint, context, plan, new Map([[undefined, values]]));
}

test('values become base64 of their UTF-8, counted in bytes as Kubernetes counts them', () => {
  expect(encoded('ns/app')).toMatchObject({
    data: { EMPTY: '', UNICODE: Buffer.from('ä🔑\n').toString('base64') },
    count: 2,
    bytes: 7,
  });
});

test('a Secret that holds the same data has the same fingerprint, in whatever order', () => {
  const { data, fingerprint: wanted } = encoded('ns/app');
  const turned = Object.fromEntries(Object.entries(data).toReversed());
  expect(fingerprintOf(fingerprint, 'ns/app', turned).equals(wanted)).toBe(true);
});

test.each([
  ['a value more', { EMPTY: '', UNICODE: 'w6Twn5SRCg==', X: '' }],
  ['a value less', { UNICODE: 'w6Twn5SRCg==' }],
  ['another value', { EMPTY: '', UNICODE: 'w6Q=' }],
  ['no data at all', null],
])('a Secret that holds %s has another', (_, data) => {
  const { fingerprint: wanted } = encoded('ns/app');
  expect(fingerprintOf(fingerprint, 'ns/app', data).equals(wanted)).toBe(false);
});

test('equal data of two Secrets cannot be recognized as equal', () => {
  const one = encoded('ns/one').fingerprint;
  expect(one.equals(encoded('ns/two').fingerprint)).toBe(false);
});

describe('a plan', () => {
  const part = (name: string, sizes: Record<string, number>, keys: object = {}): SourcePart => ({
    source: { name, keys },
    secrets: Object.entries(sizes).map(([key, bytes]) => ({ key, bytes })),
  });

  test('has each key read from the last source that gives it, and no other value', () => {
    const plan = planSecretData([
      part('shared', { A: 100, B: 1_000 }),
      part('own', { B: 7, C: 5, D: 9_999 }, { exclude: ['D'] }),
    ]);
    expect(plan.chosen.map(({ source, key }) => [source, key])).toEqual([
      ['shared', 'A'],
      ['own', 'B'],
      ['own', 'C'],
    ]);
    expect(plan).toMatchObject({ size: { bytes: 112, isExact: true }, valueBytes: 112 });
  });

  test('knows of values in base64 how many bytes they have at least', () => {
    const plan = planSecretData([part('own', { A: 400, B: 10 }, { decodeBase64: ['A'] })]);
    expect(plan).toMatchObject({ size: { bytes: 110, isExact: false }, valueBytes: 410 });
  });

  test('reads hidden values that a template uses, and counts only what the Secret holds', () => {
    const template = { data: { T: '$(A)$(B | default "x")$(D | default "none")' } };
    const part1 = part('own', { A: 10, B: 100, C: 1_000, D: 10_000 }, { hidden: ['A', 'C', 'D'], exclude: ['D'] });
    const plan = planSecretData([part1], { type: 'Opaque', template });
    expect(plan.chosen.map(({ key }) => key)).toEqual(['B']);
    expect(plan.needed.map(({ key }) => key)).toEqual(['B', 'A']);
    expect(plan).toMatchObject({ size: { bytes: 100 + 114, isExact: true }, valueBytes: 110 });
  });

  test('is none where hidden values are more than a Secret holds, although it would hold little of them', () => {
    const mib = 1024 * 1024;
    const template = { data: { T: '$(A | trim)$(B | json "x")' } };
    const keys = { hidden: ['*'] };
    const planned = (sizes: Record<string, number>): unknown =>
      planSecretData([part('own', sizes, keys)], { type: 'Opaque', template });
    expect(planned({ A: mib - 1, B: 1, C: mib })).toMatchObject({ valueBytes: mib, size: { bytes: 0 } });
    expect(() => planned({ A: mib, B: 1 })).toThrow(`spec.template.data uses have ${mib + 1} bytes, more than`);
  });

  test('looks at no further source once the names of the keys exceed a Secret', () => {
    const looked: string[] = [];
    const large = (name: string): SourcePart => ({
      source: { name },
      get secrets() {
        looked.push(name);
        return Array.from({ length: 3_000 }, (_, n) => ({ key: `${name}_${n}_`.padEnd(253, 'x'), bytes: 1 }));
      },
    });
    const parts = ['a', 'b', 'c', 'd'].map(large);
    expect(() => planSecretData(parts)).toThrow(expect.objectContaining({ code: 'target_too_large' }));
    expect(looked).toEqual(['a', 'b']);
    // The same names of several sources are those of one.
    const same = ['a', 'b', 'c', 'd'].map((name) => ({ ...large('a'), source: { name } }));
    expect(planSecretData(same).chosen).toHaveLength(3_000);
    const hidden = parts.map((one) => ({ ...one, source: { ...one.source, keys: { hidden: ['*'] } } }));
    expect(planSecretData(hidden).chosen).toEqual([]);
  });

  test('looks at no further source once there are too many keys, hidden ones included', () => {
    const looked: string[] = [];
    const full = (name: string): SourcePart => ({
      source: { name, keys: { hidden: ['*'] } },
      get secrets() {
        looked.push(name);
        return Array.from({ length: 10_000 }, (_, n) => ({ key: `${name}${n}`, bytes: 1 }));
      },
    });
    expect(planSecretData(['a', 'b'].map(full)).chosen).toEqual([]);
    looked.length = 0;
    const tooMany = expect.objectContaining({
      code: 'target_too_large',
      message: expect.stringContaining('20000 keys'),
    });
    expect(() => planSecretData(['a', 'b', 'c', 'd'].map(full))).toThrow(tooMany);
    expect(looked).toEqual(['a', 'b', 'c']);
  });

  test('counts what is composed', () => {
    const template = { data: { TWICE: '$(A)$(A)' } };
    const plan = planSecretData([part('own', { A: 10 })], { type: 'Opaque', template });
    expect(plan).toMatchObject({ composed: ['TWICE'], size: { bytes: 30, isExact: true }, valueBytes: 10 });
  });
});
